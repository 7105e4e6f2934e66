#include "app/cli/cli.h"
#include "app/window/window.h"

int main(int argc, char** argv) { return tilewalk::run_cli(argc, argv, tilewalk::run_window); }

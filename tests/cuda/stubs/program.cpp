// The program without its window, linked with the stand-in for a GPU.
#include "app/cli/cli.h"
#include "core/base/background.h"

int main(int argc, char** argv) {
    const auto no_window = [](auto&&...) { return 3; };
    tilewalk::leave(tilewalk::run_cli(argc, argv, no_window));
}

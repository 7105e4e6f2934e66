#include "core/base/background.h"

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

int main(int argc, char** argv) { tilewalk::leave(doctest::Context(argc, argv).run()); }

// The command line of the program; docs/command-line.md describes it.
#pragma once

#include "app/window/window.h"

#include <iostream>

namespace tilewalk {

/// Runs the program. Results go to `out`; a failure is one sentence on `err`. Returns the exit code: 0 done,
/// 2 bad arguments or input, 3 no display, 4 an output could not be written. Does not throw.
int run_cli(int argc, char** argv, const WindowRunner& open_window, std::ostream& out = std::cout,
            std::ostream& err = std::cerr);

}  // namespace tilewalk

// tilewalk without a command: the window, and what it remembers.
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/cli.h"
#include "app/cli/outcome.h"

namespace tilewalk {

/// Opens the window with the problem that the words name, else with that of the last time. Settings are kept
/// when the window closes; with --frames or --screenshot they are neither read nor kept, so that pictures do
/// not depend on them. Where `open_window` fails it has said why itself, and the sentence is empty.
Outcome run_window_command(const Arguments& arguments, WindowOptions options,
                           const WindowRunner& open_window);

}  // namespace tilewalk

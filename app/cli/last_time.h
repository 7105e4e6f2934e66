// What the program was left with, for the next time: settings, problem and place.
#pragma once

#include "app/cli/arguments.h"
#include "app/io/settings.h"
#include "app/ui/state/app_state.h"

namespace tilewalk {

/// What the words ask for; with none of them, and if it `remembers`, what was there the last time, or the
/// start page.
Result<ui::AppState> begin_window(const Arguments& arguments, const LoadedSettings& loaded, bool remembers);

/// Writes settings, with the problem and the place. `open`: the program has not ended yet. What could not be
/// read may have been written by hand: it stays beside the new ones, once (`moved`).
Result<void> keep_all(const std::string& path, const LoadedSettings& loaded, ui::AppState& state, bool open,
                      bool& moved);

}  // namespace tilewalk

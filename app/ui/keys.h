// The keyboard: one table of shortcuts, which the help overlay shows as well.
#pragma once

#include "app/ui/app_state.h"

#include <span>

namespace tilewalk::ui {

/// Carries out the key presses of this frame and empties the queue.
void answer_keys(AppState& state);

struct Shortcut {
    const char* keys;    ///< as shown: "Shift →"
    const char* action;  ///< "next tile"
};
std::span<const Shortcut> shortcuts();

}  // namespace tilewalk::ui

// The keyboard. The table of shortcuts is what the help card shows; a test holds it against what keys do.
#pragma once

#include "app/ui/state/app_state.h"

#include <span>
#include <vector>

namespace tilewalk::ui {

/// Carries out the key presses of this frame and empties the queue.
void answer_keys(AppState& state);

struct Shortcut {
    const char* group;                   ///< "Walk"; those of a group follow each other
    const char* keys;                    ///< as shown: "Shift →"
    const char* action;                  ///< "next tile"
    std::vector<KeyPress> presses = {};  ///< what `keys` means
};
std::span<const Shortcut> shortcuts();

}  // namespace tilewalk::ui

// The keyboard.
#pragma once

namespace tilewalk::ui {

struct AppState;

/// Carries out the key presses of this frame and empties the queue.
void answer_keys(AppState& state);

}  // namespace tilewalk::ui

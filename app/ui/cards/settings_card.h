// The settings: size, colours, numbers, letters, motion.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

/// True if the key belonged to the settings.
bool answer_settings_key(AppState& state, const KeyPress& press);
/// Everything as it was at the first start, but for the problem and the size of the window.
void reset_settings(AppState& state);
/// While state.show_settings.
void settings_card(const Canvas& canvas, AppState& state, float W, float H);

}  // namespace tilewalk::ui

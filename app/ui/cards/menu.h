// The menu: what the program can do beside stepping, with the key of each.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

void open_menu(AppState& state);
/// True if the key belonged to the menu.
bool answer_menu_card_key(AppState& state, const KeyPress& press);
void menu_card(const Canvas& canvas, AppState& state, float W, float H);

}  // namespace tilewalk::ui

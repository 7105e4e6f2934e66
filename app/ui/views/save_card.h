// Saves what is on the screen as a picture, or the whole walk as a hand-out.
#pragma once

#include "app/ui/app_state.h"
#include "app/ui/canvas.h"

namespace tilewalk::ui {

struct SaveCard {
    char path[512] = "";
};

void open_save_card(AppState& state);
/// True if the key belonged to the card.
bool answer_save_key(AppState& state, const KeyPress& press);
void save_card(const Canvas& canvas, AppState& state, float W, float H);

}  // namespace tilewalk::ui

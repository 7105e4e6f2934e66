// Copies a matrix: a small list beside it.
#pragma once

#include "app/ui/app_state.h"
#include "app/ui/canvas.h"

namespace tilewalk::ui {

struct MatrixMenu {
    Slot slot = Slot::count;
    int tile = 0;
};

void open_matrix_menu(AppState& state, Slot slot, int tile);
/// True if the key belonged to the list.
bool answer_matrix_menu_key(AppState& state, const KeyPress& press);
void matrix_menu(const Canvas& canvas, AppState& state, float W, float H);

}  // namespace tilewalk::ui

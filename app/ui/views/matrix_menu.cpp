#include "app/ui/views/matrix_menu.h"

namespace tilewalk::ui {

void open_matrix_menu(AppState& state, Slot slot, int tile) {
    state.matrix_menu = std::make_shared<MatrixMenu>(MatrixMenu{slot, tile});
}

bool answer_matrix_menu_key(AppState& state, const KeyPress& press) {
    if (!state.matrix_menu || press.key != Key::escape) return false;
    state.matrix_menu.reset();
    return true;
}

void matrix_menu(const Canvas&, AppState&, float, float) {}

}  // namespace tilewalk::ui

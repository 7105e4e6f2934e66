#include "app/ui/inspection.h"

namespace tilewalk::ui {

void inspect(AppState& state, CellRef cell) {
    state.inspection = std::make_shared<Inspection>(Inspection{cell, state.cursor.step});
}

bool inspecting(const AppState& state) { return state.inspection != nullptr; }

bool answer_inspection_key(AppState& state, const KeyPress& press) {
    if (!inspecting(state) || press.key != Key::escape) return false;
    state.inspection.reset();
    return true;
}

}  // namespace tilewalk::ui

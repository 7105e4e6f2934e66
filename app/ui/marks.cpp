#include "app/ui/marks.h"

#include "app/ui/state.h"

namespace tilewalk::ui {

StepMarks marks_of_step(const AppState&, int) { return {}; }

void next_noteworthy(AppState& state, int direction) {
    for (int k = state.cursor.step + direction; k >= 0 && k < state.trace->size(); k += direction)
        if (maximum_rises(*state.trace, k)) return go_to(state, at_step(*state.trace, k));
}

bool stops_at(const AppState&, int) { return false; }
bool answer_marks_key(AppState&, const KeyPress&) { return false; }
void marks_card(const Canvas&, AppState&, float, float) {}
void toggle_before(AppState&) {}

}  // namespace tilewalk::ui

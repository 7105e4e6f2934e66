// Places in a walk that are worth stopping at: breakpoints, bookmarks, and what happened there by itself.
#pragma once

#include "app/ui/app_state.h"
#include "app/ui/canvas.h"

namespace tilewalk::ui {

struct Marks {
    bool card = false;  ///< the list of breakpoints is open
};

/// What the timeline draws at a step.
struct StepMarks {
    bool breakpoint = false;
    int bookmark = 0;  ///< 1 … 9; 0: none
};
StepMarks marks_of_step(const AppState& state, int step);

/// The next (direction 1) or previous (−1) step at which a maximum rises, a number is lost, the walk differs
/// from the true one, or a breakpoint stands; says which.
void next_noteworthy(AppState& state, int direction);
/// Playing stops at this step.
bool stops_at(const AppState& state, int step);
/// True if the key belonged to breakpoints, bookmarks or their card.
bool answer_marks_key(AppState& state, const KeyPress& press);
/// The card of breakpoints, if it is open.
void marks_card(const Canvas& canvas, AppState& state, float W, float H);
/// Shows what the slots held before the step, and after it again.
void toggle_before(AppState& state);

}  // namespace tilewalk::ui

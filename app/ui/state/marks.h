// Places in a walk that are worth stopping at: breakpoints, bookmarks, and what happened there by itself.
#pragma once

#include "app/ui/state/marks_kept.h"

namespace tilewalk::ui {

/// What the timeline draws at a step.
struct StepMarks {
    bool breakpoint = false;
    int bookmark = 0;  ///< 1 … 9; 0: none
};
StepMarks marks_of_step(const AppState& state, int step);

/// The next (direction 1) or previous (−1) step at which a maximum rises, a number is lost, the walk begins
/// to differ from the true one, or a breakpoint stands; says which.
void next_noteworthy(AppState& state, int direction);
/// What is noteworthy about a step, a sentence; empty: nothing.
std::string noteworthy(const AppState& state, int step);
/// Playing stops at this step.
bool stops_at(const AppState& state, int step);
/// The first step that playing must not pass on its way from one step to another; −1 if there is none.
int first_stop(const AppState& state, int from, int to);

/// Sets or takes away the breakpoint on the op of the current step.
void toggle_breakpoint(AppState& state);
/// Takes over the condition that was typed; false, with the error, if it is none.
bool add_condition(AppState& state, std::string_view text);
void remove_breakpoint(AppState& state, int n);
/// n: 1 … 9
void set_bookmark(AppState& state, int n);
void go_to_bookmark(AppState& state, int n);

/// What a file keeps: the breakpoints, and the bookmarks of this walk.
void save_marks(const AppState& state, SavedView& view);
void restore_marks(AppState& state, const SavedView& view);

/// True if the key sets a breakpoint or belongs to a bookmark.
bool answer_marks_key(AppState& state, const KeyPress& press);
void toggle_marks_card(AppState& state);

/// Shows what the slots held before the step, and after it again. A step taken meanwhile ends it.
void toggle_before(AppState& state);

}  // namespace tilewalk::ui

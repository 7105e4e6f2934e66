// What the user can do to the state: every key and button ends in one of these.
#pragma once

#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

/// Seconds that the one transition of a step takes.
constexpr float transition_seconds = 0.16f;

/// Moves the walk and starts the one transition; to the next step also its motion.
void go_to(AppState& state, Cursor cursor);
void step_forward(AppState& state, Level level);
void step_backward(AppState& state, Level level);
void toggle_play(AppState& state);
/// Playing goes on by `dt` seconds; it pauses for questions and at breakpoints.
void play_on(AppState& state, double dt);

/// A new problem: rebuilds the trace, keeps the step if possible, adds to undo when asked. If the problem is
/// refused the old one stays and the notice says why.
bool set_problem(AppState& state, Problem problem, bool remember = true);
/// Walks through the same problem in another lesson, from where that lesson was left.
void set_lesson(AppState& state, const Lesson& lesson);
/// Both at once; a walk that is too large for one frame appears when it is built. `remember`: to be undone.
/// False, with a notice, if the lesson refuses the problem.
bool show_walk(AppState& state, const Lesson& lesson, ProblemPtr problem, bool remember = false);

/// The chosen cell of the current step, and the explanation of it.
CellRef chosen_cell(const AppState& state);
void choose_cell(AppState& state, CellRef cell);
/// The row, from 0, of what this step writes; it stays chosen in the steps to come.
void choose_row(AppState& state, int row);
/// Nobody's choice any more: of what this and every other step writes, telling_row and the column that it
/// leads to.
void leave_cell(AppState& state);
/// The row that was told when the place was kept; it counts as chosen unless the step tells it anyway.
void restore_row(AppState& state, int row);
/// The tile of its slot that the chosen cell lies in.
int chosen_tile(const AppState& state);
void refresh_explanation(AppState& state);

/// Takes over a trace that was built in the background, once it is done.
void take_finished_trace(AppState& state);
/// Waits until it is done, if one is being built; the next frame takes it over.
void wait_for_walk(const AppState& state);
/// The problem that is shown, or the one that is being built.
const Problem& latest_problem(const AppState& state);

/// To a walk and a place in it that were left.
void go_back(AppState& state, WalkView view);
/// Ctrl Z leads back there from the problem that was gone to.
void remember_departure(AppState& state, const WalkView& from, ProblemPtr to);
/// The latest edit; in the problem of a moment as it was found, back to where the moment was gone to from.
void undo(AppState& state);
void redo(AppState& state);
/// Words for the tokens, separated by spaces; none takes them away.
void set_words(AppState& state, const std::string& words);
/// Changes one element of an input (app/ui/state/inputs.h); the rest of the problem stays.
void set_element(AppState& state, CellRef cell, double value);
/// Opens a text field over a cell of an input. `widget` tells which of the views that show it.
void begin_edit(AppState& state, CellRef cell, const std::string& widget);
/// Takes over what was typed; false, with a notice, if it is no finite number.
bool commit_edit(AppState& state);

void notify(AppState& state, std::string sentence);
/// Something else is done: what it says is of before. One that has just come stays.
void end_notice(AppState& state);
/// That the file was saved, or why not.
void notify_saved(AppState& state, const std::string& path, const Result<void>& saved);
const Problem* find_example(const AppState& state, const std::string& name);
void choose_example(AppState& state, int index);
void load_files(AppState& state, const std::vector<std::string>& paths);
void save_file(AppState& state, std::string path);
/// Where the walk stands, to be saved with the problem, and back. A step beyond the walk becomes its last.
SavedView view_of(const AppState& state);
void restore_view(AppState& state, const SavedView& view);
/// The walk is broken on purpose: `truth` and `comparison` are there.
bool broken_walk(const AppState& state);
/// Goes to the next step that differs from the true walk (that made NaN or ∞ of a number) and chooses the
/// cell that is furthest off; says so if there is none.
void next_difference(AppState& state);
void next_lost(AppState& state);
void go_to_difference(AppState& state, int k);
/// Cells whose value differs from before the latest edit are no longer outlined.
void clear_edit_marks(AppState& state);
/// The right panel: the problem, the switches, or (neither) the explanation.
void show_side(AppState& state, bool problem, bool break_it);
void next_theme(AppState& state);
void zoom(AppState& state, float factor);
/// Goes to the next step at which the maximum of some row rises; says so if there is none.
void next_max_change(AppState& state);
/// The softmax lessons: the next line of derivation or proof (beginning with the derivation), and the element
/// behind which the proof cuts the row.
void step_argument(AppState& state, int by);
void move_cut(AppState& state, int by);
/// Of a lesson with split keys: its first split.
void move_split(AppState& state, int by);
/// "S[0,2]" or, for one column, "ℓ[0]".
std::string cell_name(CellRef cell);
/// Settings as they were at the first start, but for the problem and the size of the window.
void reset_settings(AppState& state);
/// The cell under the mouse, or the current explanation, as text.
std::string text_to_copy(const AppState& state);

}  // namespace tilewalk::ui

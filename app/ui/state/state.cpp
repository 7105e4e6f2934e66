#include "app/ui/state/state.h"

#include "app/ui/state/inputs.h"
#include "app/ui/state/marks.h"
#include "app/ui/state/motion.h"
#include "app/ui/state/quiz.h"
#include "core/base/numbers.h"
#include "core/lessons/table.h"
#include "core/walk/compare.h"
#include "core/walk/telling_row.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tilewalk::ui {

void notify(AppState& state, std::string sentence) {
    state.notice = std::move(sentence);
    state.notice_age = 0;
}

void end_notice(AppState& state) {
    constexpr float read = 1.5f;  // seconds
    if (state.notice_age > read) state.notice.clear();
}

void notify_saved(AppState& state, const std::string& path, const Result<void>& saved) {
    notify(state, saved ? "Saved " + path + "." : saved.error);
}

void go_to(AppState& state, Cursor cursor) {
    if (cursor == state.cursor) return;
    state.moves_for = motion_to(state, cursor);
    state.cursor = cursor;
    state.step_age = 0;
    state.col = -1;
    if (!state.row_chosen) state.row = telling_row(*state.trace, cursor.step);
    refresh_explanation(state);
}

void step_forward(AppState& state, Level level) {
    const Cursor next = forward(*state.trace, state.cursor, level);
    if (!asks_before(state, next)) go_to(state, next);
}
void step_backward(AppState& state, Level level) {
    go_to(state, backward(*state.trace, state.cursor, level));
}

void toggle_play(AppState& state) {
    if (!state.player.playing && at_end(*state.trace, state.cursor)) go_to(state, first(*state.trace));
    state.player.playing = !state.player.playing;
    state.player.elapsed = 0;
}

void play_on(AppState& state, double dt) {
    state.player.steps_per_second = state.settings.speed;
    Cursor next = advance(state.player, *state.trace, state.cursor, dt, state.timeline.loop);
    if (next == state.cursor) return;
    const int stop = first_stop(state, state.cursor.step, next.step);
    if (stop >= 0) next = at_step(*state.trace, stop);
    const bool new_step = next.step != state.cursor.step;
    if (new_step && asks_before(state, next)) {
        state.player.playing = false;
        return;
    }
    go_to(state, next);
    if (stop < 0) return;
    state.player.playing = false;
    notify(state, noteworthy(state, stop));
}

float transition(const AppState& state) {
    const bool cut =
        state.still || !state.settings.motion || (state.player.playing && state.settings.speed >= 4);
    if (cut) return 1;
    const float t = std::clamp(state.step_age / transition_seconds, 0.0f, 1.0f);
    return 1 - (1 - t) * (1 - t) * (1 - t);
}

CellRef chosen_cell(const AppState& state) {
    const int k = state.cursor.step;
    const Region region = step_region(*state.trace, k);
    int row = state.row, col = state.col;
    // While one row (or cell) after another is shown, the formula follows the newest one.
    if (state.cursor.done < step_units(*state.trace, k)) {
        row = state.cursor.done - 1;
        if (state.lesson->by_cell) {
            col = row % std::max(1, region.cols);
            row /= std::max(1, region.cols);
        }
    }
    if (col < 0) col = telling_col(*state.trace, k, std::min(row, region.rows - 1));
    return cell_of_row(*state.trace, k, region.row + row, col);
}

namespace {

bool of_keys(Slot slot) { return info(slot).role == Role::K || info(slot).role == Role::V; }

}  // namespace

void choose_cell(AppState& state, CellRef cell) {
    const int k = state.cursor.step;
    const Region region = step_region(*state.trace, k);
    for (const Access& a : state.trace->writes(k)) {
        const Region& written = state.trace->value(a.value).region;
        if (a.slot == cell.slot && written.contains(cell.row, cell.col)) state.col = cell.col - written.col;
    }
    const Slot about = cell_of_row(*state.trace, k, region.row).slot;
    const bool same_rows = about == Slot::count || about == cell.slot || of_keys(about) == of_keys(cell.slot);
    if (same_rows && cell.row >= region.row && cell.row < region.row + region.rows)
        choose_row(state, cell.row - region.row);
    state.cursor = at_step(*state.trace, k);  // a step that is shown in part would speak of its newest cell
    refresh_explanation(state);
}

void choose_row(AppState& state, int row) {
    state.row = std::clamp(row, 0, std::max(0, step_region(*state.trace, state.cursor.step).rows - 1));
    state.row_chosen = true;
    refresh_explanation(state);
}

void leave_cell(AppState& state) {
    state.row = telling_row(*state.trace, state.cursor.step);
    state.row_chosen = false;
    state.col = -1;
    refresh_explanation(state);
}

void restore_row(AppState& state, int row) {
    leave_cell(state);
    if (row != state.row) choose_row(state, row);
}

int chosen_tile(const AppState& state) {
    const CellRef cell = chosen_cell(state);
    for (const Access& a : state.trace->writes(state.cursor.step))
        if (a.slot == cell.slot && state.trace->value(a.value).region.contains(cell.row, cell.col))
            return a.tile;
    return 0;
}

void refresh_explanation(AppState& state) {
    state.explanation = explain(*state.trace, state.cursor.step, chosen_cell(state));
}

void begin_edit(AppState& state, CellRef cell, const std::string& widget) {
    const std::optional<Slot> slot = input_of(cell.slot);
    if (!slot) return;
    const Matrix A = input(*state.lesson, *state.problem, *slot);
    if (cell.row >= A.rows() || cell.col >= A.cols()) return;
    CellEdit edit;
    edit.cell = cell;
    edit.widget = widget;
    const auto end = std::to_chars(edit.text, edit.text + sizeof edit.text - 1, A(cell.row, cell.col)).ptr;
    *end = 0;
    state.edit = edit;
    state.player.playing = false;
}

bool commit_edit(AppState& state) {
    std::string text = replaced(state.edit->text, "−", "-");
    std::erase(text, ' ');
    if (text.starts_with('+')) text.erase(0, 1);
    std::ranges::replace(text, ',', '.');
    const auto value = number_in<double>(text);
    if (!value || !std::isfinite(*value)) {
        notify(state, "\"" + std::string(state.edit->text) +
                          "\" is not a number; a cell takes a finite number such as −1.5.");
        return false;
    }
    const CellRef cell = state.edit->cell;
    state.edit.reset();
    set_element(state, cell, *value);
    return true;
}

const Problem* find_example(const AppState& state, const std::string& name) {
    for (const Problem& p : state.examples)
        if (p.name == name) return &p;
    return nullptr;
}

void choose_example(AppState& state, int index) {
    if (set_problem(state, state.examples[static_cast<std::size_t>(index)])) {
        state.player.playing = false;
        go_to(state, first(*state.trace));
        leave_cell(state);
    }
}

void load_files(AppState& state, const std::vector<std::string>& paths) {
    if (!state.hooks.load_files) return notify(state, "Files cannot be opened here.");
    SavedView view;
    auto problem = state.hooks.load_files(paths, *state.problem, state.form.matrix, &view);
    if (!problem) return notify(state, problem.error);
    if (!set_problem(state, std::move(*problem))) return;
    notify(state, "Loaded " + paths.front() + (paths.size() > 1 ? " and more." : "."));
    restore_view(state, view);
}

SavedView view_of(const AppState& state) {
    SavedView view;
    view.lesson = state.lesson->id;
    view.step = state.cursor.step + 1;
    view.row = state.row;
    view.presenter = state.presenter;
    view.panel = state.show_problem ? "problem" : state.show_break ? "break" : "explanation";
    save_marks(state, view);
    return view;
}

void restore_view(AppState& state, const SavedView& view) {
    if (view.lesson.empty() && view.step == 0) return;
    const Lesson* lesson = view.lesson.empty() ? state.lesson : find_lesson(view.lesson);
    if (!lesson)
        return notify(state, "The file was saved in the lesson " + view.lesson + ", which is not there.");
    state.page = Page::walk;
    set_lesson(state, *lesson);
    state.presenter = view.presenter;
    restore_marks(state, view);
    if (!view.panel.empty()) show_side(state, view.panel == "problem", view.panel == "break");
    // A walk that is built in the background begins at its first step.
    if (state.pending || view.step < 1) return;
    go_to(state, at_step(*state.trace, view.step - 1));
    restore_row(state, view.row);
}

// A name without an ending gets that of problems, by which a desktop knows the program.
void save_file(AppState& state, std::string path) {
    if (!state.hooks.save_problem) return notify(state, "Files cannot be saved here.");
    if (path.empty()) return notify(state, "Type a file name to save to, for example mine.tilewalk.json.");
    if (path.find('.', path.find_last_of('/') + 1) == path.npos) path += ".tilewalk.json";
    const auto saved = state.hooks.save_problem(path, *state.problem, view_of(state));
    notify_saved(state, path, saved);
}

bool broken_walk(const AppState& state) { return state.truth != nullptr; }

void next_difference(AppState& state) {
    if (!state.comparison) return notify(state, "Nothing is broken: every number of this walk is true.");
    const int k = next_difference(*state.comparison, state.cursor.step);
    if (k < 0)
        return notify(state, state.comparison->differs() ? "No later step differs from the true walk."
                                                         : "No step differs from the true walk.");
    go_to_difference(state, k);
}

void next_lost(AppState& state) {
    const int k = state.comparison ? next_lost(*state.comparison, state.cursor.step) : -1;
    if (k < 0) return notify(state, "No later step makes NaN or ∞ of a number.");
    go_to_difference(state, k);
}

void go_to_difference(AppState& state, int k) {
    go_to(state, at_step(*state.trace, k));
    if (const auto far = largest_difference(*state.truth, *state.trace, k)) choose_cell(state, far->cell);
}

void clear_edit_marks(AppState& state) { state.before_edit.reset(); }

void show_side(AppState& state, bool problem, bool break_it) {
    state.show_problem = problem;
    state.show_break = break_it;
}

void next_theme(AppState& state) {
    const int next = (static_cast<int>(state.settings.theme) + 1) % 3;
    state.settings.theme = static_cast<ThemeId>(next);
}

void zoom(AppState& state, float factor) {
    state.settings.zoom = factor == 0 ? 1.0f : std::clamp(state.settings.zoom * factor, 0.6f, 3.0f);
}

void next_max_change(AppState& state) {
    const Trace& trace = *state.trace;
    for (int k = state.cursor.step + 1; k < trace.size(); ++k)
        if (maximum_rises(trace, k)) return go_to(state, at_step(trace, k));
    notify(state, "The maximum does not rise again in this walk.");
}

std::string cell_name(CellRef cell) {
    const std::string name = std::string(info(cell.slot).symbol) + (info(cell.slot).tilde ? "\u0303" : "");
    return name + "[" + str(cell.row) + (one_column(cell.slot) ? "" : "," + str(cell.col)) + "]";
}

void reset_settings(AppState& state) {
    const Settings fresh;
    Settings& s = state.settings;
    const bool letters = s.letters != fresh.letters;
    // What was open and how large the window is are no choices of this card.
    const Settings kept = std::exchange(s, fresh);
    s.window_width = kept.window_width, s.window_height = kept.window_height;
    s.example = kept.example, s.problem_json = kept.problem_json;
    s.page = kept.page, s.lesson = kept.lesson, s.step = kept.step, s.row = kept.row;
    s.tour_offered = kept.tour_offered, s.open = kept.open;
    if (!letters) return;
    Problem problem = latest_problem(state);
    problem.options.notation = Options{}.notation;
    set_problem(state, std::move(problem), false);
}

std::string text_to_copy(const AppState& state) {
    const Explanation& e = state.explanation;
    if (!state.hover)
        return e.title + ", " + e.place + "\n" + plain(e.formula) + "\n" + plain(e.numbers) + "\n" +
               plain(e.result) + "\n" + e.why + "\n";
    const Held held = holding(*state.trace, *state.hover, state.cursor.step);
    return held ? format_full(value_at(*held.value, *state.hover)) : "";
}

}  // namespace tilewalk::ui

#include "app/ui/state.h"

#include "core/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tilewalk::ui {

namespace {

constexpr std::size_t most_undo = 200;

// The step that stands where the old one stood, as far as the new trace has one.
int same_place(const Trace& old, int k, const Trace& now) {
    const Step& step = old.step(k);
    for (int n = 0; n < now.size(); ++n)
        if (now.step(n).op == step.op && now.step(n).i == step.i && now.step(n).j == step.j) return n;
    return std::min(k, now.size() - 1);
}

bool rebuild(AppState& state, ProblemPtr problem) {
    auto trace = build_trace(*state.lesson, *problem);
    if (!trace) {
        notify(state, trace.error);
        return false;
    }
    const int k = state.trace ? same_place(*state.trace, state.cursor.step, **trace) : 0;
    state.problem = std::move(problem);
    state.trace = std::move(*trace);
    state.look = look_of(*state.trace);
    state.cursor = at_step(*state.trace, k);
    state.row = std::clamp(state.row, 0, state.problem->Br - 1);
    state.hover.reset();
    state.hover_sources.clear();
    refresh_explanation(state);
    return true;
}

// Q, K or V, named by its HBM slot or by the tile of it on chip.
template <class P> auto& input_of(P& problem, Slot slot) {
    const Role role = info(slot).role;
    return role == Role::Q ? problem.Q : role == Role::K ? problem.K : problem.V;
}

}  // namespace

void notify(AppState& state, std::string sentence) {
    state.notice = std::move(sentence);
    state.notice_age = 0;
}

bool set_problem(AppState& state, Problem problem, bool remember) {
    if (!state.lesson) state.lesson = &lessons().front();
    const ProblemPtr before = state.problem;
    if (!rebuild(state, std::make_shared<const Problem>(std::move(problem)))) return false;
    if (remember && before) {
        state.undo.push_back(before);
        if (state.undo.size() > most_undo) state.undo.erase(state.undo.begin());
        state.redo.clear();
    }
    return true;
}

void undo(AppState& state) {
    if (state.undo.empty()) return notify(state, "There is nothing to undo.");
    const ProblemPtr now = state.problem, before = state.undo.back();
    state.undo.pop_back();
    if (rebuild(state, before)) state.redo.push_back(now);
}

void redo(AppState& state) {
    if (state.redo.empty()) return notify(state, "There is nothing to redo.");
    const ProblemPtr now = state.problem, after = state.redo.back();
    state.redo.pop_back();
    if (rebuild(state, after)) state.undo.push_back(now);
}

void go_to(AppState& state, Cursor cursor) {
    if (cursor == state.cursor) return;
    state.cursor = cursor;
    state.step_age = 0;
    state.col = -1;
    refresh_explanation(state);
}

void step_forward(AppState& state, Level level) { go_to(state, forward(*state.trace, state.cursor, level)); }
void step_backward(AppState& state, Level level) {
    go_to(state, backward(*state.trace, state.cursor, level));
}

void toggle_play(AppState& state) {
    if (!state.player.playing && at_end(*state.trace, state.cursor)) go_to(state, first(*state.trace));
    state.player.playing = !state.player.playing;
    state.player.elapsed = 0;
}

CellRef chosen_cell(const AppState& state) {
    const int k = state.cursor.step;
    const int top = std::max(0, state.trace->step(k).i) * state.problem->Br;
    // While one row after another is shown, the formula follows the newest row.
    const bool micro = state.cursor.rows_done < step_rows(*state.trace, k);
    const int row = micro ? state.cursor.rows_done - 1 : state.row;
    return cell_of_row(*state.trace, k, top + row, state.col);
}

void choose_cell(AppState& state, CellRef cell) {
    for (const Access& a : state.trace->writes(state.cursor.step)) {
        const Region& region = state.trace->value(a.value).region;
        if (a.slot == cell.slot && region.contains(cell.row, cell.col)) state.col = cell.col - region.col;
    }
    const bool by_query =
        cell.slot != Slot::K && cell.slot != Slot::V && cell.slot != Slot::Kj && cell.slot != Slot::Vj;
    const int top = std::max(0, state.trace->step(state.cursor.step).i) * state.problem->Br;
    if (by_query && cell.row >= top && cell.row < top + state.problem->Br) state.row = cell.row - top;
    refresh_explanation(state);
}

void refresh_explanation(AppState& state) {
    state.explanation = explain(*state.trace, state.cursor.step, chosen_cell(state));
}

void set_element(AppState& state, CellRef cell, double value) {
    Problem changed = *state.problem;
    Matrix& A = input_of(changed, cell.slot);
    if (A(cell.row, cell.col) == value) return;
    A(cell.row, cell.col) = value;
    if (!changed.name.empty()) {
        changed.title += " (edited)";
        changed.name.clear();
    }
    set_problem(state, std::move(changed));
}

void begin_edit(AppState& state, CellRef cell, const char* widget) {
    const Problem& p = *state.problem;
    const Matrix& A = input_of(p, cell.slot);
    CellEdit edit;
    edit.cell = cell;
    edit.widget = widget;
    const auto end = std::to_chars(edit.text, edit.text + sizeof edit.text - 1, A(cell.row, cell.col)).ptr;
    *end = 0;
    state.edit = edit;
    state.player.playing = false;
}

bool commit_edit(AppState& state) {
    std::string text = state.edit->text;
    for (std::size_t at; (at = text.find("−")) != std::string::npos;) text.replace(at, 3, "-");
    std::erase(text, ' ');
    if (text.starts_with('+')) text.erase(0, 1);
    std::replace(text.begin(), text.end(), ',', '.');
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
        notify(state, "\"" + std::string(state.edit->text) +
                          "\" is not a number; a cell takes a finite number such as −1.5.");
        return false;
    }
    const CellRef cell = state.edit->cell;
    state.edit.reset();
    set_element(state, cell, value);
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
        state.row = 0;
        go_to(state, first(*state.trace));
        refresh_explanation(state);
    }
}

void load_files(AppState& state, const std::vector<std::string>& paths) {
    if (!state.hooks.load_files) return notify(state, "Files cannot be opened here.");
    auto problem = state.hooks.load_files(paths, *state.problem, state.form.matrix);
    if (!problem) return notify(state, problem.error);
    if (set_problem(state, std::move(*problem)))
        notify(state, "Loaded " + paths.front() + (paths.size() > 1 ? " and more." : "."));
}

void save_file(AppState& state, const std::string& path) {
    if (!state.hooks.save_problem) return notify(state, "Files cannot be saved here.");
    if (path.empty()) return notify(state, "Type a file name to save to, for example problem.json.");
    const auto error = state.hooks.save_problem(path, *state.problem);
    notify(state, error ? *error : "Saved " + path + ".");
}

void next_theme(AppState& state) {
    const int next = (static_cast<int>(state.settings.theme) + 1) % 3;
    state.settings.theme = static_cast<ThemeId>(next);
}

void zoom(AppState& state, float factor) {
    state.settings.zoom = factor == 0 ? 1.0f : std::clamp(state.settings.zoom * factor, 0.6f, 3.0f);
}

}  // namespace tilewalk::ui

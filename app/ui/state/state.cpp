#include "app/ui/state/state.h"

#include "app/ui/state/inputs.h"
#include "app/ui/state/marks.h"
#include "app/ui/state/quiz.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace tilewalk::ui {

namespace {

constexpr std::size_t most_undo = 200;

// The step that stands where the old one stood, as far as the new trace has one.
int same_place(const Trace& old, int k, const Trace& now) {
    const Step& step = old.step(k);
    for (int n = 0; n < now.size(); ++n)
        if (now.step(n).op == step.op && now.step(n).i == step.i && now.step(n).j == step.j &&
            now.step(n).phase == step.phase)
            return n;
    return std::min(k, now.size() - 1);
}

// Traces up to this size are built within a frame; larger ones in the background.
constexpr std::int64_t most_bytes_at_once = 2 << 20;

void remember(AppState& state, ProblemPtr before, History history) {
    if (!before || history == History::none) return;
    if (history == History::undo) {
        state.undo.pop_back();
        state.redo.push_back(before);
        return;
    }
    state.undo.push_back(before);
    if (state.undo.size() > most_undo) state.undo.erase(state.undo.begin());
    if (history == History::redo)
        state.redo.pop_back();
    else
        state.redo.clear();
}

// The new problem and its trace take the place of the old ones.
void take_over(AppState& state, const Lesson* lesson, ProblemPtr problem, BuiltWalk built, History history,
               bool edit) {
    int k = state.trace ? same_place(*state.trace, state.cursor.step, *built.trace) : 0;
    state.before_edit = edit && lesson == state.lesson ? state.trace : nullptr;
    if (lesson != state.lesson) {
        if (state.trace) state.left_at[state.trace->lesson()] = state.cursor.step;
        k = state.left_at[lesson->id];
        state.lesson = lesson;
        state.row = 0;
        state.col = -1;
        state.player.playing = false;
    }
    remember(state, state.problem, history);
    state.problem = std::move(problem);
    state.trace = std::move(built.trace);
    state.truth = std::move(built.truth);
    state.comparison = std::move(built.comparison);
    if (!built.note.empty()) notify(state, std::move(built.note));
    state.look = built.look;
    int rows = 0, columns = 0, seed = 0;
    if (std::sscanf(state.problem->title.c_str(), "Random %d × %d, seed %d", &rows, &columns, &seed) == 3)
        state.form.seed = seed;
    state.form.random_N = state.problem->N();
    state.form.random_d = state.problem->d();
    state.cursor = at_step(*state.trace, k);
    state.row = std::clamp(state.row, 0, std::max(state.problem->N(), state.problem->N_kv()) - 1);
    state.hover.reset();
    state.hover_sources.clear();
    refresh_explanation(state);
}

BuiltWalk build_walk(const Lesson& lesson, const Problem& problem) {
    BuiltWalk out;
    out.trace = lesson.build(problem);
    out.look = look_of(*out.trace);
    if (!breaks(lesson, problem)) return out;
    out.truth = lesson.build(without_faults(problem));
    out.comparison = std::make_shared<const Comparison>(compare(*out.truth, *out.trace));
    return out;
}

bool rebuild(AppState& state, const Lesson* lesson, ProblemPtr problem, History history, bool edit = false) {
    if (auto sentence = refuse(*lesson, *problem)) {
        notify(state, *sentence);
        return false;
    }
    state.pending.reset();  // a build that is under way is out of date; its result is dropped
    auto run = [lesson, problem, before = edit ? state.trace : nullptr] {
        BuiltWalk out = build_walk(*lesson, *problem);
        if (before) out.note = edit_sentence(*before, *out.trace);
        return out;
    };
    if (state.trace && lesson->estimate(*problem) > most_bytes_at_once) {
        state.pending = std::make_shared<PendingTrace>();
        state.pending->lesson = lesson;
        state.pending->problem = std::move(problem);
        state.pending->history = history;
        state.pending->edit = edit;
        state.pending->result = Background<BuiltWalk>([run](std::stop_token) { return run(); });
        return true;
    }
    take_over(state, lesson, problem, run(), history, edit);
    return true;
}

// The lesson that is shown, or the one that is being built.
const Lesson* latest_lesson(const AppState& state) {
    return state.pending ? state.pending->lesson : state.lesson;
}

}  // namespace

void notify(AppState& state, std::string sentence) {
    state.notice = std::move(sentence);
    state.notice_age = 0;
}

bool set_problem(AppState& state, Problem problem, bool into_history) {
    if (!state.lesson) state.lesson = &default_lesson();
    // Letters that the problem leaves open are the user's choice.
    if (problem.options.notation == Notation::d_o)
        problem.options.notation = static_cast<Notation>(state.settings.letters);
    const History history = into_history ? History::add : History::none;
    return rebuild(state, latest_lesson(state), std::make_shared<const Problem>(std::move(problem)), history);
}

void set_lesson(AppState& state, const Lesson& lesson) {
    if (&lesson == latest_lesson(state)) return;
    rebuild(state, &lesson, state.pending ? state.pending->problem : state.problem, History::none);
}

bool show_walk(AppState& state, const Lesson& lesson, ProblemPtr problem) {
    return rebuild(state, &lesson, std::move(problem), History::none);
}

void take_finished_trace(AppState& state) {
    if (!state.pending || !state.pending->result.ready()) return;
    const std::shared_ptr<PendingTrace> done = std::move(state.pending);
    state.pending.reset();
    take_over(state, done->lesson, done->problem, done->result.take(), done->history, done->edit);
}

const Problem& latest_problem(const AppState& state) {
    return state.pending ? *state.pending->problem : *state.problem;
}

void undo(AppState& state) {
    if (state.undo.empty()) return notify(state, "There is nothing to undo.");
    rebuild(state, latest_lesson(state), state.undo.back(), History::undo);
}

void redo(AppState& state) {
    if (state.redo.empty()) return notify(state, "There is nothing to redo.");
    rebuild(state, latest_lesson(state), state.redo.back(), History::redo);
}

void go_to(AppState& state, Cursor cursor) {
    if (cursor == state.cursor) return;
    state.cursor = cursor;
    state.step_age = 0;
    state.col = -1;
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
        state.row = cell.row - region.row;
    state.cursor = at_step(*state.trace, k);  // a step that is shown in part would speak of its newest cell
    refresh_explanation(state);
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

void set_element(AppState& state, CellRef cell, double value) {
    Problem changed = latest_problem(state);
    const std::optional<Slot> slot = input_of(cell.slot);
    if (!slot) return;
    cell.slot = *slot;
    const Matrix A = input(changed, *slot);
    // A problem that is being built in the background may have another shape than the one on screen.
    if (cell.row >= A.rows() || cell.col >= A.cols() || A(cell.row, cell.col) == value) return;
    if (auto sentence = set_input(changed, cell, value)) return notify(state, *sentence);
    mark_changed(changed);
    rebuild(state, latest_lesson(state), std::make_shared<const Problem>(std::move(changed)), History::add,
            true);
}

void set_words(AppState& state, const std::string& words) {
    Problem changed = latest_problem(state);
    std::vector<std::string> tokens;
    std::istringstream stream(words);
    for (std::string word; stream >> word;) tokens.push_back(word);
    if (tokens == changed.tokens) return;
    changed.tokens = std::move(tokens);
    set_problem(state, std::move(changed));
}

void begin_edit(AppState& state, CellRef cell, const char* widget) {
    const std::optional<Slot> slot = input_of(cell.slot);
    if (!slot) return;
    const Matrix A = input(*state.problem, *slot);
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
    state.row = std::max(0, view.row);
    refresh_explanation(state);
}

void save_file(AppState& state, const std::string& path) {
    if (!state.hooks.save_problem) return notify(state, "Files cannot be saved here.");
    if (path.empty()) return notify(state, "Type a file name to save to, for example problem.json.");
    const auto error = state.hooks.save_problem(path, *state.problem, view_of(state));
    notify(state, error ? *error : "Saved " + path + ".");
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

std::string text_to_copy(const AppState& state) {
    const Explanation& e = state.explanation;
    if (!state.hover)
        return e.title + ", " + e.place + "\n" + plain(e.formula) + "\n" + plain(e.numbers) + "\n" +
               plain(e.result) + "\n" + e.why + "\n";
    const Held held = holding(*state.trace, *state.hover, state.cursor.step);
    return held ? format_full(value_at(*held.value, *state.hover)) : "";
}

}  // namespace tilewalk::ui

// Walks are built here: of a new problem, in another lesson, after an edit, from the history.
#include "app/ui/state/inputs.h"
#include "app/ui/state/state.h"
#include "core/base/background.h"
#include "core/lessons/table.h"
#include "core/walk/compare.h"

#include <algorithm>
#include <utility>

namespace tilewalk::ui {

/// How a new problem enters the history.
enum class History { none, add, undo, redo };

/// What is built for a problem: the walk and, if it is broken on purpose, the true one to hold it against.
struct BuiltWalk {
    std::shared_ptr<const Trace> trace, truth;
    TraceLook look;
    std::shared_ptr<const Comparison> comparison;
    std::string note;  ///< what an edit changed
};

/// A trace that is being built in the background, because it is too large for one frame.
struct PendingTrace {
    const Lesson* lesson = nullptr;
    ProblemPtr problem;
    History history = History::none;
    bool edit = false;  ///< an element of an input was changed
    Background<BuiltWalk> result;
};

namespace {

constexpr std::size_t most_undo = 200, most_undo_bytes = 64 << 20;

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

// What the matrices of a problem that grow with it take.
std::size_t bytes_of(const Problem& p) {
    const auto of = [](const Matrix& m) { return static_cast<std::size_t>(m.size()) * sizeof(double); };
    std::size_t sum = of(p.Q) + of(p.K) + of(p.V) + (p.dO ? of(*p.dO) : 0);
    if (p.projection) sum += of(p.projection->X);
    if (p.heads)
        for (const auto* all : {&p.heads->Q, &p.heads->K, &p.heads->V, &p.heads->dO})
            for (const Matrix& one : *all) sum += of(one);
    return sum;
}

// The last one stays, however large it is.
void forget_oldest(std::vector<ProblemPtr>& undo) {
    std::size_t bytes = 0, kept = 0;
    for (; kept < std::min(undo.size(), most_undo); ++kept) {
        bytes += bytes_of(*undo[undo.size() - 1 - kept]);
        if (kept > 0 && bytes > most_undo_bytes) break;
    }
    undo.erase(undo.begin(), undo.end() - static_cast<std::ptrdiff_t>(kept));
}

void remember(AppState& state, const ProblemPtr& before, History history) {
    if (!before || history == History::none) return;
    if (history == History::undo) {
        state.undo.pop_back();
        state.redo.push_back(before);
        return;
    }
    state.undo.push_back(before);
    forget_oldest(state.undo);
    if (history == History::redo)
        state.redo.pop_back();
    else
        state.redo.clear();
}

void give_up_large(std::shared_ptr<const Trace>& walk) {
    if (walk && walk->bytes() > static_cast<std::size_t>(most_bytes_at_once))
        give_up_beside(std::exchange(walk, nullptr));
}

// The new problem and its trace take the place of the old ones.
void take_over(AppState& state, const Lesson* lesson, ProblemPtr problem, BuiltWalk built, History history,
               bool edit) {
    int k = state.trace ? same_place(*state.trace, state.cursor.step, *built.trace) : 0;
    give_up_large(state.before_edit);
    state.before_edit = edit && lesson == state.lesson ? state.trace : nullptr;
    if (lesson != state.lesson) {
        if (state.trace) state.left_at[state.trace->lesson().id] = state.cursor.step;
        k = state.left_at[lesson->id];
        state.lesson = lesson;
        state.row = 0, state.col = -1;
        state.row_chosen = false;
        state.player.playing = false;
    }
    remember(state, state.problem, history);
    state.problem = std::move(problem);
    for (auto* old : {&state.trace, &state.truth}) give_up_large(*old);
    state.trace = std::move(built.trace);
    state.truth = std::move(built.truth);
    state.comparison = std::move(built.comparison);
    if (!built.note.empty()) notify(state, std::move(built.note));
    state.look = built.look;
    if (state.problem->seed)
        state.form.seed = static_cast<int>(std::min<std::uint64_t>(*state.problem->seed, most_seed));
    state.form.random_N = state.problem->N();
    state.form.random_d = state.problem->d();
    state.cursor = at_step(*state.trace, k);
    state.row = std::clamp(state.row, 0, std::max(state.trace->walked().N(), state.problem->N_kv()) - 1);
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

bool set_problem(AppState& state, Problem problem, bool into_history) {
    if (!state.lesson) state.lesson = &default_lesson();
    // Letters that the problem leaves open are the user's choice.
    if (problem.options.notation == Options{}.notation)
        problem.options.notation = static_cast<Notation>(state.settings.letters);
    const History history = into_history ? History::add : History::none;
    return rebuild(state, latest_lesson(state), std::make_shared<const Problem>(std::move(problem)), history);
}

void set_lesson(AppState& state, const Lesson& lesson) {
    if (&lesson == latest_lesson(state)) return;
    rebuild(state, &lesson, state.pending ? state.pending->problem : state.problem, History::none);
}

bool show_walk(AppState& state, const Lesson& lesson, ProblemPtr problem, bool into_history) {
    return rebuild(state, &lesson, std::move(problem), into_history ? History::add : History::none);
}

void take_finished_trace(AppState& state) {
    if (!state.pending || !state.pending->result.ready()) return;
    const std::shared_ptr<PendingTrace> done = std::move(state.pending);
    state.pending.reset();
    take_over(state, done->lesson, done->problem, done->result.take(), done->history, done->edit);
}

void wait_for_walk(const AppState& state) {
    if (state.pending) state.pending->result.wait();
}

const Problem& latest_problem(const AppState& state) {
    return state.pending ? *state.pending->problem : *state.problem;
}

void go_back(AppState& state, WalkView view) {
    state.pending.reset();
    static_cast<WalkView&>(state) = std::move(view);
    state.hover.reset();
    state.hover_sources.clear();
    refresh_explanation(state);
}

void remember_departure(AppState& state, const WalkView& from, ProblemPtr to) {
    constexpr std::size_t most = 40;
    state.departures.push_back({from, std::move(to)});
    if (state.departures.size() > most) state.departures.erase(state.departures.begin());
}

// Moments that only turned to another page, which was left in another way: there is nothing to come back
// from.
static void forget_returned(AppState& state) {
    while (!state.departures.empty()) {
        const auto& [from, to] = state.departures.back();
        const bool is_back = from.problem == to && to == state.problem && from.lesson == state.lesson &&
                             from.page == state.page;
        if (!is_back) return;
        state.departures.pop_back();
    }
}

void undo(AppState& state) {
    forget_returned(state);
    if (!state.departures.empty() && !state.pending && state.departures.back().to == state.problem) {
        Departure last = std::move(state.departures.back());
        state.departures.pop_back();
        last.from.presenter = state.presenter;
        return go_back(state, std::move(last.from));
    }
    if (state.undo.empty()) return notify(state, "There is nothing to undo.");
    rebuild(state, latest_lesson(state), state.undo.back(), History::undo);
}

void redo(AppState& state) {
    if (state.redo.empty()) return notify(state, "There is nothing to redo.");
    rebuild(state, latest_lesson(state), state.redo.back(), History::redo);
}

void set_element(AppState& state, CellRef cell, double value) {
    Problem changed = latest_problem(state);
    const std::optional<Slot> slot = input_of(cell.slot);
    if (!slot) return;
    cell.slot = *slot;
    const Lesson& lesson = *latest_lesson(state);
    const Matrix A = input(lesson, changed, *slot);
    // A problem that is being built in the background may have another shape than the one on screen.
    if (cell.row >= A.rows() || cell.col >= A.cols() || A(cell.row, cell.col) == value) return;
    if (const auto set = set_input(lesson, changed, cell, value); !set) return notify(state, set.error);
    mark_changed(changed);
    rebuild(state, &lesson, std::make_shared<const Problem>(std::move(changed)), History::add, true);
}

void set_words(AppState& state, const std::string& words) {
    Problem changed = latest_problem(state);
    std::vector<std::string> tokens = words_of(words);
    if (tokens == changed.tokens) return;
    changed.tokens = std::move(tokens);
    set_problem(state, std::move(changed));
}

}  // namespace tilewalk::ui

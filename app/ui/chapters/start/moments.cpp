#include "app/ui/chapters/start/moments.h"

#include "app/ui/chapters/compare/page.h"
#include "app/ui/chapters/start/pictures.h"
#include "app/ui/state/state.h"
#include "core/lessons/table.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

constexpr KeyPress alt(Key key) { return {key, false, false, true}; }

constexpr Moment table[] = {
    {.id = "moment correction",
     .title = "α corrects",
     .brief = "α corrects",
     .action = "a new maximum shrinks the old sums",
     .keys = "Alt 1",
     .press = alt(Key::one),
     .picture = correction_picture,
     .lesson = "flash-forward",
     .example = "worked-4x4",
     .op = Op::correction},
    {.id = "moment broken",
     .title = "What breaks",
     .brief = "Breaks",
     .action = "the same without the correction",
     .keys = "Alt 2",
     .press = alt(Key::two),
     .picture = broken_picture,
     .lesson = "flash-forward",
     .example = "worked-4x4",
     .op = Op::row_sum,
     .fault = &Switches::no_correction},
    {.id = "moment length",
     .title = "N = 16k",
     .brief = "N = 16k",
     .action = "what 16 384 keys cost",
     .keys = "Alt 3",
     .press = alt(Key::three),
     .picture = length_picture,
     .page = Page::memory,
     .N = long_text},
    {.id = "moment kernels",
     .title = "At scale",
     .brief = "At scale",
     .action = "real kernels on large problems",
     .keys = "Alt 4",
     .press = alt(Key::four),
     .picture = workspace_picture,
     .page = Page::scale},
    {.id = "moment compare",
     .title = "Kernel and CPU",
     .brief = "Kernel",
     .action = "a GPU kernel beside the CPU's walk",
     .keys = "Alt 5",
     .press = alt(Key::five),
     .picture = digits_picture,
     .page = Page::compare,
     .lesson = "flash-forward",
     .example = "worked-4x4",
     .op = Op::row_sum},
};

// Some sum of before is shrunk, and not from nothing.
bool corrects(const Trace& trace, int k) {
    if (trace.step(k).op != Op::correction) return false;
    const Matrix& alpha = trace.value(trace.writes(k).front().value).data;
    return (alpha.array() > 0 && alpha.array() < 1).any();
}

// The problem of the moment, with the letters that the user has chosen; null without the example.
ProblemPtr problem_of(const AppState& state, const Moment& moment) {
    const Problem* example = find_example(state, moment.example);
    if (!example) return nullptr;
    Problem problem = *example;
    if (problem.options.notation == Options{}.notation)
        problem.options.notation = static_cast<Notation>(state.settings.letters);
    if (moment.fault) problem.switches.*moment.fault = true;
    return std::make_shared<const Problem>(std::move(problem));
}

// It is shown as it was gone to.
bool shown_already(const AppState& state, const Problem& problem) {
    return !state.pending && !state.departures.empty() && state.departures.back().to == state.problem &&
           state.problem->name == problem.name && state.problem->switches == problem.switches &&
           state.problem->options == problem.options;
}

// False, with a notice, if it cannot be shown.
bool show_walk_of(AppState& state, const Moment& moment) {
    const ProblemPtr problem = problem_of(state, moment);
    if (!problem) return notify(state, "The example of this moment is not there."), false;
    const bool shown = shown_already(state, *problem);
    const WalkView from = state;
    if (!show_walk(state, *find_lesson(moment.lesson), shown ? state.problem : problem)) return false;
    wait_for_walk(state);
    take_finished_trace(state);
    if (!shown || state.page != moment.page) remember_departure(state, from, state.problem);
    const int k = step_of(moment, state.truth ? *state.truth : *state.trace);
    state.cursor = at_step(*state.trace, k);
    state.step_age = 0;
    leave_cell(state);
    return true;
}

// The kernel on the numbers that the walk has just shown: the page's larger problem is a key away.
void compare_example(AppState& state) {
    ComparePage& page = compare_page(state);
    page.own = true, page.beside = state.problem;
    CompareForm form;
    form.device = state.compare.device;
    form.i = form.j = 0, form.row = start_page(state).row;
    form.from = 0;  // the number that its card has told is the one farthest from fp64
    std::ranges::copy(state.compare.path, form.path);
    state.compare = form;
}

}  // namespace

std::span<const Moment> moments() { return table; }

const Moment* moment_of(const KeyPress& press) {
    const auto its = [&](const Moment& moment) {
        return moment.press.key == press.key && press.alt && !press.ctrl && !press.shift;
    };
    const auto found = std::ranges::find_if(table, its);
    return found == std::end(table) ? nullptr : &*found;
}

int step_of(const Moment& moment, const Trace& trace) {
    int k = 0;
    while (k < trace.size() && !corrects(trace, k)) ++k;
    while (k < trace.size() && trace.step(k).op != moment.op) ++k;
    return k < trace.size() ? k : 0;
}

void go_to_moment(AppState& state, const Moment& moment) {
    if (moment.example[0]) {
        if (!show_walk_of(state, moment)) return;
    } else if (state.page != moment.page) {
        remember_departure(state, state, state.problem);
    }
    state.player.playing = false;
    state.blank = false;
    state.edit.reset();
    state.inspection.reset();
    show_side(state, false, false);
    state.page = moment.page;
    if (moment.N) state.memory.N = moment.N, state.memory.trips = MemoryForm{}.trips;
    if (moment.page == Page::compare) compare_example(state);
}

std::vector<Shortcut> moment_keys() {
    std::vector<Shortcut> out;
    for (const Moment& moment : table) out.push_back({"Moments", moment.keys, moment.action, {moment.press}});
    return out;
}

}  // namespace tilewalk::ui

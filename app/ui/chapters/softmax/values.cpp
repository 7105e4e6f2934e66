// Running values: what the loop holds after each element, from the trace of the lesson that is shown.
#include "app/ui/chapters/softmax/parts.h"
#include "app/ui/parts/running_plot.h"

#include <cmath>

namespace tilewalk::ui {

namespace {

// Where each element updates the maximum, the sum and the output.
struct Steps {
    std::vector<int> load, max, sum, out;
};
Steps steps_of(const Trace& trace) {
    const std::size_t N = static_cast<std::size_t>(trace.problem().N_kv());
    Steps out{std::vector<int>(N, -1), std::vector<int>(N, -1), std::vector<int>(N, -1),
              std::vector<int>(N, -1)};
    for (int k = 0; k < trace.size(); ++k) {
        const Step& step = trace.step(k);
        if (step.j < 0) continue;
        const std::size_t j = static_cast<std::size_t>(step.j);
        if (step.op == Op::load_x) out.load[j] = out.load[j] < 0 ? k : out.load[j];
        if (step.op == Op::new_max) out.max[j] = k;
        if (step.op == Op::row_sum) out.sum[j] = k;
        if (step.op == Op::output) out.out[j] = k;
    }
    return out;
}

bool keeps_average(const SoftmaxWalk& walk) {
    return walk.form == SoftmaxForm::one_pass && walk.trace.problem().options.normalised;
}

PlotColumn column_at(const SoftmaxWalk& walk, int j, int made, Slot slot, int col) {
    PlotColumn out;
    out.label = "i = " + str(j);
    out.brief = str(j);
    out.there = made <= walk.k;
    out.now = walk.step().j == j && walk.trace.step(made).phase == walk.step().phase;
    out.value = walk.trace.live(slot, made).value->data(0, col);
    out.before = walk.trace.live(slot, made - 1).value->data(0, col);
    out.score = walk.number(Slot::S, made);
    out.masked = std::isinf(out.score);
    const Held alpha = walk.trace.live(Slot::alpha, made);
    if (alpha && walk.trace.step(alpha.step).j == j &&
        walk.trace.step(alpha.step).phase == walk.trace.step(made).phase)
        out.alpha = alpha.value->data(0, 0);
    out.kept = slot == Slot::l || slot == Slot::Oi ? out.alpha * out.before : out.before;
    // An average keeps its share: (d′_old / d′) α of it.
    if (slot == Slot::Oi && keeps_average(walk)) {
        const Held sum = walk.trace.live(Slot::l, made);
        const double now = sum.value->data(0, 0);
        out.kept *= now == 0 ? 0 : walk.number(Slot::l, sum.step - 1) / now;
    }
    return out;
}

// One of the three plots, as far as it has room.
RunningPlot running(const AppState& state, const SoftmaxWalk& walk, const Steps& steps, int which, float w) {
    const ElementWindow view = window_around(walk.element(), walk.N(), most_columns(w));
    const bool brief = w < 300;
    Line out = softmax_out(walk.letters, "");
    if (walk.trace.problem().d() > 1) out.push_back(word("[" + str(state.softmax.component) + "]"));
    RunningPlot plots[] = {
        {softmax_max(""), brief ? "max" : "running max", Role::m},
        {softmax_sum(walk.letters, ""), brief ? "sum" : "running sum", Role::l, "new weight"},
        {std::move(out), brief ? "output" : "running output", Role::O, "new value"}};
    const std::vector<int>* made[] = {&steps.max, &steps.sum, &steps.out};
    static constexpr Slot slots[] = {Slot::m, Slot::l, Slot::Oi};
    for (int j = view.first; j < view.first + view.count; ++j)
        plots[which].columns.push_back(column_at(walk, j, (*made[which])[static_cast<std::size_t>(j)],
                                                 slots[which], which == 2 ? state.softmax.component : 0));
    plots[which].digits = &walk.trace.digits(slots[which]);
    plots[which].average = which == 2 && keeps_average(walk);
    return plots[which];
}

}  // namespace

void softmax_values(const Canvas& c, AppState& state, const Rect& a) {
    const SoftmaxWalk walk = softmax_walk(state);
    const Steps steps = steps_of(walk.trace);
    // The textbook's way has no maximum to show.
    const int first = walk.form == SoftmaxForm::dense ? 1 : 0;
    const float gap = 28, w = (a.w - px(2 - first) * gap) / px(3 - first);
    for (int n = first; n < 3; ++n)
        running_plot(c, {a.x + px(n - first) * (w + gap), a.y, w, a.h}, running(state, walk, steps, n, w));
}

void softmax_running(const Canvas& c, AppState& state, int which, const Rect& a) {
    const SoftmaxWalk walk = softmax_walk(state);
    running_plot(c, a, running(state, walk, steps_of(walk.trace), which, a.w));
}

}  // namespace tilewalk::ui

// How m, ℓ and O of one query row grow, and where they are rescaled.
#include "app/ui/parts/lens_parts.h"
#include "app/ui/parts/running_plot.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/quiz.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

// The chosen query row, and the component of O that is shown.
struct Chosen {
    int i, row, col;
};
Chosen chosen(const AppState& state) {
    const Problem& p = *state.problem;
    const int i = std::max(0, step_now(state).i), top = i * p.Br;
    const int rows = std::min(p.Br, p.N() - top);
    const CellRef target = state.explanation.target;
    const bool of_output = target.slot == Slot::Oi || target.slot == Slot::O;
    return {i, top + std::clamp(state.row, 0, rows - 1),
            std::clamp(of_output ? target.col : state.col, 0, p.d() - 1)};
}

// The nth value of a slot that step k read, at one cell; `otherwise` if it did not read it.
double read_at(const Trace& trace, int k, Slot slot, int nth, int row, int col, double otherwise) {
    const Value* read = value_in(trace, trace.reads(k), slot, nth);
    return read ? value_at(*read, {slot, row, col}) : otherwise;
}
double written_at(const Trace& trace, int k, Slot slot, int row, int col) {
    return value_at(*value_in(trace, trace.writes(k), slot), {slot, row, col});
}

struct Evolution {
    std::vector<PlotColumn> max, sum, out;
    bool average = false;  // O is divided by ℓ at every step
};

// Fills in what one step of the row's query block says about key tile j.
void note(Evolution& e, const Trace& trace, int k, const Chosen& at) {
    const Step& step = trace.step(k);
    const std::size_t j = static_cast<std::size_t>(step.j);
    PlotColumn &max = e.max[j], &sum = e.sum[j], &out = e.out[j];
    switch (step.op) {
    case Op::skip: max.skipped = sum.skipped = out.skipped = true; return;
    case Op::new_max:
        max.before = read_at(trace, k, Slot::m, 0, at.row, 0, -INFINITY);
        max.value = written_at(trace, k, Slot::m, at.row, 0);
        max.score = read_at(trace, k, Slot::m_tile, 0, at.row, 0, max.value);
        max.masked = sum.masked = out.masked = std::isinf(max.score);
        return;
    case Op::correction:
        max.alpha = sum.alpha = out.alpha = written_at(trace, k, Slot::alpha, at.row, 0);
        return;
    case Op::row_sum:
        sum.before = read_at(trace, k, Slot::l, 0, at.row, 0, 0);
        sum.value = written_at(trace, k, Slot::l, at.row, 0);
        sum.kept = sum.alpha * sum.before;
        return;
    case Op::output: {
        out.before = read_at(trace, k, Slot::Oi, 0, at.row, at.col, 0);
        out.value = written_at(trace, k, Slot::Oi, at.row, at.col);
        // The first version keeps O normalised: what was there keeps a share of the average.
        const double l_old = read_at(trace, k, Slot::l, 0, at.row, 0, 1),
                     l_new = read_at(trace, k, Slot::l, 1, at.row, 0, 1);
        e.average = std::ranges::any_of(trace.reads(k), [](const Access& a) { return a.slot == Slot::l; });
        out.kept = out.alpha * out.before * (l_new == 0 ? 0 : l_old / l_new);
        return;
    }
    default: return;
    }
}

Evolution evolution_of(const AppState& state, const Chosen& at) {
    const Trace& trace = *state.trace;
    const int now = state.cursor.step, Tc = state.problem->Tc();
    Evolution e;
    for (auto* columns : {&e.max, &e.sum, &e.out})
        for (int j = 0; j < Tc; ++j) {
            PlotColumn column;
            column.label = "tile " + str(j);
            column.brief = str(j);
            column.now = trace.step(now).i == at.i && trace.step(now).j == j;
            columns->push_back(column);
        }
    for (int k = 0; k < trace.size(); ++k) {
        const Step& step = trace.step(k);
        if (step.i != at.i || step.j < 0) continue;
        if (k > now && step.op == Op::skip && hides_what_comes(state)) continue;
        note(e, trace, k, at);
        const std::size_t j = static_cast<std::size_t>(step.j);
        if (k > now) continue;
        if (step.op == Op::new_max) e.max[j].there = true;
        if (step.op == Op::row_sum) e.sum[j].there = true;
        if (step.op == Op::output) e.out[j].there = true;
    }
    return e;
}

}  // namespace

bool has_evolution(const Lesson& lesson) {
    return lesson.division != Division::none && !lesson.uses(chooses_sequences);
}

void evolution_view(const Canvas& c, const AppState& state, const Rect& a) {
    const Chosen at = chosen(state);
    const Evolution all = evolution_of(state, at);
    const float gap = 22, w = (a.w - 2 * gap) / 3;
    // Around the current tile, if not all of them fit.
    const int Tc = static_cast<int>(all.max.size()), count = std::min(Tc, most_columns(w));
    const int first = std::clamp(step_now(state).j - count / 2, 0, Tc - count);
    const auto part = [&](const std::vector<PlotColumn>& columns) {
        return std::vector<PlotColumn>(columns.begin() + first, columns.begin() + first + count);
    };
    const auto indexed = [&](Slot slot, bool component) {
        Line line = slot_symbol(slot);
        const std::string index = "[" + str(at.row) + (component ? "," + str(at.col) : "") + "]";
        line.push_back(word(index));
        return line;
    };
    const auto digits = [&](Slot slot) { return &state.trace->digits(slot); };
    const RunningPlot plots[] = {
        {indexed(Slot::m, false), "max", Role::m, "", part(all.max), digits(Slot::m)},
        {indexed(Slot::l, false), "sum", Role::l, "new", part(all.sum), digits(Slot::l)},
        {indexed(Slot::Oi, true), "output", Role::O, "new", part(all.out), digits(Slot::Oi), all.average},
    };
    for (int n = 0; n < 3; ++n) running_plot(c, {a.x + px(n) * (w + gap), a.y, w, a.h}, plots[n]);
}

}  // namespace tilewalk::ui

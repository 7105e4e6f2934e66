// The lens of the backward pass: what the current step does, drawn to scale for the chosen rows.
#include "app/ui/chapters/backward/backward.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/lens_parts.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/motion.h"
#include "core/base/numbers.h"
#include "core/lessons/shared/faults.h"
#include "core/walk/explain.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

// A gradient that grows: the sum so far, then what this tile adds.
Stack gradient_stack(const Around& a) {
    Stack out = stack_of(*cell_sum(a.trace, a.k, a.row, a.col));
    out.symbol = a.op() == Op::dv ? Slot::dVj : a.op() == Op::dk ? Slot::dKj : Slot::dQi;
    return out;
}

const Value& live(const Around& a, Slot slot) { return *a.trace.live(slot, a.k).value; }

std::vector<CurvePoint> weight_points(const Around& a) {
    const double L = Around::at(a.read(Slot::Li), a.row, 0);
    const bool left_out = std::isinf(L) || fault_caption(*a.state.problem, Op::recompute);
    return row_points(a, a.read(Slot::S), live(a, Slot::Prob), left_out ? 0 : L);
}

// Without L, or with rounded scores.
bool off_the_curve(const Around& a) { return a.op() == Op::recompute && off_the_curve(weight_points(a)); }

// What is left of the scores, after softcap, bias or mask; and what is left of their gradient.
bool as_scores(Op op) { return op == Op::softcap || op == Op::bias || op == Op::mask; }
bool as_bars(Op op) { return as_scores(op) || op == Op::cap_gradient; }

std::vector<Bar> bars_of(const Around& a) {
    return row_bars(a, live(a, a.op() == Op::cap_gradient ? Slot::dS
                               : as_scores(a.op())        ? Slot::S
                                                          : Slot::Prob));
}

bool as_stack(Op op) { return op == Op::dv || op == Op::dq || op == Op::dk; }
bool as_dot(Op op) { return op == Op::scores || op == Op::dp || op == Op::preprocess; }

const char* caption(Op op) {
    switch (op) {
    case Op::preprocess: return "one dot product per query: the mean of dP, before any dP is known";
    case Op::init: return "the sums before any tile";
    case Op::scores: return "the same dot product as in the forward pass";
    case Op::softcap: return "the scores of this row, bent below the cap";
    case Op::bias: return "the scores of this row, less what their distance costs";
    case Op::sink_gradient: return "what each query adds: −exp(sink − L) D";
    case Op::cap_gradient: return "what the slope of the softcap leaves of each gradient";
    case Op::mask: return "what is left of this row's scores";
    case Op::recompute: return "distance to L, on the curve exp(x): final weights at once";
    case Op::dv: return "the sum so far, then weight × dO of each query";
    case Op::dp: return "how far the value points along dO";
    case Op::ds: return "width P × height (dP − D) = area dS; over a whole row the areas cancel to 0";
    case Op::dq: return "the sum so far, then dS × K of each key";
    case Op::dk: return "the sum so far, then dS × Q of each query";
    default: return "";
    }
}

// No area of this step stands on the line: no number needs room above it.
bool only_hangs(const AppState& state) {
    const Around row(state, state.explanation.target.row, state.explanation.target.col);
    const Value& dS = row.written();
    if (!dS.region.contains(row.row, row.col)) return false;
    return (dS.data.row(row.row - dS.region.row).array() <= 0).all();
}

void draw_sink_gradient(const Canvas& c, const AppState& state, const Rect& pane) {
    const Trace& trace = *state.trace;
    const double sink = value_in(trace, trace.reads(state.cursor.step), Slot::sink)->data(0, 0);
    const Matrix L = trace.result(Slot::L), D = trace.result(Slot::D);
    std::vector<Bar> list;
    for (int r = 0; r < state.problem->N(); ++r)
        list.push_back({index_label(*state.problem, "q", r), -std::exp(sink - L(r, 0)) * D(r, 0), Role::S});
    bars(c, pane, list, false, extent(list), phase(state));
}

constexpr float least_row_h = 130;

// In place of bars, which would be one alone, its factors.
bool draws_product(const AppState& state, const Rect& a) {
    if (!as_stack(op_now(state)) || !drawable(state)) return false;
    const LensRows all = lens_rows(state, a, least_row_h);
    if (all.rows.empty()) return false;
    const Around& row = all.rows.front();
    return single_product(row, *cell_sum(row.trace, row.k, row.row, row.col)).has_value();
}

void draw_rows(const Canvas& c, const AppState& state, const Rect& a, const Rect& inner) {
    const Op op = op_now(state);
    const float now = phase(state);
    const LensRows all = lens_rows(state, a, least_row_h);
    Extent scale;
    for (const Around& row : all.rows) {
        if (as_stack(op)) scale = join(scale, extent(gradient_stack(row)));
        if (as_bars(op) || off_the_curve(row)) scale = join(scale, extent(bars_of(row)));
    }
    const char* product = op == Op::dv ? "v" : op == Op::dk ? "k" : "q";
    // A table names its rows itself.
    const auto single = [](const Around& row) {
        return single_product(row, *cell_sum(row.trace, row.k, row.row, row.col));
    };
    const bool table = as_dot(op) || (as_stack(op) && !all.rows.empty() && single(all.rows.front()));
    draw_lens_rows(c, all, inner, far_type() && table ? "" : product,
                   [&](const Around& row, const Rect& pane) {
                       if (as_stack(op)) {
                           if (const auto product_of = single(row)) return dot(c, pane, *product_of, now);
                           return stack(c, pane, gradient_stack(row), scale, now);
                       }
                       if (as_dot(op)) return dot(c, pane, product_dot(row), now);
                       if (as_bars(op) || off_the_curve(row))
                           return bars(c, pane, bars_of(row), false, scale, now);
                       if (op == Op::recompute) return curve(c, pane, weight_points(row), now);
                       if (op == Op::ds) return draw_areas(c, pane, row);
                   });
}

}  // namespace

void backward_lens(const Canvas& c, AppState& state, const Rect& a) {
    const PanelPart part(c, "Lens", a);
    c.well(a.x, a.y, a.w, a.h);
    const Op op = op_now(state);
    // What a sink takes is missing in the areas, too. Weights of a broken row do not sum to 1, so its areas
    // need not cancel.
    const bool cancels = op != Op::ds || (!state.truth && !state.problem->logits.sink);
    const char* broken = fault_caption(*state.problem, op);
    const char* const areas = "width P × height (dP − D) = area dS";
    const bool whole = op != Op::ds || text_width(Face::regular, size::body, caption(op)) < a.inner_w() - 130;
    const bool product = draws_product(state, a);
    Rect inner = lens_title(c, a,
                            about_bytes(op)    ? bytes_caption(op)
                            : broken           ? broken
                            : product          ? "the sum so far is 0, one product is left"
                            : cancels && whole ? caption(op)
                                               : areas,
                            product ? "This step, term by term" : "This step, to scale");
    if (op == Op::ds) inner = below_axes_of_areas(c, inner, only_hangs(state) ? 70 : 90);
    if (about_bytes(op))
        traffic_bars(c, state, inner);
    else if (op == Op::init)
        draw_start_values(c, state, inner);
    else if (op == Op::sink_gradient)
        draw_sink_gradient(c, state, inner);
    else
        drawable(state) ? draw_rows(c, state, a, inner) : no_scale(c, inner);
}

}  // namespace tilewalk::ui

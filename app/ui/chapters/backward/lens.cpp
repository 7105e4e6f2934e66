// The lens of the backward pass: what the current step does, drawn to scale for the chosen rows.
#include "app/ui/chapters/backward/backward.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/areas.h"
#include "app/ui/parts/lens_parts.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/motion.h"
#include "core/base/numbers.h"
#include "core/lessons/shared/faults.h"
#include "core/problem/precision.h"
#include "core/walk/explain.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

// ---- The score gradient of one query

// All keys of the row in their order, each from the step of its own tile.
std::vector<Area> areas_of(const AppState& state, int row) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step, i = trace.step(k).i;
    std::vector<Area> out(static_cast<std::size_t>(state.problem->N_kv()), {0, 0, 0, Area::When::after});
    for (int s = 0; s < trace.size(); ++s) {
        if (trace.step(s).op != Op::ds || trace.step(s).i != i) continue;
        const Value &P = *trace.live(Slot::Prob, s).value, &dP = *trace.live(Slot::dP, s).value,
                    &dS = *trace.live(Slot::dS, s).value;
        const double D = trace.live(Slot::Di, s).value->data(row - P.region.row, 0);
        for (int c = 0; c < P.region.cols; ++c) {
            const int r = row - P.region.row;
            out[static_cast<std::size_t>(P.region.col + c)] = {P.data(r, c), dP.data(r, c) - D, dS.data(r, c),
                                                               s < k    ? Area::When::before
                                                               : s == k ? Area::When::now
                                                                        : Area::When::after};
        }
    }
    return out;
}

void areas(const Canvas& c, const AppState& state, const Rect& pane, int row) {
    const int chosen = state.explanation.target.row == row ? state.explanation.target.col : -1;
    areas(c, *state.problem, pane, areas_of(state, row), chosen, row);
}

// ---- The other steps

Dot dot_of_step(const Around& a) {
    if (a.op() == Op::preprocess) {
        Dot out = dot_of(a.read(Slot::dO), a.row, a.read(Slot::O), a.row);
        out.q_name = "dO", out.k_name = "O";
        out.total = Around::at(*a.trace.live(Slot::D, a.trace.step(a.k).i, a.k).value, a.row, 0);
        out.q_role = out.k_role = Role::O, out.product_role = Role::alpha;
        return out;
    }
    const bool scores = a.op() == Op::scores;
    Dot out =
        dot_of(a.read(scores ? Slot::Qi : Slot::dOi), a.row, a.read(scores ? Slot::Kj : Slot::Vj), a.col);
    out.q_name = scores ? index_label(*a.state.problem, "q", a.row) : "dO";
    out.k_name = index_label(*a.state.problem, scores ? "k" : "v", a.col);
    out.scale = scores ? a.state.problem->softmax_scale() : 1;
    out.total = a.now(scores ? Slot::S : Slot::dP);
    if (!scores) out.q_role = Role::O, out.k_role = Role::V;
    return out;
}

// A gradient that grows: the sum so far, then what this tile adds.
Stack stack_of(const Around& a) {
    const Slot chip = a.op() == Op::dv ? Slot::dVj : a.op() == Op::dk ? Slot::dKj : Slot::dQi;
    const Value& weights = a.read(a.op() == Op::dv ? Slot::Prob : Slot::dS);
    const Value& other = a.read(a.op() == Op::dv ? Slot::dOi : a.op() == Op::dk ? Slot::Qi : Slot::Kj);
    const double scale = a.op() == Op::dv ? 1 : a.state.problem->softmax_scale();
    Stack out{.symbol = chip};
    out.parts.push_back({0, info(chip).role});
    double added = 0;
    const Format cast = operand_format(a.state.problem->precision);
    const bool down = a.op() != Op::dq;  // a column of P or dS; for dQ a row of dS
    const int count = down ? weights.region.rows : weights.region.cols;
    for (int n = 0; n < count; ++n) {
        const double w = down ? Around::at(weights, weights.region.row + n, a.row)
                              : Around::at(weights, a.row, weights.region.col + n);
        const double term = scale * round_to(cast, w) * Around::at(other, other.region.row + n, a.col);
        out.parts.push_back({term, info(chip).role});
        added += term;
    }
    out.total = a.now(chip);
    out.parts[0].value = out.total - added;
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

// What starts at 0, and where it will grow.
void draw_start(const Canvas& c, const AppState& state, const Rect& pane) {
    const auto writes = state.trace->writes(state.cursor.step);
    std::vector<Slot> slots;
    for (const Access& a : writes)
        if (std::ranges::find(slots, a.slot) == slots.end()) slots.push_back(a.slot);
    const float w = pane.w / px(slots.size());
    for (std::size_t n = 0; n < slots.size(); ++n) {
        const float x = pane.x + (px(n) + .5f) * w, mid = pane.y + pane.h * .36f;
        c.rich(x, mid, pieces(slot_symbol(slots[n]), "  =  ", number("0")), 18, Align::center);
        const char* words = info(slots[n]).hbm ? "grows in HBM" : "grows on chip";
        if (text_width(Face::regular, size::body, words) <= w - 12)
            c.text(x, mid + 28, words, size::body, c.theme->t2, Align::center);
    }
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

void draw_rows(const Canvas& c, const AppState& state, const Rect& a, const Rect& inner) {
    const Op op = op_now(state);
    const float now = phase(state);
    const LensRows all = lens_rows(state, a, 130);
    Extent scale;
    for (const Around& row : all.rows) {
        if (as_stack(op)) scale = join(scale, extent(stack_of(row)));
        if (as_bars(op) || off_the_curve(row)) scale = join(scale, extent(bars_of(row)));
    }
    const char* product = op == Op::dv ? "v" : op == Op::dk ? "k" : "q";
    draw_lens_rows(c, all, inner, product, [&](const Around& row, const Rect& pane) {
        if (as_stack(op)) return stack(c, pane, stack_of(row), scale, now);
        if (as_dot(op)) return dot(c, pane, dot_of_step(row), now);
        if (as_bars(op) || off_the_curve(row)) return bars(c, pane, bars_of(row), false, scale, now);
        if (op == Op::recompute) return curve(c, pane, weight_points(row), now);
        if (op == Op::ds) return areas(c, state, pane, row.row);
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
    Rect inner = lens_title(c, a,
                            about_bytes(op)    ? bytes_caption(op)
                            : broken           ? broken
                            : cancels && whole ? caption(op)
                                               : areas);
    if (op == Op::ds) inner = below_axes_of_areas(c, inner);
    if (about_bytes(op))
        traffic_bars(c, state, inner);
    else if (op == Op::init)
        draw_start(c, state, inner);
    else if (op == Op::sink_gradient)
        draw_sink_gradient(c, state, inner);
    else
        drawable(state) ? draw_rows(c, state, a, inner) : no_scale(c, inner);
}

}  // namespace tilewalk::ui

// The lens of the backward pass: what the current step does, drawn to scale for the chosen rows.
#include "app/ui/chapters/backward/backward.h"
#include "app/ui/chapters/forward/lens_parts.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"
#include "core/lessons/shared/faults.h"
#include "core/walk/explain.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

// Row r of A against row c of B, term by term.
Dot dot_of(const Value& A, int r, const Value& B, int c) {
    Dot out;
    for (int x = 0; x < A.region.cols; ++x) {
        out.q.push_back(Around::at(A, r, x));
        out.k.push_back(Around::at(B, c, x));
    }
    return out;
}

Dot dot_of(const Around& a) {
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
    out.q_name = scores ? index_label("q", a.row) : "dO";
    out.k_name = index_label(scores ? "k" : "v", a.col);
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
        out.parts.push_back({term, Role::S});
        added += term;
    }
    out.total = a.now(chip);
    out.parts[0].value = out.total - added;
    return out;
}

const Value& live(const Around& a, Slot slot) { return *a.trace.live(slot, a.k).value; }

std::vector<CurvePoint> weight_points(const Around& a) {
    const double L = Around::at(a.read(Slot::Li), a.row, 0);
    const bool left_out = std::isinf(L) || a.state.problem->switches.no_lse;
    return row_points(a, a.read(Slot::S), live(a, Slot::Prob), left_out ? 0 : L);
}

// Without L, or with rounded scores.
bool off_the_curve(const Around& a) { return a.op() == Op::recompute && off_the_curve(weight_points(a)); }

std::vector<Bar> bars_of(const Around& a) {
    return row_bars(a, live(a, a.op() == Op::mask ? Slot::S : Slot::Prob));
}

bool as_stack(Op op) { return op == Op::dv || op == Op::dq || op == Op::dk; }
bool as_dot(Op op) { return op == Op::scores || op == Op::dp || op == Op::preprocess; }

const char* caption(Op op) {
    switch (op) {
    case Op::preprocess: return "one dot product per query: the mean of dP, before any dP is known";
    case Op::init: return "the sums before any tile";
    case Op::scores: return "the same dot product as in the forward pass";
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
        c.text_within(x, mid + 28, w - 12, info(slots[n]).hbm ? "grows in HBM" : "grows on chip", size::body,
                      c.theme->t2, Face::regular, Align::center);
    }
}

void draw_rows(const Canvas& c, const AppState& state, const Rect& a, const Rect& inner) {
    const Op op = op_now(state);
    const LensRows all = lens_rows(state, a, 130);
    Extent scale;
    for (const Around& row : all.rows) {
        if (as_stack(op)) scale = join(scale, extent(stack_of(row)));
        if (op == Op::mask || off_the_curve(row)) scale = join(scale, extent(bars_of(row)));
    }
    const char* letter = op == Op::dv ? "v" : op == Op::dk ? "k" : "q";
    draw_lens_rows(c, all, inner, letter, [&](const Around& row, const Rect& pane) {
        if (as_stack(op)) return stack(c, pane, stack_of(row), scale);
        if (as_dot(op)) return dot(c, pane, dot_of(row));
        if (op == Op::mask || off_the_curve(row)) return bars(c, pane, bars_of(row), false, scale);
        if (op == Op::recompute) return curve(c, pane, weight_points(row));
        if (op == Op::ds) return areas(c, state, pane, row.row);
    });
}

}  // namespace

void backward_lens(const Canvas& c, AppState& state, const Rect& a) {
    begin_region(c, "Lens", a);
    c.well(a.x, a.y, a.w, a.h);
    const Op op = op_now(state);
    // Weights of a broken row do not sum to 1, so its areas need not cancel.
    const bool cancels = op != Op::ds || !state.truth;
    const Rect inner = lens_title(c, a,
                                  about_bytes(op) ? bytes_caption(op)
                                  : op == Op::recompute && state.problem->switches.no_lse
                                      ? "exp of the scores themselves, without L"
                                  : cancels ? caption(op)
                                            : "width P × height (dP − D) = area dS");
    if (about_bytes(op))
        traffic_bars(c, state, inner);
    else if (op == Op::init)
        draw_start(c, state, inner);
    else
        drawable(state) ? draw_rows(c, state, a, inner) : no_scale(c, inner);
    end_panel(c);
}

}  // namespace tilewalk::ui

// The lens of the backward pass: what the current step does, drawn to scale for the chosen rows.
#include "app/ui/chapters/backward/areas.h"
#include "app/ui/chapters/backward/view.h"
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

// The stored values around one row (and column) of what the step writes.
struct Around {
    const AppState& state;
    int row, col;  // of the whole matrix
    int k = state.cursor.step;
    const Trace& trace = *state.trace;

    Op op() const { return trace.step(k).op; }
    const Value& read(Slot slot) const {
        for (const Access& a : trace.reads(k))
            if (a.slot == slot) return trace.value(a.value);
        return *trace.live(slot, k).value;
    }
    double now(Slot slot) const { return at(*trace.live(slot, k).value, row, col); }
    static double at(const Value& v, int r, int c) { return v.data(r - v.region.row, c - v.region.col); }
};

std::string index_label(const char* letter, int n) {
    return plain({word(letter), {std::to_string(n), Role::none, Span::Face::text, Span::Script::sub}});
}

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

std::vector<Bar> mask_bars(const Around& a) {
    const Value& S = *a.trace.live(Slot::S, a.k).value;
    std::vector<Bar> out;
    for (int c = 0; c < S.region.cols; ++c)
        out.push_back({index_label("k", S.region.col + c), S.data(a.row - S.region.row, c), Role::S});
    return out;
}

std::vector<CurvePoint> weight_points(const Around& a) {
    const Value& S = a.read(Slot::S);
    const double L = Around::at(a.read(Slot::Li), a.row, 0),
                 base = std::isinf(L) || a.state.problem->switches.no_lse ? 0 : L;
    const Value& P = *a.trace.live(Slot::Prob, a.k).value;
    std::vector<CurvePoint> out;
    for (int c = 0; c < S.region.cols; ++c)
        out.push_back({S.data(a.row - S.region.row, c) - base, index_label("k", S.region.col + c), Role::S,
                       P.data(a.row - P.region.row, c)});
    return out;
}

// Without L, or with rounded scores, weights may rise above 1: off the curve.
bool off_the_curve(const Around& a) {
    return a.op() == Op::recompute &&
           std::ranges::any_of(weight_points(a), [](const CurvePoint& p) { return p.x > 0; });
}

std::vector<Bar> weight_bars(const Around& a) {
    const Value& P = *a.trace.live(Slot::Prob, a.k).value;
    std::vector<Bar> out;
    for (int c = 0; c < P.region.cols; ++c)
        out.push_back({index_label("k", P.region.col + c), P.data(a.row - P.region.row, c), Role::S});
    return out;
}

bool as_stack(Op op) { return op == Op::dv || op == Op::dq || op == Op::dk; }
bool as_dot(Op op) { return op == Op::scores || op == Op::dp || op == Op::preprocess; }

const char* caption(Op op) {
    switch (op) {
    case Op::preprocess: return "one dot product per query: the mean of dP, before any dP is known";
    case Op::load_q:
    case Op::load_kv: return "bytes that this load moves, against the whole run";
    case Op::store: return "bytes that this store moves, against the whole run";
    case Op::skip: return "a masked tile moves nothing";
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

void draw_bytes(const Canvas& c, const AppState& state, const Rect& pane) {
    traffic_bars(c, state, pane, state.lesson->standard(*state.problem).total());
}

// What starts at 0, and where it will grow.
void draw_start(const Canvas& c, const AppState& state, const Rect& pane) {
    const auto writes = state.trace->writes(state.cursor.step);
    std::vector<Slot> slots;
    for (const Access& a : writes)
        if (std::ranges::find(slots, a.slot) == slots.end()) slots.push_back(a.slot);
    const float w = pane.w / static_cast<float>(slots.size());
    for (std::size_t n = 0; n < slots.size(); ++n) {
        const float x = pane.x + (static_cast<float>(n) + .5f) * w, mid = pane.y + pane.h * .36f;
        Line line = slot_symbol(slots[n]);
        line.push_back(word("  =  "));
        line.push_back({"0", Role::none, Span::Face::number});
        c.rich(x, mid, line, 18, Align::center);
        c.text_within(x, mid + 28, w - 12, info(slots[n]).hbm ? "grows in HBM" : "grows on chip", 14,
                      c.theme->t2, Face::regular, Align::center);
    }
}

// The rows that are drawn: two of a tile of two rows side by side, otherwise the chosen one.
std::vector<Around> rows_of(const AppState& state, const Rect& a) {
    const Region tile = step_region(*state.trace, state.cursor.step);
    const CellRef chosen = state.explanation.target;
    const bool both = tile.rows == 2 && a.w >= 700 && a.h >= 130;
    std::vector<Around> rows;
    for (int n = 0; n < (both ? std::min(2, state.cursor.done) : 1); ++n)
        rows.push_back({state, both ? tile.row + n : chosen.row, chosen.col});
    return rows;
}

void draw_row(const Canvas& c, const Around& a, const Rect& pane, Extent scale) {
    const Op op = a.op();
    if (as_stack(op)) return stack(c, pane, stack_of(a), scale);
    if (as_dot(op)) return dot(c, pane, dot_of(a));
    if (op == Op::mask) return bars(c, pane, mask_bars(a), false, scale);
    if (off_the_curve(a)) return bars(c, pane, weight_bars(a), false, scale);
    if (op == Op::recompute) return curve(c, pane, weight_points(a));
    if (op == Op::ds) return areas(c, a.state, pane, a.row);
}

void draw_rows(const Canvas& c, const AppState& state, const Rect& a, const Rect& inner) {
    const Op op = state.trace->step(state.cursor.step).op;
    const std::vector<Around> rows = rows_of(state, a);
    const bool two = step_region(*state.trace, state.cursor.step).rows == 2 && a.w >= 700 && a.h >= 130;
    Extent scale;
    for (const Around& row : rows) {
        if (as_stack(op)) scale = join(scale, extent(stack_of(row)));
        if (op == Op::mask) scale = join(scale, extent(mask_bars(row)));
        if (off_the_curve(row)) scale = join(scale, extent(weight_bars(row)));
    }
    const char* letter = op == Op::dv ? "v" : op == Op::dk ? "k" : "q";
    const float half = inner.w / (two ? 2 : 1);
    for (std::size_t n = 0; n < rows.size(); ++n) {
        const Rect pane{inner.x + static_cast<float>(n) * half + 40, inner.y, half - 60, inner.h};
        const float y = pane.y + pane.h * .45f;
        const float w = c.text(pane.x - 36, y, letter, 15, c.theme->t2, Face::italic);
        c.text(pane.x - 36 + w, y + 4, std::to_string(rows[n].row), 13, c.theme->t2);
        draw_row(c, rows[n], pane, scale);
    }
}

}  // namespace

void backward_lens(const Canvas& c, AppState& state, const Rect& a) {
    begin_region(c, "Lens", a.x, a.y, a.w, a.h);
    c.well(a.x, a.y, a.w, a.h);
    const Op op = state.trace->step(state.cursor.step).op;
    const float title_y = a.y + (a.h < 110 ? 16 : 22);
    const float w = c.text(a.x + 16, title_y, "This step, to scale", 14, 0, Face::semibold);
    // Weights of a broken row do not sum to 1, so its areas need not cancel.
    const bool cancels = op != Op::ds || !state.truth;
    lens_caption(c, a.x + 26 + w, title_y, a.w - w - 42,
                 op == Op::recompute && state.problem->switches.no_lse
                     ? "exp of the scores themselves, without L"
                 : cancels ? caption(op)
                           : "width P × height (dP − D) = area dS");
    const Rect inner{a.x + 16, title_y + 16, a.w - 32, a.bottom() - title_y - 24};
    const bool bytes = is_load(op) || is_store(op) || op == Op::skip;
    if (bytes)
        draw_bytes(c, state, inner);
    else if (op == Op::init)
        draw_start(c, state, inner);
    else if (!drawable(state))
        no_scale(c, inner);
    else
        draw_rows(c, state, a, inner);
    end_panel(c);
}

}  // namespace tilewalk::ui

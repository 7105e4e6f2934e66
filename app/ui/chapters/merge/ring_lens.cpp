// The lens of the ring on stage: the step to scale, for the query and the key that the formula is about. The
// rows of what a rank has on chip count from 0; positions in the sequence give them their names.
#include "app/ui/chapters/merge/merge.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/areas.h"
#include "app/ui/parts/lens_parts.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/motion.h"
#include "core/lessons/ring/ring.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace tilewalk::ui {

namespace {

struct RingStep {
    explicit RingStep(const AppState& of) : state(of) {
        const CellRef cell = state.explanation.target;
        for (const Access& a : trace.writes(k)) {
            const Region& at = trace.value(a.value).region;
            if (a.slot != cell.slot || !at.contains(cell.row, cell.col)) continue;
            made = &trace.value(a.value), row = cell.row - at.row, col = cell.col - at.col;
        }
        if (!made && !trace.writes(k).empty()) made = &trace.value(trace.writes(k).front().value);
    }
    const AppState& state;
    const Trace& trace = *state.trace;
    int k = state.cursor.step;
    Ring ring{trace.problem()};
    const Value* made = nullptr;
    int row = 0, col = 0;  // of what is made

    const Step& step() const { return trace.step(k); }
    const Matrix* read(Slot slot) const {
        const Value* value = value_in(trace, trace.reads(k), slot);
        return value ? &value->data : nullptr;
    }
    double total() const { return made->data(row, col); }
    std::string query(int r) const { return name("q", ring.queries_of(step().when.worker).positions, r); }
    std::string key(int c) const { return name("k", ring.keys_of(step().j).positions, c); }
    std::string name(const char* letter, const std::vector<int>& positions, int n) const {
        return index_label(trace.problem(), letter, positions[static_cast<std::size_t>(n)]);
    }
};

Dot dot_of_rows(const Matrix& A, int r, const Matrix& B, int c) {
    Dot out;
    for (Eigen::Index x = 0; x < A.cols(); ++x) out.q.push_back(A(r, x)), out.k.push_back(B(c, x));
    return out;
}

void draw_ring_dot(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    const bool scores = s.step().op == Op::scores;
    Dot one = dot_of_rows(*s.read(scores ? Slot::Qi : Slot::dOi), s.row,
                          *s.read(scores ? Slot::Kj : Slot::Vj), s.col);
    one.q_name = scores ? s.query(s.row) : "dO", one.k_name = s.key(s.col);
    one.scale = scores ? s.trace.problem().softmax_scale() : 1;
    if (!scores) one.q_role = Role::O, one.k_role = Role::V;
    one.total = s.total();
    dot(c, a, one, phase);
}

// The scores of the query, and what a step has left of them.
void draw_ring_bars(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    std::vector<Bar> list;
    const Matrix* before = s.read(Slot::S);
    for (int n = 0; n < s.made->region.cols; ++n) {
        list.push_back({s.key(n), s.made->data(s.row, n), Role::S});
        if (before) list.back().before = (*before)(s.row, n);
    }
    bars(c, a, list, false, extent(list), phase);
}

// exp(S − m) or exp(S − L), key by key.
void draw_weights_of_keys(const Canvas& c, const RingStep& s, const Rect& a, double base, float phase) {
    const Matrix& S = *s.read(Slot::S);
    std::vector<CurvePoint> points;
    for (int n = 0; n < S.cols(); ++n) {
        points.push_back({S(s.row, n) - (std::isinf(base) ? 0 : base), s.key(n), Role::S});
        points.back().chosen = s.made->region.cols == S.cols() && n == s.col;
    }
    if (!off_the_curve(points)) curve(c, a, points, phase);
}

void draw_ring_areas(const Canvas& c, const RingStep& s, const Rect& pane, float) {
    const Rect a = below_axes_of_areas(c, pane);
    const Matrix &P = *s.read(Slot::Prob), &dP = *s.read(Slot::dP);
    const double D = (*s.read(Slot::Di))(s.row, 0);
    const std::vector<int>& positions = s.ring.keys_of(s.step().j).positions;
    std::vector<Area> list(static_cast<std::size_t>(s.trace.problem().N_kv()), {0, 0, 0, Area::When::after});
    for (int n = 0; n < P.cols(); ++n)
        list[static_cast<std::size_t>(positions[static_cast<std::size_t>(n)])] = {
            P(s.row, n), dP(s.row, n) - D, s.made->data(s.row, n), Area::When::now};
    const int query = s.ring.queries_of(s.step().when.worker).positions[static_cast<std::size_t>(s.row)];
    areas(c, s.trace.problem(), a, list, positions[static_cast<std::size_t>(s.col)], query);
}

// ---- Sums: Σ aₙ bₙ, behind what was there

Stack sum_of_terms(const RingStep& s, Slot slot, int count, const std::function<double(int)>& term) {
    Stack out{.symbol = slot};
    out.total = s.total();
    const Matrix* before = s.read(s.state.explanation.target.slot);
    if (before && (*before)(s.row, s.col) != 0)
        out.parts.push_back({(*before)(s.row, s.col), info(slot).role});
    for (int n = 0; n < count; ++n) out.parts.push_back({term(n), info(slot).role});
    return out;
}

Stack gradient(const RingStep& s) {
    const Op op = s.step().op;
    const Matrix &weights = *s.read(op == Op::dv ? Slot::Prob : Slot::dS),
                 &other = *s.read(op == Op::dv   ? Slot::dOi
                                  : op == Op::dk ? Slot::Qi
                                                 : Slot::Kj);
    const bool down = op != Op::dq;  // a column of P or dS; for dQ a row of dS
    const double scale = op == Op::dv ? 1 : s.trace.problem().softmax_scale();
    const auto term = [&](int n) {
        return scale * (down ? weights(n, s.row) : weights(s.row, n)) * other(n, s.col);
    };
    // A rank adds a share.
    const Slot slot = op == Op::dv ? Slot::dV_part : op == Op::dk ? Slot::dK_part : Slot::dQi;
    return sum_of_terms(s, slot, static_cast<int>(down ? weights.rows() : weights.cols()), term);
}

// What was found before shrinks to its weight, then comes what this round has found.
Stack merged(const RingStep& s, bool sums) {
    const auto reads = s.trace.reads(s.k);
    const auto number = [&](std::size_t n, int col) {
        return s.trace.value(reads[n].value).data(s.row, col);
    };
    Stack out{.symbol = sums ? Slot::l : Slot::Oi, .has_old = true};
    out.old = number(1, s.col), out.alpha = number(0, 0), out.total = s.total();
    for (std::size_t n = 0; n + 1 < reads.size(); n += 2)
        out.parts.push_back({number(n, 0) * number(n + 1, s.col), info(out.symbol).role});
    return out;
}

void draw_ring_stack(const Canvas& c, const RingStep& s, const Rect& a, Stack out, float phase) {
    out.formula = &s.state.explanation;
    stack(c, a, out, extent(out), phase);
}

// ---- Maxima of both parts, and how far they are from the common one

void draw_both_maxima(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    std::vector<Bar> list;
    for (const Access& part : s.trace.reads(s.k))
        list.push_back({plain(slot_symbol(s.trace, part.slot, s.k, part.tile)),
                        s.trace.value(part.value).data(s.row, 0), Role::m});
    bars(c, a, list, true, extent(list), phase);
}

void draw_factors(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    const auto reads = s.trace.reads(s.k);
    const double to = s.trace.value(reads.front().value).data(s.row, 0);
    std::vector<CurvePoint> points;
    for (const Access& part : s.trace.writes(s.k)) {
        const auto from =
            std::ranges::find_if(reads.subspan(1), [&](const Access& r) { return r.tile == part.tile; });
        if (from == reads.end()) continue;
        const double m = s.trace.value(from->value).data(s.row, 0);
        const std::string name = plain(slot_symbol(s.trace, part.slot, s.k, part.tile));
        points.insert(points.begin(), {m - (std::isinf(to) ? 0 : to), name, Role::alpha,
                                       s.trace.value(part.value).data(s.row, 0)});
        points.front().chosen =
            s.state.explanation.target.slot == part.slot && s.made == &s.trace.value(part.value);
    }
    curve(c, a, points, phase);
}

void draw_part(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    const Value* m = value_in(s.trace, s.trace.writes(s.k), Slot::m_part);
    if (!m) m = value_in(s.trace, s.trace.writes(s.k), Slot::m);
    draw_weights_of_keys(c, s, a, m->data(s.row, 0), phase);
}

void draw_recomputed(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    draw_weights_of_keys(c, s, a, (*s.read(Slot::Li))(s.row, 0), phase);
}

void draw_merged(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    draw_ring_stack(c, s, a, merged(s, s.step().op == Op::merge_sum), phase);
}

void draw_divided(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    const double l = (*s.read(Slot::l))(s.row, 0);
    if (l == 0) return no_scale(c, a);
    Stack out{.symbol = Slot::Oi, .has_old = true, .old = (*s.read(Slot::Oi))(s.row, s.col), .divisor = l};
    out.total = s.total();
    out.parts.push_back({out.total, Role::O});
    draw_ring_stack(c, s, a, out, phase);
}

void draw_gradient(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    draw_ring_stack(c, s, a, gradient(s), phase);
}

constexpr struct {
    Op op;
    void (*draw)(const Canvas&, const RingStep&, const Rect&, float phase);
} drawings[] = {
    {Op::scores, draw_ring_dot},      {Op::dp, draw_ring_dot},           {Op::softcap, draw_ring_bars},
    {Op::bias, draw_ring_bars},       {Op::mask, draw_ring_bars},        {Op::part, draw_part},
    {Op::recompute, draw_recomputed}, {Op::merge_max, draw_both_maxima}, {Op::merge_weights, draw_factors},
    {Op::merge_sum, draw_merged},     {Op::merge_output, draw_merged},   {Op::normalize, draw_divided},
    {Op::ds, draw_ring_areas},        {Op::dv, draw_gradient},           {Op::dq, draw_gradient},
    {Op::dk, draw_gradient},
};

auto drawing_of(Op op) {
    return std::ranges::find(drawings, op, [](const auto& one) { return one.op; });
}

}  // namespace

bool has_ring_lens(Op op) { return drawing_of(op) != std::end(drawings); }

void ring_lens(const Canvas& c, AppState& state, const Rect& a) {
    const PanelPart part(c, "Lens", a);
    c.well(a.x, a.y, a.w, a.h);
    const Rect inner = lens_title(c, a, "");
    if (!drawable(state)) return no_scale(c, inner);
    if (const auto drawing = drawing_of(op_now(state)); drawing != std::end(drawings))
        drawing->draw(c, RingStep(state), inner, phase(state));
}

}  // namespace tilewalk::ui

// The lens of the ring on stage: the step to scale, for the query and the key that the formula is about. The
// rows of what a rank has on chip count from 0; positions in the sequence give them their names.
#include "app/ui/chapters/merge/merge.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/lens_parts.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/motion.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

// The cell that the formula is about, of the matrix that the step makes.
struct RingStep : Around {
    explicit RingStep(const AppState& of)
        : Around(of, of.explanation.target.row, of.explanation.target.col), made(made_now()) {}
    const Value* made;

    const Value* made_now() const {
        const CellRef cell = state.explanation.target;
        for (const Access& a : trace.writes(k))
            if (a.slot == cell.slot && trace.value(a.value).region.contains(cell.row, cell.col))
                return &trace.value(a.value);
        return &written();
    }
    // In the matrices that the step reads: partial results have their own places in a table.
    int r() const { return std::clamp(row - made->region.row, 0, made->region.rows - 1); }
    int c() const { return std::clamp(col - made->region.col, 0, made->region.cols - 1); }
    double total() const { return made->data(r(), c()); }
};

void draw_ring_dot(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    dot(c, a, product_dot(s), phase);
}

// The scores of the query, and what a step has left of them.
void draw_ring_bars(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    const std::vector<Bar> list = changed_bars(s);
    bars(c, a, list, false, extent(list), phase);
}

// exp(S − m) or exp(S − L), key by key.
void draw_weights_of_keys(const Canvas& c, const RingStep& s, const Rect& a, double base, float phase) {
    const Matrix& S = s.read(Slot::S).data;
    // With the decimals of what is made of them: the weights themselves, or their sum.
    const auto writes = s.trace.writes(s.k);
    const auto sum = std::ranges::find_if(
        writes, [](const Access& one) { return one.slot == Slot::l || one.slot == Slot::l_part; });
    const Slot made = sum == writes.end() ? writes.front().slot : sum->slot;
    std::vector<CurvePoint> points;
    for (int n = 0; n < S.cols(); ++n) {
        points.push_back({S(s.r(), n) - (std::isinf(base) ? 0 : base), s.name("k", n), Role::S});
        points.back().chosen = s.made->region.cols == S.cols() && n == s.c();
        points.back().digits = &s.trace.digits(made);
    }
    if (const Value* sink = value_in(s.trace, s.trace.reads(s.k), Slot::sink))
        points.push_back({sink->data(0, 0) - (std::isinf(base) ? 0 : base), "sink", Role::S});
    if (!off_the_curve(points)) curve(c, a, points, phase);
}

void draw_ring_areas(const Canvas& c, const RingStep& s, const Rect& pane, float) {
    draw_areas(c, below_axes_of_areas(c, pane), s);
}

// ---- Sums: behind what was there

// A rank adds a share.
Stack gradient(const RingStep& s, const CellSum& sum) {
    Stack out = stack_of(sum);
    const Op op = s.op();
    out.symbol = op == Op::dv ? Slot::dV_part : op == Op::dk ? Slot::dK_part : Slot::dQi;
    return out;
}

// What was found before shrinks to its weight, then comes what this round has found.
Stack merged(const RingStep& s, bool sums) {
    const auto reads = s.trace.reads(s.k);
    const auto number = [&](std::size_t n, int col) {
        return s.trace.value(reads[n].value).data(s.r(), col);
    };
    Stack out{.symbol = sums ? Slot::l : Slot::Oi, .has_old = true, .shrinks_by = info(Slot::w_part).role};
    out.old = number(1, s.c()), out.alpha = number(0, 0), out.total = s.total();
    for (std::size_t n = 0; n + 1 < reads.size(); n += 2)
        out.parts.push_back({number(n, 0) * number(n + 1, s.c()), info(out.symbol).role});
    return out;
}

void draw_ring_stack(const Canvas& c, const RingStep& s, const Rect& a, Stack out, float phase,
                     Extent scale = {}) {
    out.formula = &s.state.explanation;
    stack(c, a, out, join(scale, extent(out)), phase);
}

// ---- Maxima of both parts, and how far they are from the common one

// A part is called by the rank whose keys it is of; what all rounds before have come to has no index.
std::optional<std::string> rank_of_part(const RingStep& s, const Access& part) {
    const Line symbol = slot_symbol(s.trace, part.slot, s.k, part.tile);
    if (symbol.empty() || symbol.back().script != Span::Script::sub) return {};
    return symbol.back().text;
}
std::string part_name(const RingStep& s, const Access& part) {
    const auto rank = rank_of_part(s, part);
    return rank ? "rank " + *rank : "so far";
}

void draw_both_maxima(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    std::vector<Bar> list;
    for (const Access& part : s.trace.reads(s.k)) {
        std::string name = part_name(s, part);  // a rank has a maximum for each, its own is another
        if (rank_of_part(s, part)) name += "'s keys";
        list.push_back({std::move(name), s.trace.value(part.value).data(s.r(), 0), Role::m});
        list.back().digits = &s.trace.digits(part.slot);
    }
    bars(c, a, list, true, extent(list), phase);
}

void draw_factors(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    const auto reads = s.trace.reads(s.k);
    const double to = s.trace.value(reads.front().value).data(s.r(), 0);
    std::vector<CurvePoint> points;
    for (const Access& part : s.trace.writes(s.k)) {
        const auto from =
            std::ranges::find_if(reads.subspan(1), [&](const Access& r) { return r.tile == part.tile; });
        if (from == reads.end()) continue;
        const double m = s.trace.value(from->value).data(s.r(), 0);
        points.insert(points.begin(), {m - (std::isinf(to) ? 0 : to), part_name(s, part),
                                       info(part.slot).role, s.trace.value(part.value).data(s.r(), 0)});
        points.front().digits = &s.trace.digits(part.slot);
        points.front().chosen =
            s.state.explanation.target.slot == part.slot && s.made == &s.trace.value(part.value);
    }
    curve(c, a, points, phase);
}

void draw_part(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    const Value* m = value_in(s.trace, s.trace.writes(s.k), Slot::m_part);
    if (!m) m = value_in(s.trace, s.trace.writes(s.k), Slot::m);
    draw_weights_of_keys(c, s, a, m->data(s.r(), 0), phase);
}

void draw_recomputed(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    draw_weights_of_keys(c, s, a, s.read(Slot::Li).data(s.r(), 0), phase);
}

void draw_merged(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    draw_ring_stack(c, s, a, merged(s, s.op() == Op::merge_sum), phase);
}

void draw_divided(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    const double l = s.read(Slot::l).data(s.r(), 0);
    if (l == 0) return no_scale(c, a);
    const Stack out = division_stack(s.trace.problem(), s.read(Slot::Oi).data(s.r(), s.c()), l, s.total());
    draw_ring_stack(c, s, a, out, phase, extent_of_rows(s.read(Slot::Oi), *s.made, s.r()));
}

void draw_gradient(const Canvas& c, const RingStep& s, const Rect& a, float phase) {
    const CellSum sum = *cell_sum(s.trace, s.k, s.row, s.col);
    if (auto single = single_product(s, sum)) {
        const Line& result = s.state.explanation.result;  // "ΔV[2,0]", a share: no dV
        if (result.size() > 2) single->name = Line(result.begin(), result.end() - 2);
        return dot(c, a, *single, phase);
    }
    draw_ring_stack(c, s, a, gradient(s, sum), phase);
}

void draw_ring_start(const Canvas& c, const RingStep& s, const Rect& a, float) {
    draw_start_values(c, s.state, a);
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
    {Op::dk, draw_gradient},          {Op::init, draw_ring_start},
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

// The lens: what the current step does, drawn to scale for the chosen row.
#include "app/ui/chapters/forward/forward.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/lens_parts.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/motion.h"
#include "core/base/numbers.h"
#include "core/lessons/shared/faults.h"
#include "core/walk/compare.h"

#include <cmath>
#include <map>
#include <set>

namespace tilewalk::ui {

Stack row_sum_stack(const Around& a) {
    const Value& P = a.read(Slot::P);
    const double alpha = Around::at(a.read(Slot::alpha), a.row, 0),
                 old = Around::at(a.read(Slot::l), a.row, 0);
    Stack out{.symbol = Slot::l, .has_old = true, .old = old, .alpha = alpha, .added = slot_symbol(Slot::P)};
    out.parts.push_back({alpha * old, Role::l});
    for (int c = 0; c < P.region.cols; ++c) out.parts.push_back({P.data(a.row - P.region.row, c), Role::S});
    out.total = Around::at(a.written(), a.row, 0);
    return out;
}

Stack output_stack(const Around& a) {
    CellSum sum = *cell_sum(a.trace, a.k, a.row, a.col);
    // FlashAttention-1 divides in every tile: O is normalised before and after.
    if (sum.divisor == 0 || fault_caption(*a.state.problem, Op::normalize)) sum.divisor = 1;
    Stack out = stack_of(sum);
    out.has_old = true, out.old = sum.before, out.alpha = sum.shrinks / sum.divisor;
    return out;
}

Stack normalize_stack(const Around& a) {
    return division_stack(*a.state.problem, Around::at(a.read(Slot::Oi), a.row, a.col),
                          Around::at(a.read(Slot::l), a.row, 0), Around::at(a.written(), a.row, a.col));
}

namespace {

std::vector<Bar> max_bars(const Around& a) {
    std::vector<Bar> out{{"m so far", Around::at(a.read(Slot::m), a.row, 0), Role::m},
                         {"m̃ of tile", Around::at(a.read(Slot::m_tile), a.row, 0), Role::m}};
    for (Bar& bar : out) bar.digits = &a.trace.digits(Slot::m);
    return out;
}

std::vector<CurvePoint> correction_points(const Around& a) {
    const double old = Around::at(a.read(Slot::m, 0), a.row, 0),
                 now = Around::at(a.read(Slot::m, 1), a.row, 0);
    const double base = std::isinf(now) ? 0 : now;
    return {{old - base, "α", Role::alpha, Around::at(a.written(), a.row, 0),
             fault_caption(*a.state.problem, Op::correction) != nullptr}};
}

// The scores of the row in the tiles before, each once.
Correction correction_of(const Around& a) {
    Correction out{Around::at(a.read(Slot::m, 0), a.row, 0), Around::at(a.read(Slot::m, 1), a.row, 0),
                   Around::at(a.written(), a.row, 0)};
    out.digits = &a.trace.digits(Slot::alpha);
    const Step& now = a.trace.step(a.k);
    std::map<int, const Value*> tiles;
    for (int k = 0; k < a.k; ++k)
        if (a.trace.step(k).i == now.i && a.trace.step(k).j != now.j)
            if (const Value* S = value_in(a.trace, a.trace.writes(k), Slot::S)) tiles[a.trace.step(k).j] = S;
    std::set<double> scores;
    for (const auto& [j, S] : tiles)
        for (int c = 0; c < S->region.cols; ++c) scores.insert(S->data(a.row - S->region.row, c));
    out.scores.assign(scores.begin(), scores.end());
    return out;
}

// On stage the curve before and the curve after; what a fault has made stands beside one curve.
void draw_correction(const Canvas& c, const Around& row, const Rect& pane, float phase) {
    const bool broken = fault_caption(*row.state.problem, Op::correction) != nullptr;
    if (far_type() && !broken && correction_curves(c, pane, correction_of(row), phase)) return;
    curve(c, pane, correction_points(row), phase);
}

std::vector<CurvePoint> weight_points(const Around& a) {
    const double now = Around::at(a.read(Slot::m), a.row, 0);
    return row_points(a, a.read(Slot::S), a.written(), std::isinf(now) ? 0 : now);
}

// Without the maximum, or with an old one, exponents rise above 0.
bool off_the_curve(const Around& a) { return a.op() == Op::exponentials && off_the_curve(weight_points(a)); }

const char* caption(const AppState& state) {
    const Op op = op_now(state);
    if (const char* broken = fault_caption(*state.problem, op)) return broken;
    if (about_bytes(op)) return bytes_caption(op);
    const bool uncorrected = fault_caption(*state.problem, Op::correction) != nullptr;
    switch (op) {
    case Op::init: return "the state before any key is seen";
    case Op::scores: return "multiply pair by pair, then add up: one score";
    case Op::softcap: return "the scores of this row, bent below the cap";
    case Op::bias: return "the scores of this row, less what their distance costs";
    case Op::mask: return "what is left of this row's scores";
    case Op::tile_max: return "the largest score of the row in this tile";
    case Op::new_max:
        return saved_in(*state.trace).lazy
                   ? "the larger of the two becomes the maximum if it is so by more than τ"
                   : "the larger of the two becomes the maximum";
    case Op::correction: return "how far the maximum rose, on the curve exp(x)";
    case Op::exponentials:
        return saved_in(*state.trace).lazy ? "the weights of this row, measured from m"
                                           : "distance to the maximum, on the curve exp(x)";
    case Op::row_sum:
        return uncorrected ? "keep the old sum as it is, then append the new weights"
                           : "shrink the old sum, then append the new weights";
    case Op::output:
        return uncorrected ? "keep the old output as it is, then append the weighted values"
                           : "shrink the old output, then append the weighted values";
    case Op::normalize:
        return state.problem->logits.sink ? "one division: the sink has a share, but no value"
                                          : "one division turns the sum into an average";
    default: return "";
    }
}

Stack stack_of(const Around& a) {
    const Op op = a.op();
    Stack out = op == Op::row_sum  ? row_sum_stack(a)
                : op == Op::output ? output_stack(a)
                                   : normalize_stack(a);
    out.formula = &a.state.explanation;
    return out;
}

// What is left of the scores, after softcap, bias or mask.
bool as_scores(Op op) { return op == Op::softcap || op == Op::bias || op == Op::mask; }

std::vector<Bar> bars_of(const Around& a) {
    const Op op = a.op();
    if (op == Op::new_max) return max_bars(a);
    if (as_scores(op)) return changed_bars(a);
    return row_bars(a, op == Op::tile_max ? a.read(Slot::S) : a.written());
}

bool as_stack(Op op) { return op == Op::row_sum || op == Op::output || op == Op::normalize; }
bool as_bars(Op op) { return as_scores(op) || op == Op::tile_max || op == Op::new_max; }

// One scale for all rows that are shown.
void draw_rows(const Canvas& c, const AppState& state, const Rect& a, const Rect& inner) {
    const LensRows all = lens_rows(state, a, 150);
    const Op op = op_now(state);
    const float now = phase(state);
    Extent scale;
    for (const Around& row : all.rows) {
        if (as_stack(op)) scale = join(scale, extent(stack_of(row)));
        if (op == Op::normalize)
            scale = join(
                scale, extent_of_rows(row.read(Slot::Oi), row.written(), row.row - row.written().region.row));
        if (as_bars(op) || off_the_curve(row)) scale = join(scale, extent(bars_of(row)));
    }
    const auto single = [op](const Around& row) -> std::optional<Dot> {
        if (op != Op::output) return {};
        return single_product(row, *cell_sum(row.trace, row.k, row.row, row.col));
    };
    const bool table =  // it names its rows itself
        far_type() && (op == Op::scores || (!all.rows.empty() && single(all.rows.front())));
    draw_lens_rows(c, all, inner, table ? "" : "q", [&](const Around& row, const Rect& pane) {
        if (const auto product = single(row)) return dot(c, pane, *product, now);
        if (as_stack(op)) return stack(c, pane, stack_of(row), scale, now);
        if (as_bars(op)) return bars(c, pane, bars_of(row), !as_scores(op), scale, now);
        if (op == Op::scores) return dot(c, pane, product_dot(row), now);
        if (off_the_curve(row)) return bars(c, pane, bars_of(row), false, scale, now);
        if (op == Op::correction) return draw_correction(c, row, pane, now);
        if (op == Op::exponentials) return curve(c, pane, weight_points(row), now);
    });
}

}  // namespace

// The lens shows this step, or the chosen row over all tiles. Returns the width of the switch; 0: none.
static float evolution_choice(const Canvas& c, AppState& state, const Rect& a, float reserved) {
    if (!has_evolution(*state.lesson) || a.h < 116 || far_type()) return 0;
    const bool brief = a.w - reserved < 620;
    std::vector<std::string> labels = {"This step", "Row over tiles"};
    if (brief) labels = {"Step", "Row"};
    const float w = segmented_width(labels, size::small);
    if (a.w - reserved - w < 190) return 0;
    int chosen = state.row_over_tiles;
    if (segmented(c, "##lens", a.right() - 10 - reserved - w, a.y + space::control_top, labels, chosen,
                  size::small))
        state.row_over_tiles = chosen == 1;
    return w;
}

void lens_view(const Canvas& c, AppState& state, const Rect& a) { lens_view(c, state, a, 0); }

// Where a tour speaks of it.
static bool proof_view(const Canvas& c, const AppState& state, const Rect& a) {
    if (!proves_split(state)) return false;
    const PanelPart part(c, "Proof", a);
    c.well(a.x, a.y, a.w, a.h);
    constexpr float titled = 170;  // a lower one is a table alone
    const bool alone = far_type() || a.h < titled;
    const Rect inner = alone ? a : lens_title(c, a, "cut in two, and at once", "The proof", 0);
    draw_split_proof(c, state, {inner.x + 10, inner.y + 4, inner.w - 20, inner.h - 8});
    return true;
}

void lens_view(const Canvas& c, AppState& state, const Rect& a, float reserved) {
    if (proof_view(c, state, a)) return;
    const PanelPart part(c, "Lens", a);
    c.well(a.x, a.y, a.w, a.h);
    const float choice = evolution_choice(c, state, a, reserved);
    const bool over_tiles = choice > 0 && state.row_over_tiles;
    if (choice > 0) reserved += choice + 12;
    const Rect inner =
        over_tiles ? lens_title(c, a, "dashed line: rescaled by α", "One row over the tiles", reserved)
                   : lens_title(c, a, caption(state), "This step, to scale", reserved);
    const Op op = op_now(state);
    if (over_tiles) {
        const bool lost = state.comparison && next_lost(*state.comparison, -1) >= 0;
        lost ? no_scale(c, inner) : evolution_view(c, state, inner);
    } else if (about_bytes(op)) {
        traffic_bars(c, state, inner);
    } else if (op == Op::init) {
        draw_start_values(c, state, inner);
    } else {
        drawable(state) ? draw_rows(c, state, a, inner) : no_scale(c, inner);
    }
}

}  // namespace tilewalk::ui

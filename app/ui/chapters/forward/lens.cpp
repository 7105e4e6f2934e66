// The lens: what the current step does, drawn to scale for the chosen row.
#include "app/ui/chapters/forward/evolution.h"
#include "app/ui/chapters/forward/lens_parts.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/views.h"
#include "core/base/numbers.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/shared/memory_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewalk::ui {

namespace {

// The stored values around one row (and column) of the current step.
struct Around {
    const AppState& state;
    int k = state.cursor.step;
    const Trace& trace = *state.trace;
    int row = 0;  // of the whole matrix
    int col = 0;  // of the whole matrix

    const Value& read(Slot slot, int nth = 0) const {
        for (const Access& a : trace.reads(k))
            if (a.slot == slot && nth-- == 0) return trace.value(a.value);
        return *trace.live(slot, k).value;
    }
    const Value& written() const { return trace.value(trace.writes(k).front().value); }
    static double at(const Value& v, int r, int c) { return v.data(r - v.region.row, c - v.region.col); }
};

// "k₂"
Line slot_index(const char* letter, int n) {
    return {word(letter), {std::to_string(n), Role::none, Span::Face::text, Span::Script::sub}};
}
std::string key_label(int key) { return plain(slot_index("k", key)); }
std::string query_label(int row) { return plain(slot_index("q", row)); }

Stack row_sum_stack(const Around& a) {
    const Value& P = a.read(Slot::P);
    const double alpha = Around::at(a.read(Slot::alpha), a.row, 0),
                 old = Around::at(a.read(Slot::l), a.row, 0);
    Stack out{.symbol = Slot::l, .has_old = true, .old = old, .alpha = alpha};
    out.parts.push_back({alpha * old, Role::l});
    for (int c = 0; c < P.region.cols; ++c) out.parts.push_back({P.data(a.row - P.region.row, c), Role::S});
    out.total = Around::at(a.written(), a.row, 0);
    return out;
}

Stack output_stack(const Around& a) {
    const Value &P = a.read(Slot::P), &V = a.read(Slot::Vj);
    const double old = Around::at(a.read(Slot::Oi), a.row, a.col);
    double alpha = Around::at(a.read(Slot::alpha), a.row, 0), share = 1;
    if (a.trace.live(Slot::l_hbm, 0, a.k)) {  // FlashAttention-1: O is normalised before and after
        const double l_old = Around::at(a.read(Slot::l, 0), a.row, 0),
                     l = Around::at(a.read(Slot::l, 1), a.row, 0);
        share = l == 0 || a.state.problem->switches.no_division ? 1 : 1 / l;
        alpha *= l_old * share;
    }
    Stack out{.symbol = Slot::Oi, .has_old = true, .old = old, .alpha = alpha};
    out.parts.push_back({alpha * old, Role::O});
    const Format cast = operand_format(a.state.problem->precision);
    for (int c = 0; c < P.region.cols; ++c) {
        const double weight = round_to(cast, P.data(a.row - P.region.row, c));
        out.parts.push_back({share * weight * V.data(c, a.col - V.region.col), Role::V});
    }
    out.total = Around::at(a.written(), a.row, a.col);
    return out;
}

Dot scores_dot(const Around& a) {
    const Value &Q = a.read(Slot::Qi), &K = a.read(Slot::Kj);
    Dot out;
    out.q_name = query_label(a.row);
    out.k_name = key_label(a.col);
    out.scale = a.state.problem->softmax_scale();
    for (int c = 0; c < Q.region.cols; ++c) {
        out.q.push_back(Around::at(Q, a.row, c));
        out.k.push_back(Around::at(K, a.col, c));
    }
    out.total = Around::at(a.written(), a.row, a.col);
    return out;
}

Stack normalize_stack(const Around& a) {
    const double old = Around::at(a.read(Slot::Oi), a.row, a.col), l = Around::at(a.read(Slot::l), a.row, 0);
    const bool divides = l != 0 && !a.state.problem->switches.no_division;
    Stack out{.symbol = Slot::Oi,
              .has_old = true,
              .old = old,
              .alpha = divides ? 1 / l : 1,
              .divisor = divides ? l : 0};
    out.total = Around::at(a.written(), a.row, a.col);
    out.parts.push_back({out.total, Role::O});
    return out;
}

std::vector<Bar> score_bars(const Around& a, const Value& S) {
    std::vector<Bar> bars;
    for (int c = 0; c < S.region.cols; ++c)
        bars.push_back({key_label(S.region.col + c), S.data(a.row - S.region.row, c), Role::S});
    return bars;
}

std::vector<Bar> max_bars(const Around& a) {
    return {{"m so far", Around::at(a.read(Slot::m), a.row, 0), Role::m},
            {"m̃ of tile", Around::at(a.read(Slot::m_tile), a.row, 0), Role::m}};
}

std::vector<CurvePoint> correction_points(const Around& a) {
    const double old = Around::at(a.read(Slot::m, 0), a.row, 0),
                 now = Around::at(a.read(Slot::m, 1), a.row, 0);
    const double base = std::isinf(now) ? 0 : now;
    return {{old - base, "α", Role::alpha, Around::at(a.written(), a.row, 0),
             a.state.problem->switches.no_correction}};
}

std::vector<CurvePoint> weight_points(const Around& a) {
    const Value &S = a.read(Slot::S), &m = a.read(Slot::m);
    const double now = Around::at(m, a.row, 0), base = std::isinf(now) ? 0 : now;
    std::vector<CurvePoint> points;
    const Value& P = a.written();
    for (int c = 0; c < S.region.cols; ++c)
        points.push_back({S.data(a.row - S.region.row, c) - base, key_label(S.region.col + c), Role::S,
                          P.data(a.row - P.region.row, c)});
    return points;
}

// Without the maximum, or with an old one, exponents rise above 0 and the weights above 1: off the curve.
bool off_the_curve(const Around& a) {
    return a.trace.step(a.k).op == Op::exponentials &&
           std::ranges::any_of(weight_points(a), [](const CurvePoint& p) { return p.x > 0; });
}

// What a fault makes of a step; null where it does what it should.
const char* broken_caption(const AppState& state) {
    const Switches& off = state.problem->switches;
    const Op op = state.trace->step(state.cursor.step).op;
    if (!state.truth) return nullptr;
    if (op == Op::exponentials && off.no_max) return "exp of the scores themselves: no weight is bounded";
    if (op == Op::exponentials && off.stale_max) return "measured from the maximum of before this tile";
    if (op == Op::new_max && off.no_max) return "the maximum is left out: m stays 0";
    if (op == Op::correction && off.no_correction)
        return "the correction is left out: the old sums keep their base";
    if (op == Op::normalize && off.no_division) return "the division is left out";
    return nullptr;
}

const char* caption(const AppState& state) {
    if (const char* broken = broken_caption(state)) return broken;
    switch (state.trace->step(state.cursor.step).op) {
    case Op::load_q:
    case Op::load_state:
    case Op::load_kv: return "bytes that this load moves, against the whole run";
    case Op::store_state:
    case Op::store: return "bytes that this store moves, against the whole run";
    case Op::skip: return "a masked tile moves nothing";
    case Op::init: return "the state before any key is seen";
    case Op::scores: return "multiply pair by pair, then add up: one score";
    case Op::mask: return "what is left of this row's scores";
    case Op::tile_max: return "the largest score of the row in this tile";
    case Op::new_max: return "the larger of the two becomes the maximum";
    case Op::correction: return "how far the maximum rose, on the curve exp(x)";
    case Op::exponentials: return "distance to the maximum, on the curve exp(x)";
    case Op::row_sum: return "shrink the old sum, then append the new weights";
    case Op::output: return "shrink the old output, then append the weighted values";
    case Op::normalize: return "one division turns the sum into an average";
    default: return "";
    }
}

Stack stack_of(const Around& a) {
    const Op op = a.trace.step(a.k).op;
    return op == Op::row_sum ? row_sum_stack(a) : op == Op::output ? output_stack(a) : normalize_stack(a);
}

std::vector<Bar> bars_of(const Around& a) {
    const Op op = a.trace.step(a.k).op;
    if (op == Op::exponentials) return score_bars(a, a.written());
    return op == Op::new_max ? max_bars(a) : score_bars(a, op == Op::mask ? a.written() : a.read(Slot::S));
}

bool as_stack(Op op) { return op == Op::row_sum || op == Op::output || op == Op::normalize; }
bool as_bars(Op op) { return op == Op::mask || op == Op::tile_max || op == Op::new_max; }

// One scale for all rows that are shown.
Extent scale_of(const std::vector<Around>& rows) {
    Extent all;
    for (const Around& a : rows) {
        const Op op = a.trace.step(a.k).op;
        if (as_stack(op)) all = join(all, extent(stack_of(a)));
        if (as_bars(op) || off_the_curve(a)) all = join(all, extent(bars_of(a)));
    }
    return all;
}

void draw_row(const Canvas& c, const Around& a, const Rect& pane, Extent scale) {
    const Op op = a.trace.step(a.k).op;
    if (as_stack(op)) return stack(c, pane, stack_of(a), scale);
    if (as_bars(op)) return bars(c, pane, bars_of(a), op != Op::mask, scale);
    if (op == Op::scores) return dot(c, pane, scores_dot(a));
    if (off_the_curve(a)) return bars(c, pane, bars_of(a), false, scale);
    if (op == Op::correction) return curve(c, pane, correction_points(a));
    if (op == Op::exponentials) return curve(c, pane, weight_points(a));
}

bool about_bytes(Op op) { return is_load(op) || is_store(op) || op == Op::skip; }

void draw_bytes(const Canvas& c, const AppState& state, const Rect& pane) {
    traffic_bars(c, state, pane, standard_forward_model(*state.problem).total());
}

void draw_start(const Canvas& c, const AppState& state, const Rect& pane) {
    const bool no_max = state.problem->switches.no_max;
    const struct {
        Slot slot;
        const char* value;
        const char* words;
    } cards[] = {{Slot::m, no_max ? "0" : "−∞", no_max ? "and it stays 0" : "any score is larger"},
                 {Slot::l, "0", "no weight yet"},
                 {Slot::Oi, "0", "nothing collected"}};
    const float w = (pane.w - 32) / 3;
    for (int n = 0; n < 3; ++n) {
        const float x = pane.x + static_cast<float>(n) * (w + 16), mid = pane.y + pane.h * .36f;
        Line line = slot_symbol(cards[n].slot);
        line.push_back(word("  =  "));
        line.push_back({cards[n].value, Role::none, Span::Face::number});
        c.rich(x + w / 2, mid, line, 18, Align::center);
        c.text_within(x + w / 2, mid + 28, w, cards[n].words, 14, c.theme->t2, Face::regular, Align::center);
    }
}

}  // namespace

// The lens shows this step, or the chosen row over all tiles. Returns the width of the switch, 0 if there is
// none.
static float evolution_choice(const Canvas& c, AppState& state, const Rect& a, float reserved) {
    if (!has_evolution(*state.lesson) || a.h < 116) return 0;
    const bool brief = a.w - reserved < 620;
    const std::vector<std::string> labels = brief ? std::vector<std::string>{"Step", "Row"}
                                                  : std::vector<std::string>{"This step", "Row over tiles"};
    const float w = segmented_width(labels, 13);
    if (a.w - reserved - w < 190) return 0;
    int chosen = state.row_over_tiles;
    if (segmented(c, "##lens", a.right() - 10 - reserved - w, a.y + 6, labels, chosen, 13))
        state.row_over_tiles = chosen == 1;
    return w;
}

void lens_view(const Canvas& c, AppState& state, const Rect& a) { lens_view(c, state, a, 0); }

void lens_view(const Canvas& c, AppState& state, const Rect& a, float reserved) {
    begin_region(c, "Lens", a.x, a.y, a.w, a.h);
    c.well(a.x, a.y, a.w, a.h);
    const Op op = state.trace->step(state.cursor.step).op;
    const float title_y = a.y + (a.h < 110 ? 16 : 22);
    const float choice = evolution_choice(c, state, a, reserved);
    const bool over_tiles = choice > 0 && state.row_over_tiles;
    if (choice > 0) reserved += choice + 12;
    const float w =
        c.text_within(a.x + 16, title_y, a.w - 32 - reserved,
                      over_tiles ? "One row over the tiles" : "This step, to scale", 14, 0, Face::semibold);
    lens_caption(c, a.x + 26 + w, title_y, a.w - w - 42 - reserved,
                 over_tiles ? "dashed line: rescaled by α" : caption(state));
    const Rect inner{a.x + 16, title_y + 16, a.w - 32, a.bottom() - title_y - 24};
    if (over_tiles) {
        const bool lost = state.comparison && next_lost(*state.comparison, -1) >= 0;
        lost ? no_scale(c, inner) : evolution_view(c, state, inner);
        return end_panel(c);
    }
    if (about_bytes(op)) {
        draw_bytes(c, state, inner);
    } else if (op == Op::init) {
        draw_start(c, state, inner);
    } else if (!drawable(state)) {
        no_scale(c, inner);
    } else {
        // Two rows side by side where there is room; otherwise the chosen one.
        const Value& tile = state.trace->value(state.trace->writes(state.cursor.step).front().value);
        const bool both = tile.region.rows == 2 && a.w >= 700 && a.h >= 150;
        const CellRef chosen = state.explanation.target;
        std::vector<Around> rows;
        for (int n = 0; n < (both ? std::min(2, state.cursor.done) : 1); ++n) {
            rows.push_back({state});
            rows.back().row = both ? tile.region.row + n : chosen.row;
            rows.back().col = chosen.col;
        }
        const Extent scale = scale_of(rows);
        const float half = inner.w / (both ? 2 : 1);
        for (std::size_t n = 0; n < rows.size(); ++n) {
            const Rect pane{inner.x + static_cast<float>(n) * half + 40, inner.y, half - 60, inner.h};
            c.text(pane.x - 36, pane.y + pane.h * .45f, "q", 15, c.theme->t2, Face::italic);
            c.text(pane.x - 36 + text_width(Face::italic, 15, "q"), pane.y + pane.h * .45f + 4,
                   std::to_string(rows[n].row), 13, c.theme->t2);
            draw_row(c, rows[n], pane, scale);
        }
    }
    end_panel(c);
}

}  // namespace tilewalk::ui

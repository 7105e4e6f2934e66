#include "app/ui/chapters/backward/connectors.h"

#include "app/ui/chapters/backward/view.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

struct Transfer {
    int step = -1;           // when it happens or happened
    std::int64_t bytes = 0;  // both ways
};

std::int64_t moved(const Trace& trace, int k) {
    const Traffic now = trace.step(k).traffic, before = k > 0 ? trace.step(k - 1).traffic : Traffic{};
    return now.hbm_read - before.hbm_read + now.hbm_write - before.hbm_write;
}

bool touches(const Trace& trace, int k, Slot slot) {
    return std::ranges::any_of(trace.writes(k), [&](const Access& a) { return a.slot == slot; });
}

// The load of the block on chip, or the next one if that block is used up or not there yet.
Transfer load_of(const AppState& state, Slot slot) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    const auto bytes = [&](int n) {
        const Held held = trace.live(slot, n);
        const int each = info(slot).counts_elements ? trace.problem().element_bytes : 4;
        return std::int64_t{held.value->data.size()} * each;
    };
    const Held held = trace.live(slot, k);
    if (held && backward_look(state, slot).state != CellState::discarded)
        return {held.step, bytes(held.step)};
    for (int n = k + 1; n < trace.size(); ++n)
        if (touches(trace, n, slot)) return {n, bytes(n)};
    if (held) return {held.step, bytes(held.step)};
    return {};
}

// The next step that moves a growing gradient from or to HBM.
int next_gradient(const AppState& state) {
    const Trace& trace = *state.trace;
    for (int n = state.cursor.step; n < trace.size(); ++n)
        if (trace.step(n).op != Op::init && trace.step(n).op != Op::preprocess &&
            (touches(trace, n, Slot::dQ) || touches(trace, n, Slot::dK) || touches(trace, n, Slot::dV)))
            return n;
    return -1;
}

std::string note(const AppState& state, Transfer t) {
    const bool future = t.step > state.cursor.step;
    return format_traffic(t.bytes) + (future ? ", at step " : ", step ") + std::to_string(t.step + 1);
}

void flow(const Canvas& c, const AppState& state, std::initializer_list<Point> points, int step,
          ImU32 colour) {
    const bool now = step == state.cursor.step;
    const ArrowStyle style = now                        ? ArrowStyle::active
                             : step > state.cursor.step ? ArrowStyle::future
                                                        : ArrowStyle::idle;
    c.arrow(points, style, now ? colour : 0, now ? transition(state) : 1);
}

// Shorter before not at all: the bytes, then nothing.
void chip_before(const Canvas& c, const AppState& state, float x, float y, const Line& symbol, Transfer t,
                 float right) {
    for (const std::string& words : {note(state, t), format_traffic(t.bytes)})
        if (x + chip_width(c, symbol, words) < right) {
            c.chip(x, y, symbol, words);
            return;
        }
}

void gradient_out(const Canvas& c, const AppState& state, const BackwardGeometry& g, float edge,
                  float chip_x) {
    const int n = next_gradient(state);
    if (n < 0) return;
    const Trace& trace = *state.trace;
    const Step& step = trace.step(n);
    constexpr std::pair<Slot, Slot> pairs[] = {
        {Slot::dV, Slot::dVj}, {Slot::dK, Slot::dKj}, {Slot::dQ, Slot::dQi}};
    Line symbols;
    for (const auto& [hbm, chip] : pairs) {
        if (!touches(trace, n, hbm)) continue;
        const Bed& bed = g[chip];
        const float x = bed.center(), y = bed.bottom() + 5;
        const ImU32 colour = hue(*c.theme, info(chip).role);
        flow(c, state, {{x, y}, {x, g.out_line}, {edge, g.out_line}}, n, colour);
        // Read, increased and written in one step: the line leads both ways.
        if (step.op != Op::store && n == state.cursor.step) c.head({x, y}, {0, -1}, colour, 10);
        if (!symbols.empty()) symbols.push_back(word(" "));
        const int block = hbm == Slot::dQ ? step.i : step.j;
        for (const Span& s : slot_symbol(chip, block)) symbols.push_back(s);
    }
    Transfer t{n, moved(trace, n)};
    const bool both = step.op != Op::store;
    const std::string words = both ? format_traffic(t.bytes / 2) + " in, " + format_traffic(t.bytes / 2) +
                                         " out" +
                                         (n > state.cursor.step ? ", at step " + std::to_string(n + 1) : "")
                                   : note(state, t);
    c.chip(chip_x, g.out_line, symbols, words);
}

}  // namespace

void backward_transfers(const Canvas& c, const AppState& state, const BackwardGeometry& g,
                        const Rect& panel) {
    const Theme& th = *c.theme;
    const Bed &K = g[Slot::Kj], &V = g[Slot::Vj], &Q = g[Slot::Qi];
    const float edge = panel.x - 12, chip_x = panel.x + 30;
    const Problem& p = *state.problem;
    const auto key_symbol = [&](Slot slot, const Transfer& t) {
        return slot_symbol(slot, state.trace->live(slot, t.step).value->region.row / p.Bc);
    };
    if (const Transfer v = load_of(state, Slot::Vj); v.step >= 0) {
        flow(c, state, {{edge, g.v_line}, {V.center(), g.v_line}, {V.center(), V.y - 6}}, v.step,
             hue(th, Role::V));
        chip_before(c, state, chip_x, g.v_line, key_symbol(Slot::Vj, v), v, V.center() - 20);
    }
    if (const Transfer k = load_of(state, Slot::Kj); k.step >= 0) {
        const float y = std::max((K.y + K.bottom()) / 2, g.v_line + 30);
        flow(c, state, {{edge, y}, {K.x - 8, y}}, k.step, hue(th, Role::K));
        chip_before(c, state, chip_x, y, key_symbol(Slot::Kj, k), k, K.x - 16);
    }
    if (const Transfer q = load_of(state, Slot::Qi); q.step >= 0) {
        // Between two row names, or above the first one
        const float y = Q.rows % 2 == 0 ? (Q.y + Q.bottom()) / 2 : Q.y + std::min(8.0f, Q.ch / 6);
        flow(c, state, {{edge, y}, {Q.x - 6, y}}, q.step, hue(th, Role::Q));
    }
    gradient_out(c, state, g, edge, chip_x);
}

namespace {

int rows_now(const AppState& state) {
    const auto writes = state.trace->writes(state.cursor.step);
    return writes.empty() ? 0 : state.trace->value(writes.front().value).region.rows;
}

// One arrow per query row, to the right or to the left; for many rows one stands for all.
void row_arrows(const Canvas& c, const AppState& state, const Bed& from, const Bed& to) {
    const int rows = rows_now(state);
    const bool each = rows <= 8 && from.ch >= 14, right = from.x < to.x;
    const float x1 = right ? from.right() + 5 : from.x - 5, x2 = right ? to.x - 7 : to.right() + 7;
    for (int r = 0; r < (each ? rows : 1); ++r) {
        const float y =
            each ? from.y + (static_cast<float>(r) + .5f) * from.ch : (from.y + from.bottom()) / 2;
        c.arrow({{x1, y}, {x2, y}}, ArrowStyle::link);
    }
}

void down_arrow(const Canvas& c, const Bed& from, const Bed& to) {
    c.arrow({{from.center(), from.bottom() + 6}, {from.center(), to.y - 8}}, ArrowStyle::link);
}

// From the band to a gradient below it, clear of the label at the gradient's left.
void fall(const Canvas& c, const Bed& from, const Bed& to, Role role, float share) {
    const Point a{from.center(), from.bottom() + 6}, b{to.x + (to.right() - to.x) * share, to.y - 6};
    // Across right below the band, then down: clear of the symbols above the gradients.
    c.bezier_arrow(a, {a.x, a.y + 9}, {b.x, a.y + 2}, b, hue(*c.theme, role), 2);
}

// Below the band from P to dS, with its label in a gap of the line.
void weight_curve(const Canvas& c, const BackwardGeometry& g) {
    const Bed &P = g[Slot::Prob], &dS = g[Slot::dS];
    const ImU32 colour = hue(*c.theme, Role::S);
    const float y = P.bottom() + 6, x1 = P.center(), x2 = dS.center(),
                bend = std::min(30.0f, g.below - y - 4);
    c.bezier_arrow({x1, y}, {x1 + (x2 - x1) * .1f, y + bend}, {x2 - (x2 - x1) * .16f, y + bend}, {x2, y + 3},
                   colour, 2);
    const char* words = "× P per cell";
    // Between the symbols of dK and dQ, or not at all.
    const float w = text_width(Face::semibold, 14, words) + 14, text_y = y + bend * .74f;
    const float lo = std::max(x1 + 10, g[Slot::dKj].x + 34), hi = std::min(x2 - 24, g[Slot::dQi].x - 8);
    if (hi - lo < w) return;
    const float mid = std::clamp(x1 + (x2 - x1) * .5f, lo + w / 2, hi - w / 2);
    c.rect(mid - w / 2, text_y - 10, w, 20, c.theme->panel, 10);
    c.text(mid, text_y, words, 14, colour, Face::semibold, Align::center);
}

}  // namespace

void backward_connectors(const Canvas& c, const AppState& state, const BackwardGeometry& g) {
    switch (state.trace->step(state.cursor.step).op) {
    case Op::scores:
        row_arrows(c, state, g[Slot::Qi], g[Slot::S]);
        return down_arrow(c, g[Slot::Kj], g[Slot::S]);
    case Op::recompute: return row_arrows(c, state, g[Slot::Li], g[Slot::Prob]);
    case Op::dv:
        fall(c, g[Slot::Prob], g[Slot::dVj], Role::S, .62f);
        return fall(c, g[Slot::dOi], g[Slot::dVj], Role::O, .85f);
    case Op::dp:
        row_arrows(c, state, g[Slot::dOi], g[Slot::dP]);
        return down_arrow(c, g[Slot::Vj], g[Slot::dP]);
    case Op::ds: row_arrows(c, state, g[Slot::Di], g[Slot::dS]); return weight_curve(c, g);
    case Op::dq: return fall(c, g[Slot::dS], g[Slot::dQi], Role::S, .8f);
    case Op::dk:
        fall(c, g[Slot::dS], g[Slot::dKj], Role::S, .85f);
        return fall(c, g[Slot::Qi], g[Slot::dKj], Role::Q, .62f);
    default: return;
    }
}

}  // namespace tilewalk::ui

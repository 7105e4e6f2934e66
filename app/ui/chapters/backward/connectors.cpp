#include "app/ui/chapters/forward/connectors.h"

#include "app/ui/chapters/backward/backward.h"
#include "app/ui/parts/slot_view.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

// The next step that moves a growing gradient from or to HBM.
int next_gradient(const AppState& state) {
    const Trace& trace = *state.trace;
    for (int n = state.cursor.step; n < trace.size(); ++n)
        if (trace.step(n).op != Op::init && trace.step(n).op != Op::preprocess)
            for (Slot slot : {Slot::dQ, Slot::dK, Slot::dV})
                if (value_in(trace, trace.writes(n), slot)) return n;
    return -1;
}

void gradient_out(const Canvas& c, const AppState& state, const BackwardGeometry& g, float edge,
                  float chip_x) {
    const int n = next_gradient(state);
    if (n < 0) return;
    const Trace& trace = *state.trace;
    const Step& step = trace.step(n);
    constexpr std::pair<Slot, Slot> pairs[] = {
        {Slot::dV, Slot::dVj}, {Slot::dK, Slot::dKj}, {Slot::dQ, Slot::dQi}};
    // Read, increased and written in one step: the line leads both ways.
    const bool both = step.op != Op::store;
    Line symbols;
    for (const auto& [hbm, chip] : pairs) {
        if (!value_in(trace, trace.writes(n), hbm)) continue;
        const Bed drawn = as_drawn(state, chip, g[chip]);
        const float x = drawn.center(), y = drawn.bottom() + 5;
        const Role role = info(chip).role;
        flow(c, state, {{x, y}, {x, g.out_line}, {edge, g.out_line}}, n, role);
        if (both && n == state.cursor.step) c.head({x, y}, {0, -1}, hue(*c.theme, role), 10);
        if (!symbols.empty()) append(symbols, " ");
        const int block = hbm == Slot::dQ ? step.i : step.j;
        // The box has the name of its own block.
        const Step& now = trace.step(state.cursor.step);
        if (symbols.empty() && block != (hbm == Slot::dQ ? now.i : now.j)) symbols = pieces("next: ");
        append(symbols, slot_symbol(chip, block));
    }
    const Transfer all = all_of(trace, n);
    std::string words = note(state, all);
    if (both) {
        const std::string half = format_size(all.bytes / 2);
        words = half + " in, " + half + " out";
        if (n > state.cursor.step) words += ", at step " + str(n + 1);
    }
    c.chip(chip_x, g.out_line, symbols, words);
}

}  // namespace

void backward_transfers(const Canvas& c, const AppState& state, const BackwardGeometry& g,
                        const Rect& panel) {
    const Bed &K = g[Slot::Kj], &V = g[Slot::Vj];
    const float edge = panel.x - space::margin, chip_x = panel.x + 30;
    const auto load = [&](Slot slot) { return load_of(state, slot, backward_look(state, slot).state); };
    const auto chip = [&](Slot slot, Transfer t, float y, float right) {
        const int block = state.trace->live(slot, t.step).value->region.row / state.problem->Bc;
        chip_before(c, {chip_x, y}, slot_symbol(slot, block), {note(state, t), format_size(t.bytes)}, right);
    };
    if (const Transfer v = load(Slot::Vj); v.step >= 0) {
        flow(c, state, {{edge, g.v_line}, {V.center(), g.v_line}, {V.center(), V.y - 6}}, v.step, Role::V);
        chip(Slot::Vj, v, g.v_line, V.center() - 20);
    }
    if (const Transfer k = load(Slot::Kj); k.step >= 0) {
        const float y = std::max(K.middle(), g.v_line + 30);
        flow(c, state, {{edge, y}, {K.x - 8, y}}, k.step, Role::K);
        chip(Slot::Kj, k, y, K.x - 16);
    }
    query_flow(c, state, g[Slot::Qi], edge, load(Slot::Qi));
    gradient_out(c, state, g, edge, chip_x);
}

namespace {

// From the band to a gradient below it, clear of the label at the gradient's left.
void fall(const Canvas& c, const Bed& from, const Bed& to, Role role, float share) {
    const Point a{from.center(), from.bottom() + 6}, b{to.x + (to.right() - to.x) * share, to.y - 6};
    // Across right below the band, then down: clear of the symbols above the gradients.
    c.bezier_arrow(a, {a.x, a.y + 9}, {b.x, a.y + 2}, b, hue(*c.theme, role), 2);
}

// Below the band from P to dS, with its label in a gap of the line.
void weight_curve(const Canvas& c, const AppState& state, const BackwardGeometry& g) {
    const Bed P = as_drawn(state, Slot::Prob, g[Slot::Prob]), &dS = g[Slot::dS];
    const ImU32 colour = hue(*c.theme, Role::S);
    const float y = P.bottom() + 6, x1 = P.center(), x2 = dS.center(),
                bend = std::min(30.0f, g.below - y - 4);
    c.bezier_arrow({x1, y}, {x1 + (x2 - x1) * .1f, y + bend}, {x2 - (x2 - x1) * .16f, y + bend}, {x2, y + 3},
                   colour, 2);
    const char* words = "× P per cell";
    // Between the symbols of dK and dQ, or not at all.
    const float w = text_width(Face::semibold, size::body, words) + 14, text_y = y + bend * .74f;
    const float lo = std::max(x1 + 10, g[Slot::dKj].x + 34), hi = std::min(x2 - 24, g[Slot::dQi].x - 8);
    if (hi - lo < w) return;
    const float mid = std::clamp(x1 + (x2 - x1) * .5f, lo + w / 2, hi - w / 2);
    c.rect(mid - w / 2, text_y - 10, w, 20, c.theme->panel, radius::panel);
    c.text(mid, text_y, words, size::body, colour, Face::semibold, Align::center);
}

}  // namespace

void backward_connectors(const Canvas& c, const AppState& state, const BackwardGeometry& g) {
    const auto falls = [&](Slot from, Slot to, Role role, float share) {
        fall(c, as_drawn(state, from, g[from]), g[to], role, share);
    };
    switch (op_now(state)) {
    case Op::scores:
        row_arrows(c, state, g[Slot::Qi], g[Slot::S]);
        return down_arrow(c, g[Slot::Kj], g[Slot::S]);
    case Op::recompute: return row_arrows(c, state, g[Slot::Li], g[Slot::Prob]);
    case Op::dv:
        falls(Slot::Prob, Slot::dVj, Role::S, .62f);
        return falls(Slot::dOi, Slot::dVj, Role::O, .85f);
    case Op::dp:
        row_arrows(c, state, g[Slot::dOi], g[Slot::dP]);
        return down_arrow(c, g[Slot::Vj], g[Slot::dP]);
    case Op::ds: row_arrows(c, state, g[Slot::Di], g[Slot::dS]); return weight_curve(c, state, g);
    case Op::cap_gradient: return row_arrows(c, state, g[Slot::S_cap], g[Slot::dS]);
    case Op::dq: return falls(Slot::dS, Slot::dQi, Role::S, .8f);
    case Op::dk: falls(Slot::dS, Slot::dKj, Role::S, .85f); return falls(Slot::Qi, Slot::dKj, Role::Q, .62f);
    default: return;
    }
}

}  // namespace tilewalk::ui

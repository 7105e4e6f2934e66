// SRAM in the backward pass: the tiles on chip, what this step reads and writes, and the gradients that grow.
#include "app/ui/chapters/backward/backward.h"
#include "app/ui/chapters/forward/connectors.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

// ---- What a slot looks like at the current step. Which block a tile belongs to is read off the tile itself:
// with key blocks outside, K stays while the query blocks pass, and the other way round.

namespace {

bool by_key(Slot slot) {
    return slot == Slot::Kj || slot == Slot::Vj || slot == Slot::dKj || slot == Slot::dVj;
}
bool by_query(Slot slot) {
    return slot == Slot::Qi || slot == Slot::dOi || slot == Slot::Li || slot == Slot::Di || slot == Slot::dQi;
}

// The value belongs to another query block, key block or tile than the one the walk is at.
bool used_up(const AppState& state, Slot slot, const Value& value) {
    const Step& now = step_now(state);
    const Problem& p = *state.problem;
    if (by_key(slot)) return value.region.row / p.Bc != now.j;
    if (by_query(slot)) return value.region.row / p.Br != now.i;
    return value.region.row / p.Br != now.i || value.region.col / p.Bc != now.j;
}

// Where a sum grows in HBM.
Slot grows_in(const AppState& state, Slot slot) {
    const bool keys = state.problem->options.order == BackwardOrder::key_outer;
    if (slot == Slot::dQi && keys) return Slot::dQ;
    if (slot == Slot::dKj && !keys) return Slot::dK;
    if (slot == Slot::dVj && !keys) return Slot::dV;
    return Slot::count;
}

// What the step found before it wrote: the old sum (on chip or in HBM), the scores below the new weights.
const Value* before(const AppState& state, Slot slot) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    if (slot == Slot::Prob) return trace.live(Slot::S, k).value;
    if (const Slot hbm = grows_in(state, slot); hbm != Slot::count) {
        const int tile = slot == Slot::dQi ? trace.step(k).i : trace.step(k).j;
        return trace.live(hbm, tile, k - 1).value;
    }
    const Held held = trace.live(slot, k - 1);
    return held && !used_up(state, slot, *held.value) ? held.value : nullptr;
}

}  // namespace

Slot scores_slot(const AppState& state) {
    if (op_now(state) == Op::cap_gradient) return Slot::S_cap;  // P is not needed any more
    const Held S = state.trace->live(Slot::S, state.cursor.step),
               P = state.trace->live(Slot::Prob, state.cursor.step);
    return P && P.step > S.step ? Slot::Prob : Slot::S;
}

Line backward_symbol(const AppState& state, Slot slot) {
    const Held held = state.trace->live(slot, state.cursor.step);
    if (held && slot == Slot::dS) return score_gradient(*state.trace, held.step);
    const Problem& p = *state.problem;
    int block = -1;
    if (held && by_key(slot)) block = held.value->region.row / p.Bc;
    if (held && by_query(slot)) block = held.value->region.row / p.Br;
    return slot_symbol(slot, block);
}

MatrixLook backward_look(const AppState& state, Slot slot) {
    const Value* value = state.trace->live(slot, state.cursor.step).value;
    MatrixLook look = slot_look(state, slot, before(state, slot), value && used_up(state, slot, *value));
    if (slot == Slot::Prob) look.before_slot = Slot::S;
    return look;
}

// ---- The panel

namespace {

bool keys_outside(const AppState& state) { return state.problem->options.order == BackwardOrder::key_outer; }

void draw_slot(const Canvas& c, AppState& state, const BackwardGeometry& g, Slot slot) {
    const Bed& bed = g[slot];
    const bool below = slot == Slot::dVj || slot == Slot::dKj || slot == Slot::dQi;
    MatrixLook look = backward_look(state, slot);
    look.transposed = slot == Slot::Kj || slot == Slot::Vj;
    lay(look, bed, below ? g.below_digits : g.digits, below || look.transposed ? 13 : g.size);
    if (look.transposed && bed.ch >= 24) look.size = std::min(15.0f, g.size);
    matrix(c, state, look, "sram");
}

// "32 B, step 24": when the block on chip was loaded, and what it cost.
std::string loaded(const AppState& state, Slot slot) {
    return state.trace->live(slot, state.cursor.step) ? note(state, load_of(state, slot, CellState::idle))
                                                      : "";
}

void band_labels(const Canvas& c, const AppState& state, const BackwardGeometry& g) {
    const Slot S = scores_slot(state);
    const char* scores = op_now(state) == Op::scores ? ""
                         : S == Slot::Prob           ? "recomputed"
                         : S == Slot::S_cap          ? "kept"
                                                     : "scores";
    const std::pair<Slot, std::string> all[] = {{Slot::Qi, loaded(state, Slot::Qi)},
                                                {S, scores},
                                                {Slot::Li, ""},
                                                {Slot::dOi, loaded(state, Slot::dOi)},
                                                {Slot::dP, ""},
                                                {Slot::Di, "mean"},
                                                {Slot::dS, ""}};
    for (std::size_t n = 0; n < std::size(all); ++n) {
        const auto& [slot, words] = all[n];
        const float right = slot == Slot::dS ? g[slot].right() + 12 : g[all[n + 1].first].x - 9;
        slot_label(c, state, slot, {g[slot].x - 3, g.labels}, backward_symbol(state, slot), words,
                   slot == S ? right + 4 : right);
    }
    for (Slot slot : {Slot::Kj, Slot::Vj}) transposed_label(c, g[slot], backward_symbol(state, slot));
}

void below_labels(const Canvas& c, const AppState& state, const BackwardGeometry& g) {
    // Curves from the band take the place of the words.
    const Op op = op_now(state);
    const bool curves = op == Op::dv || op == Op::ds || op == Op::dq || op == Op::dk;
    for (Slot slot : {Slot::dVj, Slot::dKj, Slot::dQi}) {
        const bool on_chip = keys_outside(state) != (slot == Slot::dQi);
        slot_label(c, state, slot, {g[slot].x - 3, g.below}, backward_symbol(state, slot),
                   curves    ? ""
                   : on_chip ? "grows on chip"
                             : "through HBM",
                   g[slot].right() + 30);
    }
}

void row_names(const Canvas& c, const AppState& state, const Bed& Q) {
    const Step& step = step_now(state);
    if (Q.ch < 17 || step.i < 0) return;
    const int top = step.i * state.problem->Br, rows = std::min(Q.rows, state.problem->N() - top);
    for (int r = 0; r < rows; ++r)
        row_name(c, *state.problem, Q.x - 34, Q.y + (px(r) + .5f) * Q.ch, "q", top + r, c.theme->t2);
}

// Brief where the name of a fault stands beside them, too.
std::vector<std::string> order_names(const AppState& state, const Rect& a) {
    std::vector<std::string> names = {"key blocks outside", "query blocks outside"};
    const float others = broken_walk(state) ? 440 : 190;
    if (segmented_width(names, size::small) + others > a.w) names = {"keys outside", "queries outside"};
    return names;
}

// Which loop is outside: a choice that makes another walk of the same problem.
void order_switch(const Canvas& c, AppState& state, const Rect& a) {
    const std::vector<std::string> names = order_names(state, a);
    int order = keys_outside(state) ? 0 : 1;
    if (!segmented(c, "##order", a.right() - space::control_edge - segmented_width(names, size::small),
                   a.y + space::control_top, names, order, size::small))
        return;
    Problem changed = latest_problem(state);
    changed.options.order = order == 0 ? BackwardOrder::key_outer : BackwardOrder::query_outer;
    set_problem(state, std::move(changed));
}

void sram_panel(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "SRAM", a, "SRAM", "fast, small");
    const BackwardGeometry g = backward_geometry(state, a);
    // The transfer lines cross the gap between the two panels.
    c.dl->PushClipRect(c.device(a.x - space::margin, a.y), c.device(a.right(), a.bottom()));
    backward_transfers(c, state, g, a);
    c.dl->PopClipRect();
    const Slot order[] = {Slot::Kj, Slot::Vj, Slot::Qi, scores_slot(state), Slot::Li,  Slot::dOi,
                          Slot::dP, Slot::Di, Slot::dS, Slot::dVj,          Slot::dKj, Slot::dQi};
    for (Slot slot : order) draw_slot(c, state, g, slot);
    band_labels(c, state, g);
    below_labels(c, state, g);
    row_names(c, state, g[Slot::Qi]);
    backward_connectors(c, state, g);
    backward_lens(c, state, g.lens);
    order_switch(c, state, a);
}

}  // namespace

float order_switch_taken(const AppState& state, const Rect& panel) {
    return space::control_edge + segmented_width(order_names(state, panel), size::small);
}

void backward_main(const Canvas& c, AppState& state, const Layout& layout) {
    backward_hbm(c, state, layout.hbm);
    sram_panel(c, state, layout.sram);
}

}  // namespace tilewalk::ui

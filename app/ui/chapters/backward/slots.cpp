// What a slot of the backward pass looks like at the current step. Which block a tile belongs to is read off
// the tile itself: with key blocks outside, K stays while the query blocks pass, and the other way round.
#include "app/ui/chapters/backward/backward.h"
#include "app/ui/parts/slot_view.h"

#include <algorithm>

namespace tilewalk::ui {

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
    const Held S = state.trace->live(Slot::S, state.cursor.step),
               P = state.trace->live(Slot::Prob, state.cursor.step);
    return P && P.step > S.step ? Slot::Prob : Slot::S;
}

Line backward_symbol(const AppState& state, Slot slot) {
    const Held held = state.trace->live(slot, state.cursor.step);
    const Problem& p = *state.problem;
    int block = -1;
    if (held && by_key(slot)) block = held.value->region.row / p.Bc;
    if (held && by_query(slot)) block = held.value->region.row / p.Br;
    return slot_symbol(slot, block);
}

MatrixLook backward_look(const AppState& state, Slot slot) {
    const Value* value = state.trace->live(slot, state.cursor.step).value;
    return slot_look(state, slot, before(state, slot), value && used_up(state, slot, *value));
}

}  // namespace tilewalk::ui

#include "app/ui/parts/slot_view.h"

#include "core/base/numbers.h"
#include "core/lessons/shared/faults.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewalk::ui {

namespace {

bool per_tile(Slot slot) {
    return slot == Slot::S || slot == Slot::P || slot == Slot::m_tile || slot == Slot::alpha ||
           slot == Slot::Kj || slot == Slot::Vj;
}

// The slot was filled for another tile (or another query block): its content is no longer of use.
bool used_up(const Trace& trace, Slot slot, int made, int now) {
    const Step &then = trace.step(made), &step = trace.step(now);
    // K and V that were loaded for all query blocks stay while these pass.
    if (then.i < 0 && (slot == Slot::Kj || slot == Slot::Vj)) return then.j != step.j;
    return then.i != step.i || (per_tile(slot) && then.j != step.j);
}

}  // namespace

const Value* value_in(const Trace& trace, std::span<const Access> accesses, Slot slot, int nth) {
    for (const Access& a : accesses)
        if (a.slot == slot && nth-- == 0) return &trace.value(a.value);
    return nullptr;
}

bool written_now(const AppState& state, Slot slot) {
    return value_in(*state.trace, state.trace->writes(state.cursor.step), slot);
}

bool touched_now(const AppState& state, Slot slot) {
    return touched_at(*state.trace, state.cursor.step, slot);
}

bool touched_at(const Trace& trace, int k, Slot slot) {
    return value_in(trace, trace.reads(k), slot) || value_in(trace, trace.writes(k), slot);
}

MatrixLook slot_look(const AppState& state, Slot slot, const Value* before, bool used_up) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    MatrixLook look;
    look.slot = slot;
    const Held held = trace.live(slot, k);
    look.value = held.value;
    look.dim = !touched_now(state, slot);
    if (!held) {
        look.state = CellState::pending;
    } else if (held.step == k) {
        look.state = CellState::written;
        look.fade = transition(state);
        look.before = before;
        if (step_units(trace, k) > 1)
            (state.lesson->by_cell ? look.cells_done : look.rows_done) = state.cursor.done;
    } else if (used_up) {
        look.state = CellState::discarded;
    } else if (!look.dim) {
        look.state = CellState::read;
    }
    look.only_changed = trace.step(k).op == Op::mask;
    look.boxes = true;
    return look;
}

MatrixLook slot_look(const AppState& state, Slot slot) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    const Held held = trace.live(slot, k), before = trace.live(slot, k - 1);
    MatrixLook look =
        slot_look(state, slot, before && !used_up(trace, slot, before.step, k) ? before.value : nullptr,
                  held && used_up(trace, slot, held.step, k));
    // The old maximum stays in sight while α, P̃, ℓ and O are made from it.
    if (slot == Slot::m && held && held.step < k && trace.step(held.step).op == Op::new_max &&
        trace.step(held.step).j == trace.step(k).j && look.state != CellState::discarded) {
        look.before = trace.live(Slot::m, held.step - 1).value;
        look.show_before = true;
    }
    return look;
}

Line transposed(Line symbol) {
    symbol.push_back(super("T", symbol.front().role));
    return symbol;
}

int block_on_chip(const AppState& state, Slot slot) {
    const Held held = state.trace->live(slot, state.cursor.step);
    if (!held) return -1;
    const Step& step = state.trace->step(held.step);
    return slot == Slot::Kj || slot == Slot::Vj ? step.j : step.i;
}

bool drawable(const AppState& state) {
    if (!state.truth) return true;
    constexpr double most = 1e30;  // lengths are floats
    const Trace& trace = *state.trace;
    const auto fits = [&](const Access& a) {
        const Matrix& A = trace.value(a.value).data;
        return std::all_of(A.data(), A.data() + A.size(), [&](double v) {
            return std::abs(v) < most || v == -std::numeric_limits<double>::infinity();
        });
    };
    const int k = state.cursor.step;
    return std::ranges::all_of(trace.reads(k), fits) && std::ranges::all_of(trace.writes(k), fits);
}

std::string output_words(const AppState& state) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    const Held O = trace.live(Slot::Oi, k), m = trace.live(Slot::m, k);
    if (!O) return "output";
    const Op made = trace.step(O.step).op;
    if (trace.lesson().division == Division::in_every_tile) {
        if (trace.step(O.step).i != trace.step(k).i)
            return "of query block " + str(trace.step(O.step).i) + ", back in HBM";
        return made == Op::load_state ? "output so far, from HBM" : "output so far, normalized";
    }
    if (trace.step(O.step).i != trace.step(k).i)
        return "of query block " + str(trace.step(O.step).i) + ", stored";
    if (trace.step(O.step).op == Op::normalize)
        return fault_caption(trace.problem(), Op::normalize) ? "output, not divided" : "output, normalized";
    if (trace.step(O.step).op == Op::init) return "output, empty";
    // After the maximum rose, O waits for its correction: it is still measured from the old maximum.
    if (m.step > O.step && m.value) {
        const int row = std::min(state.row, m.value->region.rows - 1);
        const Held old = trace.live(Slot::m, m.step - 1);
        const double before = old.value->data(row, 0);
        if (before != m.value->data(row, 0)) return "output so far, still at max " + format_short(before);
    }
    return "output so far, not normalized";
}

}  // namespace tilewalk::ui

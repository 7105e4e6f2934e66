// What a slot of SRAM looks like at the current step: written, read, idle, used up, or still empty.
#pragma once

#include "app/ui/parts/matrix.h"

namespace tilewalk::ui {

/// The current step, and what it does.
inline const Step& step_now(const AppState& state) { return state.trace->step(state.cursor.step); }
inline Op op_now(const AppState& state) { return step_now(state).op; }

/// The value, what it replaced, and its state. Position, size and digits are left to the caller.
MatrixLook slot_look(const AppState& state, Slot slot);
/// The same where `before` is what it replaced, if it did so in this step, and `used_up` is known.
MatrixLook slot_look(const AppState& state, Slot slot, const Value* before, bool used_up);
/// This step reads or writes the slot.
bool touched_now(const AppState& state, Slot slot);
bool touched_at(const Trace& trace, int k, Slot slot);
bool written_now(const AppState& state, Slot slot);
/// The nth value (from 0) of the slot that a step read or wrote; null without one.
const Value* value_in(const Trace& trace, std::span<const Access> accesses, Slot slot, int nth = 0);
/// "Kᵀ"
Line transposed(Line symbol);
/// The block that a slot holds (0 for the first), −1 while it is empty.
int block_on_chip(const AppState& state, Slot slot);
/// No number that this step reads or writes is NaN, ∞ or beyond all measure: it can be drawn to scale. Only
/// broken walks have such numbers.
bool drawable(const AppState& state);
/// "output so far, still at max 1", "normalized": what the accumulator holds.
std::string output_words(const AppState& state);

}  // namespace tilewalk::ui

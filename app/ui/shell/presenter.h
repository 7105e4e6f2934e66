// What the presenter pages share: the spotlight on what the step touches, and the colours of a bright room.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

/// 1 where this step reads or writes the slot, and everywhere without the spotlight; otherwise the part of
/// its light that stays. It moves over from the step before, if motion is on.
float light_on(const AppState& state, Slot slot);
/// The same for something else that was lit or not.
float light_of(const AppState& state, bool now, bool before);
/// A glow that is seen from the last row, below what the step has written; drawn before it.
void beam(const Canvas& canvas, const AppState& state, float x, float y, float w, float h);

/// The light theme for a room with daylight: every text at least 7 : 1, fills that differ on a projector that
/// cannot show black. Other themes stay as they are.
Theme bright_room(const Theme& theme);
/// A colour as such a projector shows it: black is a quarter of the way to white.
ImU32 washed_out(ImU32 colour);

}  // namespace tilewalk::ui

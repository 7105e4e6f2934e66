// The tiled backward pass: HBM, the tiles on chip, the drawing of the step, and the presenter page.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

void backward_main(const Canvas& canvas, AppState& state, const Layout& layout);
void backward_presenter(const Canvas& canvas, AppState& state, const Rect& strip, const Rect& body);

void backward_hbm(const Canvas& canvas, AppState& state, const Rect& area);
void backward_sram(const Canvas& canvas, AppState& state, const Rect& area, bool tight);
void backward_lens(const Canvas& canvas, AppState& state, const Rect& area);

/// The value on chip, what it replaced, and its state. Position, size and digits are left to the caller.
MatrixLook backward_look(const AppState& state, Slot slot);
/// S until the weights are recomputed, then P: they stand in one place.
Slot scores_slot(const AppState& state);
/// "dQ₁": with the block that the slot belongs to now.
Line backward_symbol(const AppState& state, Slot slot);

}  // namespace tilewalk::ui

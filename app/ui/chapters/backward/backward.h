// The tiled backward pass: HBM, the tiles on chip, the drawing of the step, and the presenter page. In the
// SRAM panel one row of the band is one query; Kᵀ stands on the columns of S and P, Vᵀ on those of dP; below
// lie the gradients that grow. Nothing moves from step to step.
#pragma once

#include "app/ui/chapters/forward/sram_geometry.h"

namespace tilewalk::ui {

void backward_main(const Canvas& canvas, AppState& state, const Layout& layout);
void backward_presenter(const Canvas& canvas, AppState& state, const Rect& strip, const Rect& body);

/// Of the title of SRAM, from its right edge to where the choice in it begins.
float order_switch_taken(const AppState& state, const Rect& panel);

void backward_hbm(const Canvas& canvas, AppState& state, const Rect& area);
void backward_lens(const Canvas& canvas, AppState& state, const Rect& area);

/// The value on chip, what it replaced, and its state. Position, size and digits are left to the caller.
MatrixLook backward_look(const AppState& state, Slot slot);
/// S until the weights are recomputed, then P: they stand in one place.
Slot scores_slot(const AppState& state);
/// "dQ₁": with the block that the slot belongs to now.
Line backward_symbol(const AppState& state, Slot slot);

/// `digits` and `size` are those of the numbers in the band, `out_line` is that of the gradients.
struct BackwardGeometry : SramGeometry {
    int below_digits = 4;
    float below = 0;  ///< y of the symbols above the growing gradients
};
BackwardGeometry backward_geometry(const AppState& state, const Rect& panel);

/// Transfers from and to HBM, and what a step's result is made from.
void backward_transfers(const Canvas& canvas, const AppState& state, const BackwardGeometry& g,
                        const Rect& panel);
void backward_connectors(const Canvas& canvas, const AppState& state, const BackwardGeometry& g);

}  // namespace tilewalk::ui

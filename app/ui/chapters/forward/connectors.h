// Arrows of the SRAM panel: transfers from and to HBM, and what flows where in the current step.
#pragma once

#include "app/ui/chapters/forward/sram_geometry.h"
#include "app/ui/kit/canvas.h"

namespace tilewalk::ui {

/// Lines from the HBM panel (left of `panel`) to Q, K, V and back from O and L, each with its bytes and step.
void transfers(const Canvas& canvas, const AppState& state, const SramGeometry& geometry, const Rect& panel);
/// From the matrices that this step reads to the one that it writes.
void connectors(const Canvas& canvas, const AppState& state, const SramGeometry& geometry);

/// α bends down from its column to what it corrects, with its value in a gap of the line. `room` is the free
/// height below the band, `size` that of the label.
void alpha_curve(const Canvas& canvas, const AppState& state, const Bed& alpha, const Bed& target, float room,
                 float size = 14);

}  // namespace tilewalk::ui

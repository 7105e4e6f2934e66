// Arrows of the SRAM panel: transfers from and to HBM, and what flows where in the current step.
#pragma once

#include "app/ui/canvas.h"
#include "app/ui/views/sram_geometry.h"

namespace tilewalk::ui {

/// Lines from the HBM panel (left of `panel`) to Q, K, V and back from O and L, each with its bytes and step.
void transfers(const Canvas& canvas, const AppState& state, const SramGeometry& geometry, const Rect& panel);
/// From the matrices that this step reads to the one that it writes.
void connectors(const Canvas& canvas, const AppState& state, const SramGeometry& geometry);

}  // namespace tilewalk::ui

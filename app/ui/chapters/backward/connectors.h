// Lines of the backward SRAM panel: transfers from and to HBM, and what a step's result is made from.
#pragma once

#include "app/ui/chapters/backward/geometry.h"
#include "app/ui/kit/canvas.h"

namespace tilewalk::ui {

void backward_transfers(const Canvas& canvas, const AppState& state, const BackwardGeometry& g,
                        const Rect& panel);
void backward_connectors(const Canvas& canvas, const AppState& state, const BackwardGeometry& g);

}  // namespace tilewalk::ui

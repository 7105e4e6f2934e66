// The score gradient of one query, to scale.
#pragma once

#include "app/ui/app_state.h"
#include "app/ui/canvas.h"
#include "app/ui/layout.h"

namespace tilewalk::ui {

/// For each key of the row a box of width P from the line D to dP: its area is dS. The keys of the tile that
/// this step is about stand out, those of earlier tiles are hatched, those of tiles to come are dashed.
void areas(const Canvas& canvas, const AppState& state, const Rect& pane, int row);

}  // namespace tilewalk::ui

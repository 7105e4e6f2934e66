// The score gradient of one query, to scale.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

/// For each key of the row a box of width P from the line D to dP: its area is dS. The keys of the tile that
/// this step is about stand out, those of earlier tiles are hatched, those of tiles to come are dashed.
void areas(const Canvas& canvas, const AppState& state, const Rect& pane, int row);

}  // namespace tilewalk::ui

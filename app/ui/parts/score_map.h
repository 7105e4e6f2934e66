// The whole of a matrix as a map beside its enlarged row: tiles, the current one, the current row, what comes
// later.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

constexpr float wedge_w = 52;  // from the map to the rows beside it

/// Where it lies and of what it is.
struct ScoreMap {
    Slot slot = Slot::S;
    Region shape;  ///< of the whole matrix
    bool tiles = false;
    Rect area;  ///< of the cells; without width: nothing to be shown
};
/// Of the scores in lessons with tiles, else of the largest matrix that the step makes.
ScoreMap score_map(const AppState& state, const Rect& room);
/// With lines from its row to where that row stands enlarged, if it does.
void draw_score_map(const Canvas& canvas, const AppState& state, const ScoreMap& map, const Rect& enlarged);

}  // namespace tilewalk::ui

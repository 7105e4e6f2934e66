// Lanes and cells of the timeline, shared by the normal and the presenter view.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

struct LaneStyle {
    float lane = 28, gap = 9;  ///< height of a lane and the space below it
    float name_w = 96;         ///< room for "Query block 0"; 0: no names
    bool symbols = true;       ///< write the op into its cell where it fits
    bool heads = true;         ///< "key block 0" above the lanes
};
/// One lane per query block, one cell per step; clicking or dragging goes there, with Shift it marks a range
/// to loop, the wheel zooms. Follows the current step when not everything fits.
void lanes(const Canvas& canvas, AppState& state, const Rect& area, const LaneStyle& style);
/// J marks the looped range, + and − zoom. True if the key was one of them.
bool answer_timeline_key(AppState& state, const KeyPress& press);

}  // namespace tilewalk::ui

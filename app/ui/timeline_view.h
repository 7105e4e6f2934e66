// What the user has chosen of the timeline: how much of it is shown, and which part is played in a loop.
#pragma once

namespace tilewalk::ui {

struct TimelineView {
    float zoom = 1;                    ///< 1: as much as fits
    float offset = 0;                  ///< first shown column; used when zoomed
    int loop_from = -1, loop_to = -1;  ///< steps, from 0; −1: not set
};

}  // namespace tilewalk::ui

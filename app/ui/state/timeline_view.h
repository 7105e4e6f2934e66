// What the user has chosen of the timeline: how much of it is shown, and which part is played in a loop.
#pragma once

#include "core/walk/playback.h"

namespace tilewalk::ui {

struct TimelineView {
    float zoom = 1;      ///< 1: as much as fits
    float offset = -1;   ///< first shown column; −1: follows the current step
    StepRange loop;      ///< played round and round; with `first` alone its end is still to be chosen
    int drag_from = -1;  ///< the step at which a range that is being drawn began; −1: none is
};

}  // namespace tilewalk::ui

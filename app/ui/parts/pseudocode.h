// The algorithm of the lesson with its current line.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"

namespace tilewalk::ui {

struct AppState;

/// From the top of the area, in a panel of this height.
void pseudocode(const Canvas& canvas, const AppState& state, const Rect& area, float panel_h);
/// At the foot of a panel, from y at most; nothing where it has no room.
void pseudocode_below(const Canvas& canvas, const AppState& state, const Rect& panel, float y);

}  // namespace tilewalk::ui

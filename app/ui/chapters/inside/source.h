// The source for the back row, where a step leaves room for it.
#pragma once

#include "app/ui/chapters/inside/inside.h"

namespace tilewalk::ui {

/// The line at hand between its neighbours.
void draw_far_code(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at);

}  // namespace tilewalk::ui

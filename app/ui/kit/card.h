// Cards that lie over the page: windows of ImGui without its furniture, drawn by us.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"

namespace tilewalk::ui {

/// Where a card of w × h hides as little as possible of `keep_free`: in a corner or at an edge of the window.
Rect place_card(float w, float h, float W, float H, const Rect& keep_free);
/// The middle of the window, and the page below it dimmed.
Rect centred_card(const Canvas& canvas, float w, float h, float W, float H);
/// Opens the card; draw into `Canvas::in_window()` if it returns true, then call end_card in any case.
bool begin_card(const Canvas& canvas, const char* name, const Rect& area);
void end_card();

}  // namespace tilewalk::ui

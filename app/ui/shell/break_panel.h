// The third side of the right panel: faults and number formats, and what comes of them.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

void break_view(const Canvas& canvas, AppState& state, const Rect& area);
/// "Broken on purpose", while a fault or a format is chosen; `right` is where it ends. Draws nothing
/// otherwise. Returns its width.
float broken_pill(const Canvas& canvas, const AppState& state, float right, float y, float size);

}  // namespace tilewalk::ui

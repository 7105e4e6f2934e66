// Following a number back: a chosen cell, what it came from, what it feeds, and the way taken so far.
#pragma once

#include "app/ui/app_state.h"
#include "app/ui/canvas.h"
#include "app/ui/layout.h"

namespace tilewalk::ui {

struct Inspection {
    CellRef cell;
    int step = 0;  ///< the cell as it held after this step
};

/// Opens the panel for a cell as it holds now.
void inspect(AppState& state, CellRef cell);
bool inspecting(const AppState& state);
/// True if the key belonged to the panel.
bool answer_inspection_key(AppState& state, const KeyPress& press);
/// In the place of the explanation.
void inspect_view(const Canvas& canvas, AppState& state, const Rect& area, bool tight);

}  // namespace tilewalk::ui

// What the list beside a matrix copies for other programs: the matrix as the walk has it at this step.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

struct MatrixMenu {
    Slot slot = Slot::count;
    int tile = 0;
    bool at_mouse = false;  ///< opened by the mouse: the list opens below it
    int at = 0;             ///< the entry that Enter chooses
    Point corner;           ///< where the list stands, once it has been drawn
    bool placed = false;
};

/// Says so, and opens nothing, where the slot holds nothing yet.
void open_matrix_menu(AppState& state, Slot slot, int tile, bool at_mouse = false);
/// The same for the tile that holds this value; nothing if none does.
void open_matrix_menu(AppState& state, Slot slot, const Value& value);

/// The slot after this step, its tiles put together; what is not there yet is NaN. Empty if nothing is.
Matrix slot_matrix(const Trace& trace, Slot slot, int k);

}  // namespace tilewalk::ui

// The numbers of cells that all are results, or operands, of one step.
#pragma once

#include "app/ui/state/app_state.h"

#include <string>

namespace tilewalk::ui {

/// A number of a cell that a step computes cell by cell from others: with the decimals of the formula, which
/// are those of all its cells. Else `text`.
std::string cell_text(const AppState& state, Slot slot, double value, std::string text);

}  // namespace tilewalk::ui

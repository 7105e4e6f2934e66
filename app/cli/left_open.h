// What stands open on a page and is no setting: the tour, the questions, the cell that is being typed into. A
// page that is loaded once more goes on with it.
#pragma once

#include "app/ui/state/app_state.h"

#include <string>

namespace tilewalk {

/// A line; empty if nothing stands open.
std::string left_open(const ui::AppState& state);
/// The program's own tour is part of it: it brings its place along.
bool left_on_tour(const std::string& line);
/// Opens again what the line says and the walk at hand has. What cannot be read is passed over.
void open_what_was_left(ui::AppState& state, const std::string& line);

}  // namespace tilewalk

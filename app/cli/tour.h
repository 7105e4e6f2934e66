// Guided tours as the command line and the window ask for them.
#pragma once

#include "app/cli/arguments.h"
#include "app/ui/state/tour.h"

namespace tilewalk {

/// A tour of the program by its name, or else a file; the program's own if nothing is named.
Result<ui::Tour> read_tour(const std::string& name_or_path);

/// Begins the tour that the words name, at its stop; a sentence if that cannot be. Nothing to do without.
std::optional<std::string> begin_tour(ui::AppState& state, const Arguments& arguments);
/// Goes to stop n, from 0, and waits for what its page asks of the machine: for pictures.
void settle_at_stop(ui::AppState& state, int n);

/// Says once that there is a tour.
void offer_tour(ui::AppState& state);

}  // namespace tilewalk

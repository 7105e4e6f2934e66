// A guided tour: stops in lessons and pages, each with a place on screen and a few sentences.
#pragma once

#include "app/ui/app_state.h"
#include "app/ui/canvas.h"

namespace tilewalk::ui {

struct Tour {
    std::string title;
    int at = 0;
};

/// Begins the program's own tour, or leaves the one that runs.
void toggle_tour(AppState& state);
void start_tour(AppState& state, Tour tour);
/// True if the key belonged to the tour.
bool answer_tour_key(AppState& state, const KeyPress& press);
/// The ring round the place that a stop speaks of, and the card with its text.
void tour_card(const Canvas& canvas, AppState& state, float W, float H);

}  // namespace tilewalk::ui

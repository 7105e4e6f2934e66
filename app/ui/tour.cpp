#include "app/ui/tour.h"

#include "app/ui/state.h"

namespace tilewalk::ui {

void toggle_tour(AppState& state) {
    if (state.tour) return state.tour.reset();
    if (!state.hooks.read_tour) return notify(state, "There is no tour here.");
    Result<Tour> tour = state.hooks.read_tour("");
    if (!tour) return notify(state, tour.error);
    start_tour(state, std::move(*tour));
}

void start_tour(AppState& state, Tour tour) { state.tour = std::make_shared<Tour>(std::move(tour)); }

bool answer_tour_key(AppState& state, const KeyPress& press) {
    if (!state.tour || press.key != Key::escape) return false;
    state.tour.reset();
    return true;
}

}  // namespace tilewalk::ui

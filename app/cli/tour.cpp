#include "app/cli/commands.h"
#include "app/cli/hooks.h"
#include "app/cli/session.h"
#include "app/cli/values.h"
#include "app/io/tour_file.h"
#include "app/ui/chapters/compare/page.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/chapters/scale/page.h"
#include "app/ui/chapters/start/page.h"
#include "app/ui/shell/lesson_view.h"
#include "app/ui/state/state.h"

namespace tilewalk {

Result<ui::Tour> read_tour(const std::string& name_or_path) {
    ui::Tour tour;
    if (name_or_path.empty()) {
        // Read once: building the walks of its stops takes longer than a frame.
        static const Result<TourScript> own = load_tour(default_tour, ui::tour_names());
        if (!own) return Failure{own.error};
        tour.script = *own;
        tour.own = true;
        return tour;
    }
    auto script = load_tour(name_or_path, ui::tour_names());
    if (!script) return Failure{script.error};
    tour.script = std::move(*script);
    return tour;
}

std::optional<std::string> refuse_beside_tour(const Arguments& a) {
    if (a.problem.empty() && !a.lesson && !a.step && !a.link) return std::nullopt;
    return "A tour has its own problems, lessons and steps; leave out options for these.";
}

Result<ui::AppState> state_in_tour(TourScript script, ui::Settings settings) {
    const TourStop& first = script.stops.front();
    Result<ui::AppState> state = make_state(first.lesson, *first.problem, std::move(settings));
    if (!state) return state;
    ui::Tour tour;
    tour.script = std::move(script);
    ui::start_tour(*state, std::move(tour));
    return state;
}

Result<void> begin_tour(ui::AppState& state, const Arguments& a) {
    if (!a.tour && !a.stop) return {};
    if (auto sentence = refuse_beside_tour(a)) return Failure{*sentence};
    Result<ui::Tour> tour = read_tour(a.tour.value_or(""));
    if (!tour) return Failure{tour.error};
    const bool all = a.stop == "all" && a.command && a.command->run == run_render;
    if (a.stop && !all) {
        const auto stop = whole_number("--stop", *a.stop, 1, tour->stops());
        if (!stop) return Failure{stop.error};
        tour->at = static_cast<int>(*stop) - 1;
    }
    ui::start_tour(state, std::move(*tour));
    state.step_age = ui::AppState{}.step_age;  // it stands there from the beginning; nothing moves
    return {};
}

void wait_for_page(ui::AppState& state) {
    if (state.page == ui::Page::scale) ui::wait_for_devices(state);
    if (state.page == ui::Page::compare) ui::wait_for_comparison(state);
    if (state.page == ui::Page::inside) ui::wait_for_inside(state);
    if (state.page == ui::Page::start) ui::wait_for_start(state);
}

void settle_at_stop(ui::AppState& state, int n) {
    ui::go_to_stop(state, n);
    wait_for_walk(state);
    ui::take_finished_trace(state);
    ui::settle_tour(state);
    wait_for_page(state);
    state.step_age = ui::AppState{}.step_age;
}

void offer_tour(ui::AppState& state) {
    if (state.settings.tour_offered || state.tour || state.page == ui::Page::start || !state.notice.empty())
        return;
    state.settings.tour_offered = true;
    ui::notify(state, "New here? U begins a guided tour; F10 opens the menu.");
}

}  // namespace tilewalk

// Links: what the interface shows as one line of text, and back.
#include "app/io/link.h"
#include "app/cli/hooks.h"
#include "app/cli/session.h"
#include "app/ui/chapters/compare/page.h"
#include "app/ui/chapters/scale/page.h"
#include "app/ui/state/state.h"
#include "core/lessons/table.h"

namespace tilewalk {

Result<std::string> link_of(const ui::AppState& state) {
    const SavedView view = ui::view_of(state);
    return link_to({.problem = ui::latest_problem(state),
                    .lesson = view.lesson,
                    .step = view.step,
                    .row = view.row,
                    .col = state.col,
                    .page = ui::page_names[static_cast<std::size_t>(state.page)],
                    .panel = view.panel,
                    .presenter = view.presenter});
}

Result<ui::AppState> make_session_at_link(const Arguments& a, ui::Settings settings) {
    if (!a.problem.empty() || a.lesson || a.step || a.tour || a.stop)
        return Failure{"--link names problem, lesson and step itself; leave out the other options of them."};
    auto place = place_of_link(*a.link);
    if (!place) return Failure{place.error};
    auto state = make_state(find_lesson(place->lesson), std::move(place->problem), std::move(settings));
    if (!state) return state;
    ui::wait_for_walk(*state);
    ui::take_finished_trace(*state);
    if (place->step > state->trace->size())
        return Failure{"The link leads to step " + str(place->step) + ", but this walk has " +
                       str(state->trace->size()) + "."};
    ui::restore_view(*state, {.lesson = place->lesson,
                              .step = place->step,
                              .row = place->row,
                              .presenter = place->presenter || a.presenter,
                              .panel = place->panel});
    state->col = place->col;
    ui::refresh_explanation(*state);
    state->step_age = ui::AppState{}.step_age;  // it stands there from the beginning; nothing moves
    state->page = ui::page_of(place->page);
    return state;
}

}  // namespace tilewalk

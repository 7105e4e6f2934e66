#include "app/ui/state/tour.h"

#include "app/ui/state/inspection.h"
#include "app/ui/state/state.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

// Once its walk is there, the step and the cell of the stop.
void arrive_at_stop(AppState& state) {
    const TourStop& stop = state.tour->stop();
    state.tour->arriving = false;
    go_to(state, at_step(*state.trace, stop.step));
    leave_cell(state);
    if (stop.cell) choose_cell(state, *stop.cell);
}

// What is made wrong in the kernel of the page compare.
void break_kernel(AppState& state, const KernelFault& fault) {
    state.compare.fault = fault;
    if (fault.quantity != KernelFault::Quantity::none) state.compare.fault_amount = fault.amount;
}

// The record of the stop's kernel on several tiles, whatever problem the lessons show.
void go_inside_kernel(AppState& state, const TourStop& stop) {
    const InsideForm fresh;
    InsideForm& f = state.inside;
    f.kernel = stop.kernel.empty() ? fresh.kernel : stop.kernel;
    f.dtype = stop.kernel.empty() ? fresh.dtype : stop.dtype;
    f.source.clear();
    f.fault = stop.kernel_break;
    f.block = 0, f.launch = -1;
    f.own = f.playing = f.step_told = f.to_fault = f.ladder = false;
    f.memory_of = f.first_line = f.size = -1;
    f.wanted = stop.instruction;
    f.wanted_step = -1;
}

// Where the page stood when the tour began.
void go_back_inside(AppState& state, InsideForm back) {
    state.inside = std::move(back);
    state.inside.wanted =
        inside::StepQuery{std::nullopt,      state.inside.step + 1, state.inside.warp,
                          state.inside.lane, state.inside.cell,     state.inside.launch + 1};
    state.inside.wanted_step = -1;
}

bool of_tour(const Tour& tour, const ProblemPtr& problem) {
    return std::ranges::any_of(tour.script.stops,
                               [&](const TourStop& stop) { return stop.problem == problem; });
}

}  // namespace

Page page_of(std::string_view name) {
    const auto found = std::ranges::find(page_names, name);
    return found == page_names.end() ? Page::walk : static_cast<Page>(found - page_names.begin());
}

void toggle_tour(AppState& state) {
    if (state.tour) return leave_tour(state);
    open_tour(state, "");
}

bool is_tour(const std::vector<std::string>& paths) {
    return paths.size() == 1 && (paths[0].ends_with(".md") || paths[0].ends_with(".MD"));
}

std::optional<int> stop_left(const AppState& state) {
    const int stop = state.settings.tour_stop;
    return stop > 1 ? std::optional(stop - 1) : std::nullopt;
}

void open_tour(AppState& state, const std::string& path) {
    if (!state.hooks.read_tour) return notify(state, "There is no tour here.");
    Result<Tour> tour = state.hooks.read_tour(path);
    if (!tour) return notify(state, tour.error);
    if (tour->own) tour->at = std::min(stop_left(state).value_or(0), tour->stops() - 1);
    start_tour(state, std::move(*tour));
}

void start_tour(AppState& state, Tour tour) {
    tour.fault_back = state.tour ? state.tour->fault_back : state.compare.fault;
    tour.inside_back = state.tour ? state.tour->inside_back : state.inside;
    tour.back = state.tour ? std::move(state.tour->back) : WalkView(state);
    state.tour = std::make_shared<Tour>(std::move(tour));
    state.settings.tour_offered = true;
    state.notice.clear();
    state.timeline = {};
    go_to_stop(state, state.tour->at);
}

void go_to_stop(AppState& state, int n) {
    Tour& tour = *state.tour;
    const bool ended = n >= tour.stops();
    if (tour.own) state.settings.tour_stop = ended ? 0 : std::max(0, n) + 1;
    if (ended) return leave_tour(state);
    tour.at = std::max(0, n);
    const TourStop& stop = tour.stop();
    state.player.playing = false;
    state.edit.reset();
    state.inspection.reset();
    state.page = page_of(stop.page);
    break_kernel(state, stop.kernel_fault);
    if (state.page == Page::inside) go_inside_kernel(state, stop);
    state.presenter = stop.presenter.value_or(state.presenter);
    show_side(state, stop.side == "problem", stop.side == "break");
    state.left_at.clear();
    const bool shown = !state.pending && state.lesson == stop.lesson && state.problem == stop.problem;
    if (!shown && !show_walk(state, *stop.lesson, stop.problem)) return;
    tour.arriving = state.pending != nullptr;
    if (!tour.arriving) arrive_at_stop(state);
}

void go_to_chapter(AppState& state, int by) {
    const TourScript& script = state.tour->script;
    if (script.chapters.empty()) return notify(state, "This tour has no chapters.");
    const int n = stop_of_next_chapter(script, state.tour->at, by);
    if (n == state.tour->at)
        return notify(state, by > 0 ? "This is the last chapter." : "This is where the tour begins.");
    go_to_stop(state, n);
}

void settle_tour(AppState& state) {
    if (state.tour->arriving && !state.pending) arrive_at_stop(state);
}

void leave_tour(AppState& state) {
    const std::shared_ptr<Tour> tour = std::move(state.tour);
    state.tour.reset();
    place_list = nullptr;
    const ProblemPtr last = state.problem;
    const bool changed = last != tour->back.problem && !of_tour(*tour, last);
    break_kernel(state, tour->fault_back);
    go_back_inside(state, tour->inside_back);
    go_back(state, std::move(tour->back));
    // What the user made of a problem on the way is not lost.
    if (!changed) return;
    state.undo.push_back(last);
    notify(state,
           "This is where the tour began; Ctrl Z brings back the problem that you changed on the way.");
}

bool at_stop(const AppState& state) {
    const TourStop& stop = state.tour->stop();
    if (state.page != page_of(stop.page)) return false;
    if (state.page == Page::compare) return state.compare.fault == stop.kernel_fault;
    if (const InsideForm& f = state.inside; state.page == Page::inside)
        return f.wanted_step < 0 ||
               (f.step == f.wanted_step && f.launch == f.wanted_launch && f.fault == stop.kernel_break &&
                (!f.fault.empty() || f.warp == stop.instruction.warp));
    if (state.page != Page::walk) return true;
    return state.lesson == stop.lesson && state.problem == stop.problem && state.cursor.step == stop.step;
}

bool points_at(const AppState& state, std::string_view panel) {
    if (!state.tour) return false;
    const TourPlace& place = state.tour->stop().place;
    return place.kind == TourPlace::Kind::panel && place.name == panel;
}

bool speaks_of_the_foot(const Tour& tour) {
    const TourPlace& place = tour.stop().place;
    return place.kind == TourPlace::Kind::panel && (place.name == "Explanation" || place.name == "Timeline");
}

}  // namespace tilewalk::ui

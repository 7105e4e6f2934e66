#include "app/ui/shell/bridge.h"

#include "app/ui/chapters/compare/page.h"
#include "app/ui/chapters/inside/bridge.h"
#include "app/ui/state/state.h"
#include "core/lessons/table.h"

#include <cmath>

namespace tilewalk::ui {

namespace {

using inside::KernelNumber;
using inside::Quantity;

const Lesson& flash() { return *find_lesson("flash-forward"); }

void from_walk(AppState& state) {
    if (state.lesson != &flash())
        return notify(state,
                      "The kernels do what the lesson Flash forward does: the way to them begins there.");
    inside_page(state).brought.reset();
    state.inside.own = true;
    ask_inside(state, {.walk = state.trace, .step = state.cursor.step, .cell = chosen_cell(state)});
}

// ---- The page Kernel and CPU

KernelNumber compared_number(const Map& map, const MapCell& at, int tile, const Problem& p) {
    KernelNumber out;
    const int row = map.row0 + at.row, column = map.column0 + at.column;
    out.beside = {Quantity::m, row, 0, tile};
    out.value = map.values.kernel(at.row, at.column);
    if (!map.quantity) {
        out.region = info(map.slot).name, out.row = row, out.column = column, out.writes = true;
        return out;
    }
    const bool one = one_column(map.slot);
    out.number = inside::Number{*map.quantity, row, one ? 0 : column, tile};
    if (*map.quantity == Quantity::S || *map.quantity == Quantity::m)
        out.factor = std::abs(p.softmax_scale());
    return out;
}

void from_compared(AppState& state) {
    const auto map = map_of(state);
    if (!map || map->far.size() == 0)
        return notify(state, "No kernel has run yet, whose cells could be gone to.");
    const KernelTrace& kernel = *state.comparing->shown->kernel;
    const MapCell at = shown_cell(state, *map);
    InsidePage& page = inside_page(state);
    const bool walked = state.comparing->source.empty() && &compared_problem(state) == state.problem.get();
    page.brought = walked ? nullptr : std::make_shared<const Problem>(kernel.problem);
    state.inside.own = true;
    choose_inside_kernel(state, kernel.kernel);
    state.inside.dtype = kernel.dtype;
    ask_inside(state, {.cell = {map->slot, map->row0 + at.row, map->column0 + at.column},
                       .number = compared_number(*map, at, place_of(state).j, kernel.problem),
                       .from = Page::compare});
}

// ---- And back

// A walk of the problem that the kernel ran on: the shown one, or where that is another one, one with the
// kernel's tiles.
Result<std::shared_ptr<const Trace>> walk_beside(const AppState& state) {
    const Problem& recorded = recorded_problem(state);
    if (&recorded != state.problem.get()) {
        Problem walked = recorded;
        const inside::Record& record = state.kernel_walk->shown->record;
        walked.Br = record.Br, walked.Bc = record.Bc;
        return build_trace(flash(), walked);
    }
    if (state.lesson == &flash() && !state.pending) return state.trace;
    return build_trace(flash(), recorded);
}

inside::LessonCell cell_in_lesson(const Trace& walk, const LessonNumber& number, const InsidePage& page) {
    if (number.entry) return inside::lesson_cell(walk, number.entry->number, page.shown->record);
    // A block reads K and V for its own queries: those of the first number that it holds.
    const auto& held = page.bridge->all();
    const int query = held.empty() ? 0 : held.front().number.row;
    return inside::lesson_cell(walk, number.region, number.row, number.column, query);
}

void to_lesson(AppState& state) {
    const InsidePage& page = inside_page(state);
    if (page.arrived && page.arrived->from.from == Page::compare) return void(state.page = Page::compare);
    const auto number = lesson_number(state);
    if (!number)
        return notify(state, page.run || page.bridge_run ? "What its lanes hold is still being looked up."
                             : !page.bridge_failure.empty()
                                 ? page.bridge_failure
                                 : "This lane holds no number of the lesson here.");
    const auto walk = walk_beside(state);
    if (!walk) return notify(state, walk.error);
    const inside::LessonCell to = cell_in_lesson(**walk, *number, page);
    if (to.step < 0) return notify(state, "The lesson has no step for " + number->symbol + ".");
    state.page = Page::walk;
    state.show_problem = state.show_break = false;
    set_lesson(state, flash());
    if (&recorded_problem(state) != state.problem.get()) {
        Problem walked = (*walk)->problem();
        if (!set_problem(state, std::move(walked))) return void(state.page = Page::inside);
    }
    state.going_to = WalkPlace{flash().id, to.step, to.cell.row, to.cell.col};
    arrive(state);
}

}  // namespace

bool has_bridge(const AppState& state) {
    return state.page == Page::inside || state.page == Page::compare ||
           (state.page == Page::walk && state.lesson == &flash());
}

void cross_bridge(AppState& state) {
    switch (state.page) {
    case Page::walk: return from_walk(state);
    case Page::compare: return from_compared(state);
    case Page::inside: return to_lesson(state);
    default:
        return notify(state, "From a step of the lesson Flash forward V leads to the kernel that does it.");
    }
}

}  // namespace tilewalk::ui

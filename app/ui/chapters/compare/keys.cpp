// What the keys of the page CPU vs GPU do, and its clock.
#include "app/ui/chapters/compare/page.h"
#include "app/ui/state/state.h"

#include <algorithm>
#include <imgui.h>
#include <limits>

namespace tilewalk::ui {

namespace {

constexpr double frame_while_running = 0.1;

// Escape ends a run. False: there is nothing of the page's to close.
bool close_topmost(AppState& state) {
    if (!state.comparing || !state.comparing->run) return false;
    cancel_comparison(state);
    return true;
}

// Along a row of tiles, and on to the next one that was computed
void step_tile(AppState& state, int by) {
    const Place at = place_of(state);
    choose_tile(state, at.i, at.j + by);
}

void go_to_shown_cell(AppState& state) {
    const auto map = map_of(state);
    if (!map || map->far.size() == 0) return;
    const MapCell at = shown_cell(state, *map);
    go_to_cell(state, *map, at.row, at.column);
}

bool answer_ctrl_key(AppState& state, Key key) {
    if (key == Key::z) return undo_fault(state), true;
    if (key == Key::y) return true;  // edits belong to a walk
    if (key != Key::c) return false;
    return copy_verdict(state), true;
}

}  // namespace

bool answer_compare_key(AppState& state, const KeyPress& press) {
    if (press.ctrl) return answer_ctrl_key(state, press.key);
    const Place at = place_of(state);
    switch (press.key) {
    case Key::left:
    case Key::page_up: return step_tile(state, -1), true;
    case Key::right:
    case Key::page_down: return step_tile(state, 1), true;
    case Key::up: return choose_row(state, at.row - 1), true;
    case Key::down: return choose_row(state, at.row + 1), true;
    case Key::home: return choose_row(state, 0), true;
    case Key::end: return choose_row(state, std::numeric_limits<int>::max()), true;
    case Key::space:
    case Key::enter: return start_comparison(state), true;
    case Key::escape: return close_topmost(state);
    case Key::l: return state.compare.measure = (state.compare.measure + 1) % 3, true;
    case Key::d: return show_finding(state), true;
    case Key::g: return go_to_shown_cell(state), true;
    default: return prints_one_of(press.key, "icmbxes");  // which belong to a walk
    }
}

double compare_idle_seconds(const AppState& state) {
    const bool waits = !state.comparing || state.comparing->run || !state.comparing->probe;
    return waits ? frame_while_running : std::numeric_limits<double>::infinity();
}

}  // namespace tilewalk::ui

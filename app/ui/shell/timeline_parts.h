// Parts of the timeline: its window on the walk, its cells, ranges of steps, and the bar below.
#pragma once

#include "app/ui/shell/panels.h"
#include "app/ui/state/timeline_grid.h"

namespace tilewalk::ui {

/// Which lanes and columns are shown, and where.
struct LaneWindow {
    float x0, y0, pitch, lane, gap;
    int first_lane, lanes, offset, columns;
    float roomy;    ///< from this pitch on the cells stand well apart
    Rect overview;  ///< the strip that shows the whole walk; empty if everything is shown

    float x_of(int column) const { return x0 + px(column - offset) * pitch; }
    float y_of(int row) const { return y0 + px(row - first_lane) * (lane + gap); }
    /// Between two cells.
    float space() const { return pitch > roomy ? 5.0f : pitch > 8 ? 2.0f : 1.0f; }
    bool shows_lane(int row) const { return row >= first_lane && row < first_lane + lanes; }
};
/// Where step k lies; empty if it is not shown.
Rect cell_of(const TimelineGrid& grid, const LaneWindow& window, int k);
/// Where what comes begins in this lane while a question asks for it; otherwise the number of columns.
int first_hidden_column(const AppState& state, int row);
/// The step under the mouse: the last one of the lane that does not lie right of it.
int step_at(const TimelineGrid& grid, const LaneWindow& window, Point mouse);

// timeline_cell.cpp
constexpr float least_with_symbol = 15;  ///< height of a cell that has letters in it
void step_cell(const Canvas& canvas, const AppState& state, int k, float x, float y, float w, float h,
               const LaneStyle& style);
/// As narrow as a cell may be that has its symbol in it.
float least_cell(const Canvas& canvas, const Trace& trace, int k);
/// What the marks over the cells in sight mean, at the right of the area; those that have room.
void legend_of_marks(const Canvas& canvas, const AppState& state, const TimelineGrid& grid,
                     const LaneWindow& window, const Rect& area);
/// A step that is still to come; nothing in it tells which.
void waiting_cell(const Canvas& canvas, float x, float y, float w, float h);
void skipped_cell(const Canvas& canvas, float x, float y, float w, float h, ImU32 colour);

// timeline_range.cpp
/// The steps that one press of Tile or Block goes over, round step k.
StepRange range_of_level(const Trace& trace, int k, Level level);
/// Below the cells: the looped range. Over them: the bracket of the tile or block, breakpoints, bookmarks.
/// `group`: cells with a name below them, from whose first one on the bracket goes; empty: those of the tile.
void draw_loop(const Canvas& canvas, const AppState& state, const LaneWindow& window);
void draw_marks(const Canvas& canvas, const AppState& state, const LaneWindow& window, const Rect& group);
/// True while one of the ends is being moved.
bool loop_handles(const Canvas& canvas, AppState& state, const LaneWindow& window);
/// "loop 12–19"; empty while there is none.
std::string loop_label(const AppState& state);

// timeline_overview.cpp
void overview(const Canvas& canvas, AppState& state, const LaneWindow& window);
/// Every step of the walk at its place, lane behind lane.
void run_bar(const Canvas& canvas, AppState& state, const Rect& area);
/// The wheel zooms round the mouse, with Shift it moves the view.
void answer_wheel(AppState& state, const LaneWindow& window, float mouse_x);

// timeline_transport.cpp
void transport(const Canvas& canvas, AppState& state, const Rect& area, float y);

}  // namespace tilewalk::ui

// Ranges and places of the timeline: what is looped, the current tile or block, breakpoints and bookmarks.
#include "app/ui/kit/focus.h"
#include "app/ui/kit/items.h"
#include "app/ui/shell/timeline_parts.h"
#include "app/ui/state/marks.h"
#include "app/ui/state/state.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

/// The part of a lane that steps of the range take; empty if none is shown there.
Rect part_of_lane(const TimelineGrid& grid, const LaneWindow& v, int row, const StepRange& range) {
    const int first = std::max(range.first, grid.begin(row)), last = std::min(range.last, grid.end(row) - 1);
    if (first > last || !v.shows_lane(row)) return {};
    const int from = std::max(grid.column_of(first), v.offset),
              to = std::min(grid.column_of(last) + grid.width_of(last), v.offset + v.columns);
    if (from >= to) return {};
    return {v.x_of(from), v.y_of(row), px(to - from) * v.pitch - v.space(), v.lane};
}

bool same_tile(const Step& a, const Step& b) { return a.i == b.i && a.j == b.j && a.phase == b.phase; }

// Ends pointing up to the cells that it holds.
void bracket(const Canvas& c, const Rect& part, float room) {
    const float drop = room >= 6 ? 5.0f : 2.0f, y = part.bottom() + drop, width = room >= 6 ? 2.0f : 1.0f;
    const float right = part.right();
    c.line({part.x, y}, {right, y}, c.theme->t2, width);
    for (const float x : {part.x + .5f, right - .5f}) c.line({x, y - drop + 1}, {x, y}, c.theme->t2, width);
}

void breakpoint_mark(const Canvas& c, const Rect& cell) {
    const float r = cell.w < 14 ? 2.5f : 4.0f, x = cell.x + r - 1, y = cell.y + 1;
    c.disc(x, y, r + 1.5f, c.theme->panel);
    c.disc(x, y, r, c.theme->danger);
}

void bookmark_flag(const Canvas& c, const Rect& cell) {
    const float size = cell.w < 14 ? 6.0f : 8.0f, y = cell.y - 5;
    const float x = cell.w < 24 ? cell.x + cell.w / 2 - 2 : cell.right() - size - 2;  // clear of the symbol
    c.rect(x - 1, y - 1, size + 3, size + 2, c.theme->panel, 2);
    c.rect(x, y, 1.5f, size + 2, c.theme->t1);
    c.polygon({{x + 1.5f, y}, {x + size + 1, y + size * .4f}, {x + 1.5f, y + size * .8f}}, c.theme->t1);
}

float edge_of_handle(const Rect& cell, bool first) { return first ? cell.x - 2 : cell.right() + 2; }

// A bar with a knob; the end that is still missing has no knob.
void draw_handle(const Canvas& c, const Rect& cell, bool first, bool whole) {
    const float x = edge_of_handle(cell, first);
    c.rect(x - 1.5f, cell.y - 3, 3, cell.h + 6, c.theme->focus, 1);
    if (whole) c.disc(x, cell.y - 3, 3.5f, c.theme->focus);
    if (whole) c.disc(x, cell.bottom() + 3, 3.5f, c.theme->focus);
}

void mark_loop(AppState& state) {
    StepRange& loop = state.timeline.loop;
    const int k = state.cursor.step;
    if (loop.set()) {
        loop = {};
        return notify(state, "The loop is off.");
    }
    if (loop.first < 0) {
        loop = {k, -1};
        return notify(state,
                      "The loop begins at step " + str(k + 1) + ". Go to its last step and press J again.");
    }
    loop = {std::min(loop.first, k), std::max(loop.first, k)};
    notify(state, "Playing goes round in steps " + str(loop.first + 1) + " to " + str(loop.last + 1) +
                      ". J ends the loop.");
}

void zoom_by_key(AppState& state, float factor) {
    constexpr float most = 16;
    state.timeline.zoom = std::clamp(state.timeline.zoom * factor, 1.0f, most);
    state.timeline.offset = -1;
}

}  // namespace

StepRange range_of_level(const Trace& trace, int k, Level level) {
    const auto together = [&](int a, int b) {
        return level == Level::block ? trace.step(a).phase == trace.step(b).phase
                                     : same_tile(trace.step(a), trace.step(b));
    };
    StepRange range{k, k};
    while (range.first > 0 && together(range.first - 1, k)) --range.first;
    while (range.last + 1 < trace.size() && together(range.last + 1, k)) ++range.last;
    return range;
}

void draw_loop(const Canvas& c, const AppState& state, const LaneWindow& v) {
    const StepRange& loop = state.timeline.loop;
    if (!loop.set()) return;
    for (int row = v.first_lane; row < v.first_lane + v.lanes; ++row) {
        const Rect part = part_of_lane(state.look.grid, v, row, loop);
        if (part.w > 0)
            c.rect(part.x - 2, part.y - 3, part.w + 4, part.h + 6, with_alpha(c.theme->focus, .22f),
                   radius::cell);
    }
}

void draw_marks(const Canvas& c, const AppState& state, const LaneWindow& v, const Rect& group) {
    const TimelineGrid& grid = state.look.grid;
    const int current = state.cursor.step, row = grid.lane_of(current);
    const StepRange range = range_of_level(*state.trace, current, state.player.level);
    Rect part = part_of_lane(grid, v, row, range);
    // A round has its name below its first step, which hands on what the next one needs.
    if (part.w > 0 && part.x > group.x && part.right() <= group.right())
        part = {group.x, part.y, part.right() - group.x, part.h};
    if (part.w > 0 && range.first < range.last) bracket(c, part, v.gap);
    if (!state.marks) return;
    for (int k = grid.begin(v.first_lane); k < grid.end(v.first_lane + v.lanes - 1); ++k) {
        const Rect cell = cell_of(grid, v, k);
        if (cell.w <= 0) continue;
        const StepMarks marks = marks_of_step(state, k);
        if (marks.breakpoint) breakpoint_mark(c, cell);
        if (marks.bookmark > 0) bookmark_flag(c, cell);
    }
}

bool loop_handles(const Canvas& c, AppState& state, const LaneWindow& v) {
    StepRange& loop = state.timeline.loop;
    bool moved = false;
    for (const bool first : {true, false}) {
        const int k = first ? loop.first : loop.last;
        if (k < 0) continue;
        const Rect cell = cell_of(state.look.grid, v, k);
        if (cell.w <= 0) continue;
        draw_handle(c, cell, first, loop.set());
        const float x = edge_of_handle(cell, first);
        const char* id = first ? "##loop begins" : "##loop ends";
        const Hot hot = hot_area(c, id, x - 5, cell.y - 6, 10, cell.h + 12);
        drop_focus_stop();  // J sets it
        if (!hot.held || !loop.set()) continue;
        const int wanted = step_at(state.look.grid, v, c.mouse());
        (first ? loop.first : loop.last) = first ? std::min(wanted, loop.last) : std::max(wanted, loop.first);
        moved = true;
    }
    return moved;
}

std::string loop_label(const AppState& state) {
    const StepRange& loop = state.timeline.loop;
    if (loop.first < 0) return {};
    const std::string first = str(loop.first + 1);
    return loop.set() ? "loop " + first + "–" + str(loop.last + 1) : "loop " + first + "–…";
}

bool answer_timeline_key(AppState& state, const KeyPress& press) {
    if (press.ctrl || press.alt) return false;
    switch (press.key) {
    case Key::j: mark_loop(state); return true;
    case Key::plus: zoom_by_key(state, 1.5f); return true;
    case Key::minus: zoom_by_key(state, 1 / 1.5f); return true;
    default: return false;
    }
}

}  // namespace tilewalk::ui

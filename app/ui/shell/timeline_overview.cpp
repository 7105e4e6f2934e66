// The whole walk as a strip below the lanes, where these show a part of it, and the wheel that chooses it.
#include "app/ui/kit/items.h"
#include "app/ui/shell/timeline_parts.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

struct Strip {
    const Canvas& c;
    const TimelineGrid& grid;
    Rect a;
    float x_of(int column) const { return a.x + a.w * px(column) / px(grid.columns); }
    float y_of(int row) const { return a.y + a.h * px(row) / px(grid.count()); }
};

// One bar for each run of steps that look alike: done, to come, skipped (left out).
void draw_lane(const Strip& strip, const AppState& state, int row) {
    const Theme& t = *strip.c.theme;
    const TimelineGrid& grid = strip.grid;
    const auto look = [&](int k) {
        return state.trace->step(k).op == Op::skip ? 0 : k <= state.cursor.step ? 2 : 1;
    };
    const float y = strip.y_of(row), h = std::max(1.0f, strip.y_of(row + 1) - y - .5f);
    int k = grid.begin(row), last = grid.end(row);
    const int hidden = first_hidden_column(state, row);
    while (last > k && grid.column_of(last - 1) >= hidden) --last;
    if (hidden < grid.columns)
        strip.c.rect(strip.x_of(hidden), y, strip.x_of(grid.columns) - strip.x_of(hidden), h, t.line2);
    while (k < last) {
        int end = k + 1;
        while (end < last && look(end) == look(k) &&
               grid.column_of(end) == grid.column_of(end - 1) + grid.width_of(end - 1))
            ++end;
        const float x0 = strip.x_of(grid.column_of(k)),
                    x1 = strip.x_of(grid.column_of(end - 1) + grid.width_of(end - 1));
        if (look(k) > 0) strip.c.rect(x0, y, x1 - x0, h, look(k) == 2 ? t.t3 : t.line2);
        k = end;
    }
}

void draw_loop_part(const Strip& strip, const AppState& state) {
    const StepRange& loop = state.timeline.loop;
    if (!loop.set()) return;
    for (int row = 0; row < strip.grid.count(); ++row) {
        const int first = std::max(loop.first, strip.grid.begin(row)),
                  last = std::min(loop.last, strip.grid.end(row) - 1);
        if (first > last) continue;
        const float x0 = strip.x_of(strip.grid.column_of(first)),
                    x1 = strip.x_of(strip.grid.column_of(last) + strip.grid.width_of(last));
        strip.c.rect(x0, strip.y_of(row), x1 - x0, std::max(2.0f, strip.y_of(row + 1) - strip.y_of(row)),
                     with_alpha(strip.c.theme->focus, .35f));
    }
}

float zoom_limit(const AppState& state, const LaneWindow& v) {
    constexpr float most_pitch = 64;
    return std::max(1.0f, state.timeline.zoom * most_pitch / v.pitch);
}

}  // namespace

void overview(const Canvas& c, AppState& state, const LaneWindow& v) {
    const Strip strip{c, state.look.grid, v.overview};
    const Rect& a = v.overview;
    const int rows = strip.grid.count(), step = ceil_div(rows, std::max(1, static_cast<int>(a.h)));
    c.rect(a.x - 2, a.y - 2, a.w + 4, a.h + 4, c.theme->well, radius::bar);
    for (int row = 0; row < rows; row += step) draw_lane(strip, state, row);
    draw_loop_part(strip, state);
    const float now = strip.x_of(strip.grid.column_of(state.cursor.step));
    c.rect(now - 1, strip.y_of(strip.grid.lane_of(state.cursor.step)) - 1, 3,
           std::max(4.0f, a.h / px(rows) + 2), c.theme->t1);
    const float left = strip.x_of(v.offset),
                right = strip.x_of(std::min(strip.grid.columns, v.offset + v.columns)),
                top = strip.y_of(v.first_lane), bottom = strip.y_of(v.first_lane + v.lanes);
    c.frame(left - 2, top - 2, right - left + 4, bottom - top + 4, c.theme->t1, 1.5f, 2);

    const Hot hot = hot_area(c, "##overview", a.x, a.y - 4, a.w, a.h + 8, ItemKind::panel);
    if (hot.hovered) tooltip(c, "The whole walk; drag to move the part that is shown");
    if (!hot.held) return;
    const float place = std::clamp((c.mouse().x - a.x) / a.w, 0.0f, 1.0f);
    const int column = static_cast<int>(place * px(strip.grid.columns));
    if (v.columns < strip.grid.columns) {
        const int most = strip.grid.columns - v.columns;
        state.timeline.offset = px(std::clamp(column - v.columns / 2, 0, most));
        return;
    }
    // Only lanes are left out: they follow the step, so the drag moves it.
    const float down = std::clamp((c.mouse().y - a.y) / a.h, 0.0f, .999f);
    const int row = static_cast<int>(down * px(rows));
    int k = strip.grid.begin(row);
    while (k + 1 < strip.grid.end(row) && strip.grid.column_of(k + 1) <= column) ++k;
    state.player.playing = false;
    go_to(state, at_step(*state.trace, k));
}

void run_bar(const Canvas& c, AppState& state, const Rect& a) {
    const TimelineGrid& grid = state.look.grid;
    const Theme& t = *c.theme;
    const int now = state.cursor.step, row = grid.lane_of(now), all = state.trace->size();
    const float seam = grid.count() <= 32 ? 2.0f : 0.0f;
    const auto x_of = [&](int k) { return a.x + a.w * px(k) / px(all); };
    const auto part = [&](int from, int to) {
        const auto run = [&](int first, int end, ImU32 colour) {
            if (first < end) c.rect(x_of(first), a.y, x_of(end) - x_of(first), a.h, colour, 1);
        };
        run(from, std::min(to, now + 1), t.t3);
        run(std::max(from, now + 1), to,
            t.light ? t.line : t.line2);  // on white line2 is nearly as dark as t3
    };
    // How long what comes is would tell what it skips.
    const int known = hides_what_comes(state) ? row : grid.count() - 1;
    for (int lane = 0; lane <= known; ++lane) part(grid.begin(lane), lane < known ? grid.end(lane) : all);
    for (int lane = 1; lane <= known; ++lane)
        c.rect(x_of(grid.begin(lane)) - seam / 2, a.y - 1, seam, a.h + 2, t.bg);
    c.rect(x_of(now), a.y - 1, std::max(2.0f, x_of(now + 1) - x_of(now)), a.h + 2, t.t1, 1);

    const Hot hot = hot_area(c, "##run", a.x, a.y - 2, a.w, a.h + 5, ItemKind::panel);
    if (hot.hovered) tooltip(c, "The whole walk");
    if (!hot.held) return;
    const float place = std::clamp((c.mouse().x - a.x) / a.w, 0.0f, .9999f);
    state.player.playing = false;
    go_to(state, at_step(*state.trace, static_cast<int>(place * px(all))));
}

void answer_wheel(AppState& state, const LaneWindow& v, float mouse_x) {
    const ImGuiIO& io = ImGui::GetIO();
    TimelineView& view = state.timeline;
    const float most = px(state.look.grid.columns), now = px(v.offset);
    const float aside = io.KeyShift ? io.MouseWheel + io.MouseWheelH : io.MouseWheelH;
    if (aside != 0 && v.columns < state.look.grid.columns)
        view.offset = std::clamp(now - aside * std::max(1.0f, px(v.columns) / 8), 0.0f, most);
    if (io.MouseWheel == 0 || io.KeyShift) return;
    const float before = view.zoom;
    view.zoom = std::clamp(view.zoom * std::pow(1.25f, io.MouseWheel), 1.0f, zoom_limit(state, v));
    // What lies under the mouse stays there.
    const float under = (mouse_x - v.x0) / v.pitch;
    view.offset = std::max(0.0f, std::round(now + under - under * before / view.zoom));
    if (view.zoom == 1) view.offset = -1;
}

}  // namespace tilewalk::ui

#include "app/ui/chapters/backward/backward.h"

#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

enum class When { before, now, after };

struct Area {
    double width, height, area;  // P, dP − D, dS
    When when;
};

// All keys of the row in their order, each from the step of its own tile.
std::vector<Area> areas_of(const AppState& state, int row) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step, i = trace.step(k).i;
    std::vector<Area> out(static_cast<std::size_t>(state.problem->N_kv()), {0, 0, 0, When::after});
    for (int s = 0; s < trace.size(); ++s) {
        if (trace.step(s).op != Op::ds || trace.step(s).i != i) continue;
        const Value &P = *trace.live(Slot::Prob, s).value, &dP = *trace.live(Slot::dP, s).value,
                    &dS = *trace.live(Slot::dS, s).value;
        const double D = trace.live(Slot::Di, s).value->data(row - P.region.row, 0);
        for (int c = 0; c < P.region.cols; ++c) {
            const int r = row - P.region.row;
            out[static_cast<std::size_t>(P.region.col + c)] = {P.data(r, c), dP.data(r, c) - D, dS.data(r, c),
                                                               s < k    ? When::before
                                                               : s == k ? When::now
                                                                        : When::after};
        }
    }
    return out;
}

void box(const Canvas& c, const Rect& r, When when) {
    const Theme& t = *c.theme;
    const ImU32 colour = hue(t, Role::S);
    if (when == When::after) return c.dashed_frame(r.x, r.y, r.w, r.h, t.t3, 1, {3, 3});
    c.rect(r.x, r.y, r.w, r.h, mix(t.well, colour, when == When::now ? .5f : .12f), 2);
    if (when == When::before && r.w > 4 && r.h > 4)
        c.hatch(r.x + 1, r.y + 1, r.w - 2, r.h - 2, mix(t.well, t.t3, .5f), 6);
    c.frame(r.x, r.y, r.w, r.h, when == When::now ? t.focus : t.line2, when == When::now ? 1.8f : 1, 2);
}

// Where the row is drawn: keys from left to right, zero at the mean D.
struct Plot {
    float x, w, zero, unit;
};

Plot plot_of(const Rect& pane, const std::vector<Area>& list) {
    double up = 0, down = 0;
    for (const Area& a : list) {
        if (a.width <= 0) continue;
        up = std::max(up, a.height), down = std::max(down, -a.height);
    }
    const float label = 17, h = pane.h - 2 * label;
    const float unit = up + down > 0 ? h / px(up + down) : 0;
    const float zero = up + down > 0 ? pane.y + label + px(up) * unit : pane.y + pane.h / 2;
    return {pane.x, pane.w - 34, zero, unit};
}

// The number of an area: in its box, else above the line; below a box that hangs from the line its neighbours
// would be in the way.
void area_label(const Canvas& c, const Plot& plot, const Area& a, const Rect& r, float& labelled) {
    const std::string text = format_short(a.area, 4);
    const float w = text_width(Face::mono, size::small, text), mid = r.x + r.w / 2;
    if (w + 8 <= r.w && r.h >= 18) {
        if (a.when == When::before || mid - w / 2 < labelled + 4) return;
        c.text(mid, r.y + r.h / 2, text, size::small, 0, Face::mono, Align::center);
        labelled = mid + w / 2;
        return;
    }
    if (a.when != When::now) return;
    const bool up = a.height > 0;
    const float wanted = up || w <= r.w ? mid - w / 2 : r.x + r.w - w;  // hanging: flush with its right edge
    const float lo = std::max(plot.x - 4, labelled + 6), hi = plot.x + plot.w - w;
    const float left = std::min(std::max(wanted, lo), hi);
    if (left < lo || std::abs(left - wanted) > 40) return;
    c.text(left, (up ? r.y : plot.zero) - 9, text, size::small, 0, Face::mono);
    labelled = left + w;
}

}  // namespace

void areas(const Canvas& c, const AppState& state, const Rect& pane, int row) {
    const std::vector<Area> list = areas_of(state, row);
    const Plot plot = plot_of(pane, list);
    double widths = 0;
    for (const Area& a : list) widths += a.width;
    std::vector<std::pair<const Area*, Rect>> boxes;
    float x = pane.x;
    for (const Area& a : list) {
        const float w = widths > 0 ? px(a.width / widths) * plot.w : 0,
                    h = std::max(std::abs(px(a.height)) * plot.unit, 1.5f);
        if (w >= .5f)
            boxes.push_back(
                {&a, {x + .5f, a.height > 0 ? plot.zero - h : plot.zero, std::max(w - 1, 1.0f), h}});
        x += w;
    }
    for (const auto& [area, r] : boxes) box(c, r, area->when);
    float labelled = -1e9f;
    for (const auto& [area, r] : boxes) area_label(c, plot, *area, r, labelled);
    const ImU32 mean = hue(*c.theme, Role::alpha);
    c.line({pane.x - 3, plot.zero}, {pane.x + plot.w + 5, plot.zero}, mean, 1.8f);
    const float w = c.text(pane.x + plot.w + 9, plot.zero, "D", size::lead, mean, Face::semibold_italic);
    c.text(pane.x + plot.w + 9 + w, plot.zero + 4, std::to_string(row), size::small, mean);
}

}  // namespace tilewalk::ui

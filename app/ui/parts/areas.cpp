#include "app/ui/parts/areas.h"

#include "app/ui/parts/lens_parts.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

using When = Area::When;

// Above the line in the hue of dS, below it in that of negative numbers, as in its cells.
void box(const Canvas& c, const Rect& r, When when, bool chosen, bool positive) {
    const Theme& t = *c.theme;
    const ImU32 colour = positive ? hue(t, Role::S) : t.t3;
    if (when == When::after) return c.dashed_frame(r.x, r.y, r.w, r.h, t.t3, 1, {3, 3});
    c.rect(r.x, r.y, r.w, r.h, mix(t.well, colour, when == When::now ? .42f : .12f), 2);
    if (when == When::before && r.w > 4 && r.h > 4)
        c.hatch(r.x + 1, r.y + 1, r.w - 2, r.h - 2, mix(t.well, t.t3, .5f), 6);
    c.frame(r.x, r.y, r.w, r.h,
            chosen              ? t.focus
            : when == When::now ? colour
                                : t.line2,
            chosen              ? 2.4f
            : when == When::now ? 1.4f
                                : 1,
            2);
}

// Where the row is drawn: keys from left to right, zero at the mean D.
struct Plot {
    float x, w, zero, unit, bottom;
};

Plot plot_of(const Rect& pane, const std::vector<Area>& list) {
    double up = 0, down = 0;
    for (const Area& a : list) {
        if (a.width <= 0) continue;
        up = std::max(up, a.height), down = std::max(down, -a.height);
    }
    const float label = 17, keys = 16;  // all numbers stand above their boxes, or in them; keys below
    const float h = pane.h - label - keys - 3;
    const float unit = up + down > 0 ? h / px(up + down) : 0;
    const float zero = up + down > 0 ? pane.y + label + px(up) * unit : pane.y + pane.h / 2;
    return {pane.x, pane.w - 34, zero, unit, pane.bottom() - keys};
}

// The number of an area: in its box, else above the line; on stage below a hanging box, where its neighbours
// leave room.
void area_label(const Canvas& c, const Plot& plot, const Area& a, const Rect& r,
                const std::vector<std::pair<const Area*, Rect>>& boxes, float& labelled) {
    const std::string text = format_short(a.area);
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
    const bool below = far_type() && !up && r.bottom() + 16 <= plot.bottom;
    // Below a box it goes aside from a deeper one at its left.
    float deeper = plot.x - 4;
    for (const auto& [other, box] : boxes)
        if (below && box.right() <= r.x + 1 && box.bottom() > r.bottom() + 1)
            deeper = std::max(deeper, box.right() + 6);
    const float lo = std::max(deeper, labelled + 6), hi = plot.x + plot.w - w;
    const float left = std::min(std::max(wanted, lo), hi);
    if (left < lo || std::abs(left - wanted) > 40) return;
    const float y =
        below ? r.bottom() + 9 : (up ? r.y : plot.zero) - (far_type() ? 11 : 9);  // not on the line of D
    c.rect(left - 2, y - 8, w + 4, 15, c.theme->well);  // outlines of what comes end beside it
    c.text(left, y, text, size::small, 0, Face::mono);
    labelled = left + w;
}

// What a box is as wide and as high as, and which key it belongs to.
void name_areas(const Canvas& c, const Problem& p, const Rect& pane, const Plot& plot,
                const std::vector<std::pair<const Area*, Rect>>& boxes, const Area* first) {
    float end = -1e9f;
    for (const auto& [area, r] : boxes) {
        std::string key = index_label(p, "k", static_cast<int>(area - first));
        const std::string later = key + " later";
        if (far_type() && area->when == When::after &&
            text_width(Face::regular, size::small, later) + 8 <= r.w)
            key = later;
        const float w = text_width(Face::regular, size::small, key), mid = r.x + r.w / 2;
        if (mid - w / 2 < end + 4 || mid + w / 2 > plot.x + plot.w + 6) continue;
        const bool now = area->when == When::now;
        c.text(mid, pane.bottom() - 6, key, size::small, now ? c.theme->t1 : c.theme->t3, Align::center);
        end = mid + w / 2;
    }
}

}  // namespace

void areas(const Canvas& c, const Problem& p, const Rect& pane, const std::vector<Area>& list, int chosen,
           int row, const std::string& number) {
    const float number_w = far_type() ? text_width(Face::mono, size::small, number) : 0;
    const Plot plot = plot_of({pane.x, pane.y, pane.w - std::max(0.0f, number_w - 24), pane.h}, list);
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
    for (const auto& [area, r] : boxes) box(c, r, area->when, area - list.data() == chosen, area->height > 0);
    float labelled = -1e9f;
    for (const auto& [area, r] : boxes) area_label(c, plot, *area, r, boxes, labelled);
    name_areas(c, p, pane, plot, boxes, list.data());
    const ImU32 mean = hue(*c.theme, Role::D);
    c.line({pane.x - 3, plot.zero}, {pane.x + plot.w + 5, plot.zero}, mean, 1.8f);
    const float w = c.text(pane.x + plot.w + 9, plot.zero, "D", size::lead, mean, Face::semibold_italic);
    c.text(pane.x + plot.w + 9 + w, plot.zero + 4, str(row), size::small, mean);
    // What the line stands for, on the side where there is more room.
    const bool below = pane.bottom() - plot.zero > plot.zero - pane.y;
    if (far_type())
        c.text(pane.x + plot.w + 9, plot.zero + (below ? 18 : -18), number, size::small, c.theme->t1,
               Face::mono);
}

}  // namespace tilewalk::ui

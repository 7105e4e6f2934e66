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
    if (when == When::after) return c.to_come(r.x, r.y, r.w, r.h);
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

using Boxes = std::vector<std::pair<const Area*, Rect>>;

// Where the row is drawn: keys from left to right, zero at the mean D.
struct Plot {
    float x, w, zero, unit, bottom;
};

// Numbers stand on the side of the line on which their areas lie, or in them; below all the keys. Where there
// is no room under what hangs, its number stands beside its key.
Plot plot_of(const Rect& pane, const std::vector<Area>& list) {
    double up = 0, down = 0;
    bool rises = false, hangs = false;
    for (const Area& a : list) {
        if (a.width <= 0) continue;
        up = std::max(up, a.height), down = std::max(down, -a.height);
        if (a.when == When::now) (a.height > 0 ? rises : hangs) = true;
    }
    constexpr float label = 17, keys = 16, good_boxes = 34;
    const float above = rises ? label : 4, rest = pane.h - above - keys - 3,
                h = hangs && rest - label >= good_boxes ? rest - label : rest;
    const float unit = up + down > 0 ? h / px(up + down) : 0;
    const float zero = up + down > 0 ? pane.y + above + px(up) * unit : pane.y + pane.h / 2;
    return {pane.x, pane.w, zero, unit, pane.bottom() - keys};
}

// As far as numbers reach above the line, and below it.
struct Labelled {
    float above = -1e9f, below = -1e9f;
};

// The number of an area: in its box, else above or below it, where its neighbours leave room. False: it
// stands nowhere yet.
bool area_label(const Canvas& c, const Plot& plot, const Area& a, const Rect& r, const Boxes& boxes,
                Labelled& labelled) {
    const std::string text = format_short(a.area);
    const float w = text_width(Face::mono, size::small, text), mid = r.x + r.w / 2;
    const bool up = a.height > 0;
    float& end = up ? labelled.above : labelled.below;
    if (w + 8 <= r.w && r.h >= 18) {
        if (a.when == When::before || mid - w / 2 < end + 4) return true;
        c.text(mid, r.y + r.h / 2, text, size::small, 0, Face::mono, Align::center);
        end = mid + w / 2;
        return true;
    }
    if (a.when != When::now) return true;
    if (!up && r.bottom() + 16 > plot.bottom) return false;
    const float wanted = up || w <= r.w ? mid - w / 2 : r.x + r.w - w;  // hanging: flush with its right edge
    // Below a box it goes aside from a deeper one at its left.
    float deeper = plot.x - 4;
    for (const auto& [other, box] : boxes)
        if (!up && box.right() <= r.x + 1 && box.bottom() > r.bottom() + 1)
            deeper = std::max(deeper, box.right() + 6);
    const float lo = std::max(deeper, end + 6), hi = plot.x + plot.w - w;
    const float left = std::min(std::max(wanted, lo), hi);
    if (left < lo || std::abs(left - wanted) > 40) return false;
    const float y = up ? r.y - (far_type() ? 11 : 9) : r.bottom() + 9;  // not on the line of D
    c.rect(left - 2, y - 8, w + 4, 15, c.theme->well);  // outlines of what comes end beside it
    c.text(left, y, text, size::small, 0, Face::mono);
    end = left + w;
    return true;
}

// Which key a box belongs to, and the number that has no other place.
void name_areas(const Canvas& c, const Problem& p, const Rect& pane, const Plot& plot, const Boxes& boxes,
                const Area* first, const std::vector<bool>& told) {
    const auto key_of = [&](std::size_t n) {
        const auto& [area, r] = boxes[n];
        const std::string key = index_label(p, "k", static_cast<int>(area - first));
        if (!far_type() || area->when == When::now) return key;
        const std::string of_when = key + (area->when == When::after ? " later" : " before");
        return text_width(Face::regular, size::small, of_when) + 8 <= r.w ? of_when : key;
    };
    const auto width = [&](std::size_t n) { return text_width(Face::regular, size::small, key_of(n)); };
    const auto middle = [&](std::size_t n) { return boxes[n].second.x + boxes[n].second.w / 2; };
    float end = -1e9f;
    for (std::size_t n = 0; n < boxes.size(); ++n) {
        const bool now = boxes[n].first->when == When::now;
        const ImU32 colour = now ? c.theme->t1 : c.theme->t3;
        const Line both = pieces(key_of(n), "  ", number(format_short(boxes[n].first->area)));
        const float w = width(n), mid = middle(n), w2 = rich_width(c, both, size::small),
                    left = std::max({mid - w2 / 2, end + 8, plot.x - 4}),
                    next = n + 1 < boxes.size() ? middle(n + 1) - width(n + 1) / 2 - 8 : plot.x + plot.w + 6;
        if (now && !told[n] && left + w2 <= next && left - (mid - w2 / 2) <= 40) {
            c.rich(left, pane.bottom() - 6, both, size::small, Align::left, colour);
            end = left + w2;
            continue;
        }
        if (mid - w / 2 < end + 4 || mid + w / 2 > plot.x + plot.w + 6) continue;
        c.text(mid, pane.bottom() - 6, key_of(n), size::small, colour, Align::center);
        end = mid + w / 2;
    }
}

constexpr float drawing_alone = 80, heights_row = 18;

void tell_heights(const Canvas& c, const Rect& pane, const Plot& plot, const Boxes& boxes) {
    const float y = pane.bottom() - 6;
    float end = -1e9f;
    for (const auto& [area, r] : boxes) {
        const std::string text = format_short(area->height);
        const float w = text_width(Face::mono, size::small, text),
                    left = std::max(pane.x, r.x + r.w / 2 - w / 2);
        if (area->when == When::after || left < end + 6) continue;
        c.text(left, y, text, size::small, area->when == When::now ? c.theme->t1 : c.theme->t3, Face::mono);
        end = left + w;
    }
    const Line name = pieces(symbol("dP", Role::S), " − ", symbol("D", Role::D));
    c.rich(std::max(plot.x + plot.w + 9, end + 6), y, name, size::small);
}

}  // namespace

void areas(const Canvas& c, const Problem& p, const Rect& pane, const std::vector<Area>& list, int chosen,
           int row, const std::string& D) {
    const Line name = pieces(symbol("D", Role::D), word("[" + str(row) + "]", Role::D));
    const float number_w = far_type() ? text_width(Face::mono, size::small, D) : 0,
                aside = 12 + std::max(rich_width(c, name, size::lead), number_w);
    // Where the drawing has the stage for itself: what the heights are, below the names of the keys.
    const bool heights = far_type() && pane.h >= drawing_alone;
    const Rect above{pane.x, pane.y, pane.w, pane.h - (heights ? heights_row : 0)};
    const Plot plot = plot_of({above.x, above.y, above.w - aside, above.h}, list);
    double widths = 0;
    for (const Area& a : list) widths += a.width;
    Boxes boxes;
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
    Labelled labelled;
    std::vector<bool> told;
    for (const auto& [area, r] : boxes) told.push_back(area_label(c, plot, *area, r, boxes, labelled));
    name_areas(c, p, above, plot, boxes, list.data(), told);
    if (heights) tell_heights(c, pane, plot, boxes);
    const ImU32 mean = hue(*c.theme, Role::D);
    c.line({pane.x - 3, plot.zero}, {pane.x + plot.w + 5, plot.zero}, mean, 1.8f);
    c.rich(pane.x + plot.w + 9, plot.zero, name, size::lead);
    // What the line stands for, on the side where there is more room; beyond it, what an area is.
    const bool below = pane.bottom() - plot.zero > plot.zero - pane.y;
    if (!far_type()) return;
    const float way = below ? 1 : -1, key = plot.zero + way * 34;
    c.text(pane.x + plot.w + 9, plot.zero + way * 18, D, size::small, c.theme->t1, Face::mono);
    const Line area_is = pieces("area ", symbol("dS", Role::S));
    const float end = heights ? pane.bottom() - heights_row : pane.bottom() + 6;
    if (key - 8 >= pane.y - 4 && key + 8 <= end && rich_width(c, area_is, size::small) <= aside)
        c.rich(pane.x + plot.w + 9, key, area_is, size::small, Align::left, c.theme->t2);
}

}  // namespace tilewalk::ui

// Both curves exp(x − m_old) and exp(x − m) on one axis: what the correction does to every weight so far.
#include "app/ui/parts/exp_plot.h"
#include "app/ui/parts/lens_parts.h"

#include "app/ui/state/motion.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

constexpr float legend_row = 19, legend_mark = 30;

// The curve of before: thin and grey.
void old_curve(const Canvas& c, const std::vector<Point>& line, ImU32 colour) {
    for (std::size_t n = 0; n + 1 < line.size(); ++n) c.line(line[n], line[n + 1], colour, 1.2f);
}

// What every weight loses, between the two curves.
void loss(const Canvas& c, const ExpPlot& p, const Correction& k) {
    const ImU32 fill = with_alpha(hue(*c.theme, Role::alpha), .16f);
    const std::vector<Point> top = p.curve(k.before, p.lo());
    const auto pieces_of_a_curve = px(top.size() - 1);
    for (std::size_t n = 0; n + 1 < top.size(); ++n) {
        const auto below = [&](std::size_t m) {
            const double at = p.lo() + (k.before - p.lo()) * px(m) / pieces_of_a_curve;
            return Point{top[m].x, p.y(std::exp(at - k.now))};
        };
        c.polygon({top[n], top[n + 1], below(n + 1), below(n)}, fill);
    }
}

void drop(const Canvas& c, const ExpPlot& p, const Correction& k, double score, bool largest) {
    const Theme& t = *c.theme;
    const float x = p.x(score), from = p.y(std::exp(score - k.before)), to = p.y(std::exp(score - k.now));
    const ImU32 colour = hue(t, Role::alpha);
    if (to - from > 14) {
        c.line({x, from + 4}, {x, to - 11}, colour, largest ? 2.2f : 1.4f);
        c.head({x, to - 5}, {0, 1}, colour, largest ? 8.0f : 6.0f);
    }
    c.ring(x, from, 3.5f, t.t2, 1.5f);
    c.disc(x, to, largest ? 5.0f : 3.5f, largest ? t.focus : hue(t, Role::S));
}

float width_of_factor(const Correction& k, float letters) {
    return text_width(Face::semibold, letters, "× " + k.alpha_text());
}
constexpr float round_factor = 4;

Line old_maximum(const Correction& k) {
    return pieces(symbol("m", Role::m), sub("old", Role::m), " = ", number(format_short(k.before)));
}
Line new_maximum(const Correction& k) {
    return pieces(symbol("m", Role::m), " = ", number(format_short(k.now)));
}

// On stage the plot is as broad as the pane lets it, where both maxima stand too close for α between them, or
// for their own names, each below its line.
void make_room_for_factor(const Canvas& c, const Rect& pane, ExpPlot& p, const Correction& k) {
    constexpr float left = 18, least_right = 20, apart = 12;
    const float between = p.x(k.now) - p.x(k.before),
                factor = width_of_factor(k, size::small) + round_factor + 1,
                old_half = rich_width(c, old_maximum(k), size::body) / 2,
                new_half = rich_width(c, new_maximum(k), size::body) / 2, names = old_half + apart + new_half,
                right = std::max(least_right, new_half + 2);
    const float widest = (pane.w - left - right) / p.area.w * between;
    const float needed = std::max(factor, std::min(names, widest)), w = p.area.w * needed / between;
    if (p.beside || between >= needed || w > pane.w - left - least_right) return;
    p.area.x = std::clamp(p.area.x - (w - p.area.w) / 2, pane.x + left,
                          std::max(pane.x + left, pane.right() - right - w));
    p.area.w = w;
}

// Beside the arrow where the new curve leaves room: in its middle, else at its top; else below the curve, in
// smaller letters if need be; else over what is lost.
void factor(const Canvas& c, const ExpPlot& p, const Correction& k, float legend_h) {
    const std::string words = "× " + k.alpha_text();
    float letters = size::lead, w = width_of_factor(k, letters);
    const float x = p.x(k.before);
    const double middle = (1 + std::exp(k.before - k.now)) / 2;
    // From the arrow to the new curve, at that height.
    const auto room = [&](float y) {
        return p.x(k.now + std::log(std::max(.01f, (p.area.bottom() - y) / p.area.h))) - x;
    };
    float left = x + 10, y = p.y(middle);
    const float top = p.area.y + 13, below = p.x(k.now) - x;
    if (room(y) < w + 22) y = room(top + 8) >= w + 14 ? top : p.area.bottom() - 13;
    if (const bool lies_below = y > p.y(middle); lies_below && below < w + 14) {
        const float least = width_of_factor(k, size::small);
        if (below >= least + round_factor && p.area.bottom() - p.y(k.alpha) > size::small + 4)
            letters = size::small, left = x + (below - least) / 2, y = p.area.bottom() - 10;
        else {
            left = x - 10 - w, y = std::max(p.y(middle), p.area.y + legend_h + 10);
            c.rect(left - 4, y - 10, w + 8, 20, c.theme->well, radius::bar);
        }
    }
    c.text(left, y, words, letters, hue(*c.theme, Role::alpha), Face::semibold);
}

// The two maxima below the axis; the old one goes to the left where they would touch.
void maxima(const Canvas& c, const Rect& pane, const ExpPlot& p, const Correction& k, bool moved) {
    const Theme& t = *c.theme;
    const float y = p.area.bottom() + 15;
    const Line now = new_maximum(k), before = old_maximum(k);
    const float now_w = rich_width(c, now, size::body), before_w = rich_width(c, before, size::body);
    const float right =
        std::min(p.x(k.now) + now_w / 2,
                 far_type() ? std::max(pane.right() - 6, p.area.right()) : p.area.right() + 14);
    c.rich(right, y, now, size::body, Align::right);
    c.dashed_line({p.x(k.now), p.y(1)}, {p.x(k.now), p.area.bottom()}, hue(t, Role::m), 1.2f, {3, 3});
    if (!moved) return;
    const float before_right =
        std::max(std::min(p.x(k.before) + before_w / 2, right - now_w - 12), p.area.x - 14 + before_w);
    c.rich(before_right, y, before, size::body, Align::right);
    constexpr const char* axis = "score x";
    if (const float axis_w = text_width(Face::regular, size::small, axis);
        p.area.x + axis_w + 12 <= before_right - before_w)
        c.text(p.area.x, y, axis, size::small, t.t3);
    c.dashed_line({p.x(k.before), p.y(std::exp(k.before - k.now))}, {p.x(k.before), p.area.bottom()},
                  hue(t, Role::m), 1.2f, {3, 3});
}

// Where there was no maximum: a point at −∞, beyond a break of the axis, where the curve has fallen to α = 0.
void from_nothing(const Canvas& c, const ExpPlot& p, double from, const Correction& k) {
    const Theme& t = *c.theme;
    const float left = p.area.x, axis = p.y(0), gap = (left + 10 + p.x(from)) / 2;
    const Point at{left + 10, p.y(k.alpha)};
    for (const float x : {gap - 3, gap + 3}) c.line({x - 3, axis + 6}, {x + 3, axis - 6}, t.t2, 1.4f);
    c.head({left - 2, axis}, {-1, 0}, t.t3, 6);
    c.line(at, {p.x(from), p.y(std::exp(from - k.now))}, t.t2, 1.2f);
    c.disc(at.x, at.y, 5, t.focus);
    const Line alpha = pieces(symbol("α", Role::alpha), " = ", number(k.alpha_text(), Role::none, true));
    c.rich(at.x - 4, at.y - 17, alpha, size::lead);
    c.rich(left - 8, axis + 15, old_maximum(k), size::body);
}

// Which curve is which. It stands in the empty corner, left of both curves; where that is too small, in a
// line or two above the plot.
struct Legend {
    struct Entry {
        Line words;
        bool old;
        float w;
    };
    std::vector<Entry> entries;
    const char* words = "";
    bool above = false;
    int rows = 0;  // above
};

Legend legend_of(const Canvas& c, const ExpPlot& p, const Correction& k, bool moved) {
    Legend out;
    const auto entry = [&](double max, bool old) {
        Line words = pieces("exp(x − ", number(format_short(max), Role::m), ")");
        const float w = rich_width(c, words, size::body);
        const float y = px(out.entries.size() + 1) * legend_row - 4;  // its lower edge
        const double at = k.before + std::log(std::max(.05, 1 - static_cast<double>(y / p.area.h)));
        if (moved && p.area.x + legend_mark + w + 4 > p.x(at)) out.above = true;
        out.entries.push_back({std::move(words), old, legend_mark + w});
    };
    if (moved) entry(k.before, true);
    entry(k.now, false);
    out.words = !std::isfinite(k.before) ? "no key before" : moved ? "" : "the maximum stayed";
    float w = 0;
    for (const Legend::Entry& one : out.entries) w += one.w + 16;
    if (p.beside) out.above = false;
    if (out.above) out.rows = w <= p.area.w + 24 ? 1 : 2;
    return out;
}

void draw_legend(const Canvas& c, const ExpPlot& p, const Legend& legend) {
    const Theme& t = *c.theme;
    const float left = p.beside ? p.area.right() + 44 : p.area.x + 6;
    float x = left, y = p.area.y + 9;
    if (legend.above) y -= px(legend.rows) * legend_row + 6;
    for (const Legend::Entry& one : legend.entries) {
        if (one.old)
            c.line({x, y}, {x + 18, y}, t.t2, 1.4f);
        else
            c.line({x, y}, {x + 18, y}, hue(t, Role::S), 2.4f);
        c.rich(x + legend_mark - 6, y, one.words, size::body, Align::left, t.t2);
        if (legend.rows == 1)
            x += one.w + 16;
        else
            y += legend_row;
    }
    c.text(left, y, legend.words, size::body, t.t2);
}

}  // namespace

bool correction_curves(const Canvas& c, const Rect& pane, const Correction& k, float phase) {
    if (!std::isfinite(k.now) || std::isnan(k.before) || k.before > k.now) return false;
    const Theme& t = *c.theme;
    const bool moved = std::isfinite(k.before) && k.before < k.now;
    const bool first = !std::isfinite(k.before);
    ExpPlot p = exp_plot(pane, k.now);
    if (moved && k.before < p.lo() + .8) return false;
    if (moved && far_type()) make_room_for_factor(c, pane, p, k);
    const Legend legend = legend_of(c, p, k, moved);
    const float taken = px(legend.rows) * legend_row + (legend.above ? 4.0f : 0.0f);
    p.area.y += taken, p.area.h -= taken;
    draw_exp_axes(c, p);
    // The curve moves from the old maximum to the new one, and takes the weights along.
    const float there = moved ? over(phase, during::terms) : 1;
    Correction now = k;
    if (there < 1) now.now = k.before + (k.now - k.before) * static_cast<double>(there);
    if (moved) loss(c, p, now);
    if (moved) old_curve(c, p.curve(k.before, p.lo()), t.t2);
    const Canvas end = c.faded(first ? .45f : 1);  // only the other end counts then
    const double from = first ? p.lo() + p.span * .25 : p.lo();
    end.polyline(p.curve(now.now, from), hue(t, Role::S), 2.4f);
    maxima(c, pane, p, k, moved);
    if (!first) c.disc(p.x(now.now), p.y(1), 4, hue(t, Role::S));
    draw_legend(c, p, legend);
    if (first) from_nothing(c, p, from, k);
    if (!moved) return true;
    for (const double score : k.scores)
        if (std::isfinite(score) && score > p.lo() && score < k.before) drop(c, p, now, score, false);
    drop(c, p, now, k.before, true);
    if (there == 1) factor(c, p, k, legend.above || p.beside ? 0 : 2 * legend_row);
    return true;
}

}  // namespace tilewalk::ui

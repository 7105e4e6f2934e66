// Weights as points on the curve exp(x).
#include "app/ui/parts/exp_plot.h"
#include "app/ui/parts/lens_parts.h"

#include "app/ui/kit/items.h"
#include "app/ui/state/motion.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

std::vector<Point> ExpPlot::curve(double max, double from) const {
    constexpr int pieces = 48;
    std::vector<Point> out;
    for (int n = 0; n <= pieces; ++n) {
        const double at = from + (max - from) * n / pieces;
        out.push_back({x(at), y(std::exp(at - max))});
    }
    return out;
}

ExpPlot exp_plot(const Rect& pane, double top) {
    constexpr float left = 18, right = 20, above = 10, foot = 26;  // what its numbers take
    constexpr float low = 80, widest = 3.4f, list = 240, usual = 1.9f;
    ExpPlot out{{pane.x + left, pane.y + above, pane.w - left - right, pane.h - above - foot}, top};
    out.beside = out.area.h < low && out.area.w > widest * out.area.h + list;
    if (out.beside) out.area.w = widest * out.area.h;
    // As broad as it is beside the widest matrices, in the middle.
    if (const float spare = out.area.w - usual * out.area.h; out.area.h >= low && spare > 0)
        out.area.x += spare / 2, out.area.w -= spare;
    return out;
}

void draw_exp_axes(const Canvas& c, const ExpPlot& p) {
    const Theme& t = *c.theme;
    note_part(c, p.area, "exp plot");
    const float left = p.area.x, right = p.area.right();
    c.line({left, p.y(1)}, {right, p.y(1)}, t.line);
    c.line({left, p.y(0)}, {right, p.y(0)}, t.line2);
    c.text(left - 5, p.y(1) + 1, "1", size::small, t.t2, Face::mono, Align::right);
    c.text(left - 5, p.y(0) - 2, "0", size::small, t.t2, Face::mono, Align::right);
}

namespace {

// A point on its way from exp(0) = 1 down the curve to where it belongs.
void slide_down(const Canvas& c, const Rect& plot, double far, const CurvePoint& p, ImU32 colour,
                float there) {
    const double end = std::max(p.x, far), way = static_cast<double>(there), x = end * way;
    const double y = std::exp(x) + (p.y - std::exp(end)) * way;
    const Point at{plot.right() + px(x / -far) * plot.w, plot.bottom() - px(y) * plot.h};
    c.dashed_line({at.x, plot.bottom()}, at, colour, 1.2f, {3, 3});
    c.disc(at.x, at.y, 4.5f, colour);
}

void curve_dot(const Canvas& c, const Rect& plot, Point at, const CurvePoint& p) {
    const ImU32 colour = hue(*c.theme, p.role);
    c.dashed_line({at.x, plot.bottom()}, at, colour, 1.2f, {3, 3});
    c.disc(at.x, at.y, 4.5f, colour);
}

// The one that the formula is about, with its value where the curve leaves room: at its upper left.
void chosen_dot(const Canvas& c, const Rect& plot, Point at, const CurvePoint& p, bool told) {
    c.disc(at.x, at.y, 6, hue(*c.theme, p.role));
    c.disc(at.x, at.y, 4.6f, c.theme->focus);
    if (p.y == 1 || !told) return;  // the axis says it there
    const std::string value = p.text();
    const float right = std::max(at.x - 7, plot.x + text_width(Face::mono_bold, size::small, value) - 8);
    c.text(right, std::max(at.y - 12, plot.y + 4), value, size::small, 0, Face::mono_bold, Align::right);
}

// "k0:  exp(−1) = 0.368"; brief: "k0:  0.368".
Line curve_entry(const CurvePoint& p, bool brief) {
    const std::string x = format_short(p.x), y = p.text(), power = "exp(" + x + ")", start = p.label + ": ";
    NumberLine shown;
    shown.comes_to = std::exp(read_shown(x).value);
    const std::string words = brief ? start
                              : p.left_out
                                  ? start + format_short(std::exp(p.x)) + " = " + power + " left out: "
                                  : start + power + " " + sign_before(shown, y) + " ";
    return pieces(words, number(y, Role::none, true));
}

enum class Ends { top, middle };  // where in its area a list stands

// What the first `told` points are. If they do not all fit below each other, only their values, in columns;
// of those that do not fit even so, how many. Then the chosen one comes first.
void curve_list(const Canvas& c, const Rect& a, const std::vector<CurvePoint>& points, std::size_t told,
                bool brief, Ends ends) {
    const auto row_h = std::clamp((a.h - 20) / px(points.size()), 17.0f, 24.0f);
    const auto rows = static_cast<std::size_t>(std::max(1.0f, (a.h + 12) / row_h));
    const auto widest_of = [&](bool without_powers) {
        float w = 1;
        for (const CurvePoint& p : points)
            w = std::max(w, rich_width(c, curve_entry(p, without_powers), size::body));
        return w;
    };
    const auto columns_of = [&](float w) {
        return static_cast<std::size_t>(std::max(1.0f, (a.w + 14) / (w + 14)));
    };
    const std::size_t with_powers = rows * (far_type() ? columns_of(widest_of(false)) : 1);
    brief = brief || points.size() > with_powers;
    const float widest = widest_of(brief);
    const std::size_t columns = columns_of(widest);
    const std::size_t places = rows * columns;
    std::vector<const CurvePoint*> order;
    for (const CurvePoint& p : points) order.push_back(&p);
    if (points.size() > places)
        std::stable_partition(order.begin(), order.end(), [](const CurvePoint* p) { return p->chosen; });
    const float half = row_h * px(std::min(rows, points.size()) - 1) / 2;
    const float top = ends == Ends::middle ? a.middle() - half : a.y + 6;
    for (std::size_t n = 0; n < told; ++n) {
        const float x = a.x + px(n / rows) * (widest + 14), y = top + row_h * px(n % rows);
        if (n + 1 == places && points.size() > places) {
            const std::string count = "… " + str(points.size() - n), words = count + " more";
            const bool room = !far_type() || text_width(Face::regular, size::small, words) <= a.right() - x;
            c.text(x, y, room ? words : count, size::small, c.theme->t2);
            break;
        }
        Line entry = curve_entry(*order[n], brief);
        if (rich_width(c, entry, size::body) > a.w + 2) entry.erase(entry.begin(), entry.end() - 1);
        c.rich(x, y, entry, size::body, Align::left, order[n]->chosen ? c.theme->t1 : c.theme->t2);
    }
}

}  // namespace

namespace {

constexpr double farthest = 8;  // where weights can no longer be told from 0

// The axes, and where a point lies.
struct CurvePlot {
    Rect area;
    double far = -4;
    bool beyond = false, infinite = false;  // some points lie left of it, some at −∞

    float x(double v) const { return area.right() + px(v / -far) * area.w; }
    float y(double v) const { return area.bottom() - px(v) * area.h; }
    Point place(const CurvePoint& p) const {
        return {p.x < far ? area.x + (far_type() ? 8.0f : -4.0f) : x(p.x), y(p.y)};
    }
};

CurvePlot plot_of(const std::vector<CurvePoint>& points, const Rect& area) {
    CurvePlot out{area};
    for (const CurvePoint& p : points)
        if (std::isfinite(p.x)) out.far = std::min(out.far, p.x - .5);
    out.far = std::max(out.far, -farthest);
    out.infinite = std::ranges::any_of(points, [](const CurvePoint& p) { return std::isinf(p.x); });
    out.beyond = std::ranges::any_of(points, [&](const CurvePoint& p) { return p.x < out.far; });
    return out;
}

void curve_axes(const Canvas& c, const CurvePlot& plot) {
    const Theme& t = *c.theme;
    const Rect& a = plot.area;
    c.line({a.x, a.bottom()}, {a.right(), a.bottom()}, t.line2);
    c.line({a.right(), a.y}, {a.right(), a.bottom()}, t.line2);
    std::vector<Point> line;
    for (int n = 0; n <= 48; ++n) {
        const double at = plot.far * (1 - n / 48.0);
        line.push_back({plot.x(at), plot.y(std::exp(at))});
    }
    c.polyline(line, t.t3, 1.6f);
    c.line({a.right() - 4, a.y}, {a.right() + 4, a.y}, t.line2);
    c.text(a.right() + 8, a.y, "1", size::small, t.t3, Face::mono);
    if (plot.beyond) c.head({a.x - 9, a.bottom()}, {-1, 0}, t.t3, 8);
    c.text(a.right(), a.bottom() + 11, "0", size::small, t.t3, Face::mono, Align::center);
}

// A number stands below its own place, and −∞ left of all of them.
void curve_tick(const Canvas& c, const CurvePlot& plot) {
    const Theme& t = *c.theme;
    const double tick = std::ceil(plot.far);
    const float x = plot.x(tick), y = plot.area.bottom(), below = far_type() ? 12 : 11;
    c.line({x, y}, {x, y + 4}, t.line2);
    if (plot.infinite)
        c.text(plot.area.x - 12, y + below, "−∞", size::small, t.t3, Face::mono);
    else
        c.text(x, y + below, format_short(tick), size::small, t.t3, Face::mono, Align::center);
}

// What stands at a point: the keys that lie there, and the value; below the axis its exponent.
struct CurveLabel {
    const CurvePoint* point;
    Point at;
    Line words;
    Rect area{};
    std::string tick;
    Rect tick_area{};
};

Rect grown(const Rect& a, float by) { return {a.x - by, a.y - by, a.w + 2 * by, a.h + 2 * by}; }
bool touch(const Rect& a, const Rect& b) {
    return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

// The keys at each place, from right to left.
std::vector<CurveLabel> labels_at(const CurvePlot& plot, const std::vector<CurvePoint>& points) {
    std::vector<std::pair<const CurvePoint*, std::string>> places;
    for (const CurvePoint& p : points) {
        const auto same = std::ranges::find_if(
            places, [&](const auto& place) { return place.first->x == p.x && place.first->y == p.y; });
        if (same == places.end())
            places.push_back({&p, p.label});
        else
            same->second += ", " + p.label, same->first = p.chosen ? &p : same->first;
    }
    std::ranges::sort(places, [](const auto& a, const auto& b) { return a.first->x > b.first->x; });
    std::vector<CurveLabel> out;
    for (const auto& [p, names] : places) {
        const std::string exponent = p->x == 0 || std::isinf(p->x) ? "" : format_short(p->x);
        out.push_back(
            {p, plot.place(*p), pieces(names + ": ", number(p->text(), Role::none, true)), {}, exponent});
    }
    return out;
}

// At the upper left of its point each, where the curve leaves room; empty where they do not all have it, or
// the values are none of the curve.
std::vector<CurveLabel> curve_labels(const Canvas& c, const CurvePlot& plot, const Rect& pane,
                                     const std::vector<CurvePoint>& points) {
    std::vector<CurveLabel> out = labels_at(plot, points);
    std::vector<Rect> taken{{plot.area.right() - 5, plot.area.bottom() + 3, 40, 18}};  // the axis' own 0
    for (const CurveLabel& label : out) taken.push_back({label.at.x - 5, label.at.y - 5, 10, 10});
    const float zero_w = text_width(Face::mono, size::small, "0");
    taken.push_back({plot.area.x - 5 - zero_w, plot.area.bottom() - 10, zero_w, 16});  // and that of weights
    for (CurveLabel& label : out) {
        const CurvePoint& p = *label.point;
        if (p.left_out || p.x < plot.far || p.x > 0) return {};
        const float w = rich_width(c, label.words, size::body), h = 17;
        label.area = {label.at.x - 9 - w, std::max(label.at.y - 14 - h / 2, pane.y - 2), w, h};
        if (label.area.x < pane.x) return {};
        for (const Rect& other : taken)
            if (touch(label.area, other)) return {};
        taken.push_back(grown(label.area, 2));
        if (label.tick.empty()) continue;
        const float tick_w = text_width(Face::mono, size::small, label.tick);
        label.tick_area = {label.at.x - tick_w / 2, plot.area.bottom() + 3, tick_w, 16};
        const Rect& own_dot = taken[1 + static_cast<std::size_t>(&label - out.data())];
        const auto in_the_way = [&](const Rect& other) {
            return &other != &own_dot && touch(grown(label.tick_area, 3), other);
        };
        if (std::ranges::any_of(taken, in_the_way))
            label.tick.clear();
        else
            taken.push_back(label.tick_area);
    }
    return out;
}

void draw_curve_label(const Canvas& c, const CurveLabel& label) {
    const Theme& t = *c.theme;
    const Rect plate = grown(label.area, 1);  // the line of 1 runs behind it
    c.rect(plate.x, plate.y, plate.w, plate.h, t.well, radius::bar);
    c.rich(label.area.x, label.area.middle(), label.words, size::body, Align::left,
           label.point->chosen ? t.t1 : t.t2);
    const Rect& tick = label.tick_area;
    if (label.tick.empty()) return;
    c.line({label.at.x, tick.y - 3}, {label.at.x, tick.y + 1}, t.line2);
    c.text(tick.x, tick.y + 8, label.tick, size::small, t.t2, Face::mono);
}

// Of the list below each other, with the powers or without.
float list_w_of(const Canvas& c, const std::vector<CurvePoint>& points, bool brief = false) {
    float w = 0;
    for (const CurvePoint& p : points) w = std::max(w, rich_width(c, curve_entry(p, brief), size::body));
    return w;
}

// Only the numbers of the list where the pane is narrow: the power stands in the formula.
struct CurveList {
    bool brief;
    float w;
};
CurveList list_of(const Canvas& c, const Rect& pane, const std::vector<CurvePoint>& points) {
    const bool brief = pane.w < 330 || pane.w - list_w_of(c, points) - 52 < 90;
    return {brief, std::max(brief ? 118.0f : 232.0f, list_w_of(c, points, brief) + (brief ? 44 : 52))};
}

// Where points stand so far; the chosen one on top of the others. Returns how many are told.
std::size_t draw_points(const Canvas& c, const CurvePlot& plot, const std::vector<CurvePoint>& points,
                        float phase, bool with_value) {
    std::size_t told = 0;
    for (; told < points.size(); ++told) {
        const float there = turn_of(phase, during::terms, told, points.size());
        const ImU32 colour = hue(*c.theme, points[told].role);
        if (there > 0 && there < 1) slide_down(c, plot.area, plot.far, points[told], colour, there);
        if (there < 1) break;
        curve_dot(c, plot.area, plot.place(points[told]), points[told]);
    }
    for (std::size_t n = 0; n < told; ++n)
        if (points[n].chosen) chosen_dot(c, plot.area, plot.place(points[n]), points[n], with_value);
    return told;
}

// Where the axis begins.
bool low_tick_is_free(const CurvePlot& plot, const std::vector<CurveLabel>& labels) {
    const Rect begin{plot.area.x - 20, plot.area.bottom() + 3, 40, 18};
    return std::ranges::none_of(labels, [&](const CurveLabel& label) {
        return !label.tick.empty() && touch(begin, label.tick_area);
    });
}

// What the axis counts, near its middle, where the exponents of the points leave room.
void name_axis(const Canvas& c, const CurvePlot& plot, const std::vector<CurveLabel>& labels) {
    constexpr const char* name = "exponent";
    const float w = text_width(Face::regular, size::small, name);
    const float y = plot.area.bottom() + 3;
    const Rect end{plot.area.right() - 5, y, 40, 18}, begin{plot.area.x - 20, y, 44, 18};
    for (const float at : {.5f, .75f, .25f, .68f, .32f}) {
        const Rect area{plot.area.x + at * plot.area.w - w / 2, y, w, 18};
        const auto covered = [&](const CurveLabel& label) {
            return !label.tick.empty() && touch(grown(area, 5), label.tick_area);
        };
        if (touch(area, end) || touch(area, begin) || std::ranges::any_of(labels, covered)) continue;
        c.text(area.x, plot.area.bottom() + 12, name, size::small, c.theme->t3);
        return;
    }
}

// What the curve leaves of its plot: above it at the left. In a narrow pane names begin at its edge, below
// the axis' 1.
Rect corner_of(const ExpPlot& exp, const Rect& pane) {
    constexpr float narrow = 110;
    const bool from_edge = exp.area.w < narrow;
    const float left = from_edge ? pane.x : exp.area.x + 6, top = exp.area.y + (from_edge ? 16.0f : 6.0f);
    return {left, top, exp.area.x + .76f * exp.area.w - left, .58f * exp.area.h};
}

// How many points a list there has room for, without their powers.
std::size_t list_places(const Canvas& c, const Rect& a, const std::vector<CurvePoint>& points) {
    const float row_h = std::clamp((a.h - 20) / px(points.size()), 17.0f, 24.0f);
    return static_cast<std::size_t>(std::max(1.0f, (a.h + 12) / row_h)) *
           static_cast<std::size_t>(std::max(1.0f, (a.w + 14) / (list_w_of(c, points, true) + 14)));
}

// On stage numbers stand at their points where all of them have room there; else in the corner that the curve
// leaves, or at the right of the plot.
void far_curve(const Canvas& c, const Rect& pane, const std::vector<CurvePoint>& points, float phase) {
    ExpPlot exp = exp_plot(pane, 0);
    if (!exp.beside && list_places(c, corner_of(exp, pane), points) < points.size()) {
        // Rather a narrow plot than weights without their numbers.
        constexpr float row_h = 17, least = 60;
        const float rows = std::max(1.0f, std::floor((pane.bottom() - exp.area.y + 12) / row_h)),
                    columns = std::ceil(px(points.size()) / rows), w = list_w_of(c, points, true) + 14,
                    left = pane.w - columns * w - 50;
        if (left >= least)
            exp.beside = true, exp.area.x = pane.x + 18, exp.area.w = std::min(left, exp.area.w);
    }
    CurvePlot plot = plot_of(points, exp.area);
    // To the whole number that the lowest point needs.
    for (const CurvePoint& p : points)
        if (std::isfinite(p.x)) exp.span = std::max(exp.span, std::min(std::ceil(-p.x), farthest));
    plot.far = exp.lo();
    plot.beyond = std::ranges::any_of(points, [&](const CurvePoint& p) { return p.x < plot.far; });
    const std::vector<CurveLabel> labels =
        exp.beside ? std::vector<CurveLabel>{} : curve_labels(c, plot, pane, points);
    draw_exp_axes(c, exp);
    c.polyline(exp.curve(0, exp.lo()), hue(*c.theme, Role::S), 2.4f);
    if (plot.beyond) c.head({exp.area.x - 2, exp.area.bottom()}, {-1, 0}, c.theme->t3, 6);
    c.text(exp.area.right(), exp.area.bottom() + 12, "0", size::small, c.theme->t3, Face::mono,
           Align::center);
    if (low_tick_is_free(plot, labels)) curve_tick(c, plot);
    name_axis(c, plot, labels);
    const std::size_t told = draw_points(c, plot, points, phase, false);
    for (const CurveLabel& label : labels)
        if (static_cast<std::size_t>(label.point - points.data()) < told) draw_curve_label(c, label);
    if (!labels.empty()) return;
    const Rect corner = corner_of(exp, pane);
    const float x = exp.area.right() + 30;
    const Rect list = exp.beside ? Rect{x, pane.y, pane.right() - x, pane.h} : corner;
    curve_list(c, list, points, told, !exp.beside && list_w_of(c, points) > corner.w,
               exp.beside ? Ends::middle : Ends::top);
}

}  // namespace

void curve(const Canvas& c, const Rect& pane, const std::vector<CurvePoint>& points, float phase) {
    if (far_type()) return far_curve(c, pane, points, phase);
    CurvePlot plot = plot_of(points, {pane.x + 12, pane.y + 8, pane.w - 36, pane.h - 28});
    const auto [brief, list_w] = list_of(c, pane, points);
    plot.area.w = std::clamp(pane.w - list_w, brief ? 38.0f : 90.0f, 300.0f);
    curve_axes(c, plot);
    curve_tick(c, plot);
    const std::size_t told = draw_points(c, plot, points, phase, true);
    const float list_x = plot.area.right() + (brief ? 26.0f : 36.0f);
    curve_list(c, {list_x, plot.area.y, pane.right() - list_x, pane.bottom() - plot.area.y}, points, told,
               brief, Ends::top);
}

}  // namespace tilewalk::ui

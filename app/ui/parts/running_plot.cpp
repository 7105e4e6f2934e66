#include "app/ui/parts/running_plot.h"

#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tilewalk::ui {

namespace {

constexpr float least_column = 7;

// The hue of what a column adds: of V to the output, of the scores to the others.
Role fresh(const RunningPlot& plot) { return plot.role == Role::O ? Role::V : Role::S; }

struct Axis {
    double lo = 0, hi = 1, step = 1;
    bool measures = true;  // false: there is no finite value
};

// Round values for about so many lines.
Axis axis_for(double lo, double hi, double lines) {
    if (!(hi > lo)) hi = lo + (lo == 0 ? 1 : std::abs(lo) * .5);
    const double rough = (hi - lo) / lines, power = std::pow(10, std::floor(std::log10(rough)));
    double step = power * 10;
    for (double factor : {1.0, 2.0, 5.0})
        if (rough <= factor * power) {
            step = factor * power;
            break;
        }
    return {std::floor(lo / step) * step, std::ceil(hi / step) * step, step};
}

Axis axis_of(const RunningPlot& plot, float height) {
    double lo = plot.maximum() ? INFINITY : 0, hi = plot.maximum() ? -INFINITY : 0;
    const auto take = [&](double v) {
        if (!std::isfinite(v)) return;
        lo = std::min(lo, v), hi = std::max(hi, v);
    };
    for (const PlotColumn& column : plot.columns) {
        if (column.skipped) continue;
        take(column.value);
        take(plot.maximum() ? column.score : column.kept);
        if (!plot.maximum()) take(column.before);
    }
    const bool measures = lo < hi || std::ranges::none_of(plot.columns, [](const PlotColumn& column) {
                              return column.value == INFINITY;
                          });
    if (lo > hi) lo = 0, hi = 1;
    if (plot.maximum() && lo > 0 && lo < hi - lo) lo = 0;
    Axis axis = axis_for(lo, hi, std::clamp(static_cast<double>(height) / 26, 1.0, 3.0));
    // The number above the highest value needs room.
    const double number = 24 * (axis.hi - axis.lo) / static_cast<double>(std::max(height, 25.0f));
    axis.hi = std::max(axis.hi, hi + number);
    axis.measures = measures;
    return axis;
}

std::string tick_text(double v, double step) {
    if (std::abs(v) < step * 1e-6) return "0";
    if (step < 1e-3 || std::abs(v) >= 1e5) return format_number(v, 3);
    return format_fixed(v, std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9))));
}

struct Frame {
    const Canvas& c;
    const RunningPlot& plot;
    Rect area;  // of the columns
    Axis axis;
    float cw;

    float y(double v) const {
        const double part = (v - axis.lo) / (axis.hi - axis.lo);
        return area.bottom() - px(std::clamp(part, 0.0, 1.0)) * area.h;
    }
    float x(std::size_t n) const { return area.x + px(n) * cw; }
};

// Where what was there before is rescaled.
bool is_rescaled(const PlotColumn& column) {
    return column.there && !column.skipped && column.alpha < 1 && column.before != 0 &&
           !std::isinf(column.before);
}

// On stage every shrink says by how much; elsewhere those are marked that a larger maximum causes.
bool is_marked(const RunningPlot& plot, const PlotColumn& column) {
    if (!far_type() || !plot.average) return is_rescaled(column);
    return column.there && !column.skipped && std::abs(column.shrink()) < 1;
}

void title(const Canvas& c, const Rect& a, const RunningPlot& plot) {
    const Theme& t = *c.theme;
    float x = a.x + c.rich(a.x, a.y + 11, plot.symbol, size::symbol) + 8;
    // On stage the room is for what its factors are.
    const auto marked = [&](const PlotColumn& column) { return is_marked(plot, column); };
    const bool factors = std::ranges::any_of(plot.columns, marked);
    if (!(far_type() && plot.average && factors))
        x += c.text_within(x, a.y + 11.5f, a.right() - x, plot.words, size::body, t.t2) + 14;
    const auto entry = [&](const char* words, Role role, float at) {
        c.rect(at, a.y + 7, 9, 9, mix(t.panel, hue(t, role), .6f), 2);
        c.frame(at + .5f, a.y + 7.5f, 8, 8, hue(t, role), 1, 2);
        return 15 + c.text(at + 15, a.y + 11.5f, words, size::small, t.t3) + 12;
    };
    const char* first = plot.maximum() ? "score" : "kept";
    float w = text_width(Face::regular, size::small, first) + 27;
    if (!plot.maximum()) w += text_width(Face::regular, size::small, plot.fresh_words) + 27;
    if (x + w > a.right()) return;
    const char* const rescaled = plot.average ? "× α · ℓ old / ℓ" : "× α";
    const float mark_w = text_width(Face::regular, size::small, rescaled) + 22;
    if (factors && x + w + mark_w <= a.right()) {
        const float at = a.right() - w - mark_w;
        c.dashed_line({at + 5, a.y + 3}, {at + 5, a.y + 20}, hue(t, Role::alpha), 1.4f, {4, 3});
        c.text(at + 11, a.y + 11.5f, rescaled, size::small, t.t3);
    }
    x = a.right() - w;
    x += entry(first, plot.maximum() ? Role::S : plot.role, x);
    if (!plot.maximum()) entry(plot.fresh_words, fresh(plot), x);
}

// A number above its column, if it fits there.
struct Figure {
    std::string text;
    float x, y, w;
    bool strong;
};

// Beside the current number there is no room for those of its neighbours.
bool crowded(const Frame& f, std::size_t n) {
    for (std::size_t m = 0; m < f.plot.columns.size(); ++m)
        if (f.plot.columns[m].now && f.plot.columns[m].there && m != n && (m + 1 == n || n + 1 == m))
            return f.cw < 62;
    return false;
}

std::optional<Figure> figure_of(const Frame& f, std::size_t n) {
    const PlotColumn& column = f.plot.columns[n];
    const bool no_number = std::isnan(column.value) && !f.plot.maximum();
    if (!column.there || column.skipped || std::isinf(column.value)) return {};
    if (!no_number && ((!column.now && f.cw < 46) || crowded(f, n))) return {};
    const auto text = [&](double v) {
        return f.plot.digits ? text_alone(*f.plot.digits, v) : format_short(v);
    };
    Figure out{text(column.value), 0, 0, 0, column.now};
    if (f.plot.maximum()) {
        if (!std::isfinite(column.value)) return {};
        if (column.now && column.value > column.before)
            out.text = text(column.before) + " → " + text(column.value);
        out.y = f.y(column.value) - 14;
    } else {
        out.y = (no_number ? f.y(0) : std::min({f.y(0), f.y(column.value), f.y(column.kept)})) - 11;
    }
    out.w = text_width(out.strong ? Face::mono_bold : Face::mono, size::small, out.text);
    if (out.w > f.cw + (out.strong ? 30 : -2)) return {};
    out.x = std::clamp(f.x(n) + f.cw / 2, f.area.x + out.w / 2, f.area.right() - out.w / 2);
    out.y = std::max(out.y, f.area.y + 2);
    return out;
}

void draw_figure(const Frame& f, std::size_t n) {
    if (const auto it = figure_of(f, n))
        f.c.text(it->x, it->y, it->text, size::small, it->strong ? f.c.theme->t1 : f.c.theme->t2,
                 it->strong ? Face::mono_bold : Face::mono, Align::center);
}

// It runs through no number.
void grid_line(const Frame& f, float y, ImU32 colour) {
    float x = f.area.x;
    for (std::size_t n = 0; n < f.plot.columns.size(); ++n) {
        const auto number = figure_of(f, n);
        if (!number || std::abs(number->y - y) > size::small * .65f) continue;
        if (number->x - number->w / 2 - 3 > x) f.c.line({x, y}, {number->x - number->w / 2 - 3, y}, colour);
        x = number->x + number->w / 2 + 3;
    }
    if (x < f.area.right()) f.c.line({x, y}, {f.area.right(), y}, colour);
}

void grid(const Frame& f) {
    const Theme& t = *f.c.theme;
    const int lines = static_cast<int>((f.axis.hi - f.axis.lo) / f.axis.step + 1e-6);
    float last = 1e9f;
    for (int n = 0; n <= lines; ++n) {
        const double v = f.axis.lo + n * f.axis.step;
        if (v > f.axis.hi + f.axis.step * 1e-6 || (n > 0 && !f.axis.measures)) break;
        const float y = std::round(f.y(v)) + .5f;
        grid_line(f, y, std::abs(v) < f.axis.step * 1e-6 ? t.line2 : t.line);
        if (last - y < 15) continue;  // too close to the number below
        last = y;
        f.c.text(f.area.x - 7, y, tick_text(v, f.axis.step), size::small, t.t3, Face::mono, Align::right);
    }
}

void labels(const Frame& f) {
    const Theme& t = *f.c.theme;
    const float y = f.area.bottom() + 11;
    bool full = true;
    for (const PlotColumn& column : f.plot.columns)
        full &= text_width(Face::semibold, size::small, column.label) + 4 <= f.cw;
    for (std::size_t n = 0; n < f.plot.columns.size(); ++n) {
        const PlotColumn& column = f.plot.columns[n];
        const std::string& text = full ? column.label : column.brief;
        const bool fits = text_width(Face::semibold, size::small, text) + 4 <= f.cw;
        if (!fits && !column.now) continue;
        f.c.text(f.x(n) + f.cw / 2, y, text, size::small, column.now ? t.t1 : t.t3,
                 column.now ? Face::semibold : Face::regular, Align::center);
    }
}

void current_column(const Frame& f) {
    for (std::size_t n = 0; n < f.plot.columns.size(); ++n)
        if (f.plot.columns[n].now)
            f.c.rect(f.x(n), f.area.y - 4, f.cw, f.area.h + 4, with_alpha(f.c.theme->raised, .75f),
                     radius::card);
}

void rescaled_mark(const Frame& f, std::size_t n) {
    const PlotColumn& column = f.plot.columns[n];
    // Where every column has a factor and their texts no room beside each other, those of a new maximum.
    const bool narrow = f.plot.average && f.cw < text_width(Face::medium, size::small, "× 0.0000") + 6;
    if (!is_marked(f.plot, column) || (narrow && !is_rescaled(column))) return;
    const Theme& t = *f.c.theme;
    const float x = f.x(n) + 1.5f;
    f.c.dashed_line({x, f.area.y - 2}, {x, f.area.bottom()}, hue(t, Role::alpha), 1.4f, {4, 3});
    // On stage it says what it stands for, at its top, if no number is near.
    if (!far_type() || (narrow && n > 0 && is_rescaled(f.plot.columns[n - 1]))) return;
    const double by = f.plot.maximum() ? column.alpha : column.shrink();
    if (!std::isfinite(by)) return;
    const std::string words = "× " + format_short(by);
    const float w = text_width(Face::medium, size::small, words), left = x - 4 - w, y = f.area.y + 6;
    const auto in_the_way = [&](std::size_t m) {
        const auto number = figure_of(f, m);
        return number && std::abs(number->y - y) < 15 && number->x - number->w / 2 < x &&
               number->x + number->w / 2 > left;
    };
    if (n == 0 || left < f.area.x || in_the_way(n) || in_the_way(n - 1)) return;
    f.c.rect(left - 2, y - 8, w + 4, 16, t.well, 2);
    f.c.text(left, y, words, size::small, hue(t, Role::alpha), Face::medium);
}

void skipped_column(const Frame& f, std::size_t n) {
    const float x = f.x(n) + f.cw * .14f, w = f.cw * .72f, h = std::min(f.area.h * .5f, 40.0f);
    const float y = f.area.bottom() - h;
    f.c.frame(x + .5f, y + .5f, w - 1, h - 1, f.c.theme->line2, 1, radius::bar);
    f.c.line({x, y + h}, {x + w, y}, f.c.theme->line2);
    const float words = text_width(Face::regular, size::small, "skipped");
    if (words <= f.cw - 2)
        f.c.text(f.x(n) + f.cw / 2, y - 10, "skipped", size::small, f.c.theme->t3, Align::center);
}

void maximum(const Frame& f) {
    const Theme& t = *f.c.theme;
    const ImU32 colour = hue(t, Role::m);
    const float side = f.cw * .08f;
    float last_x = 0, last_y = 0;
    bool joined = false;
    for (std::size_t n = 0; n < f.plot.columns.size(); ++n) {
        const PlotColumn& column = f.plot.columns[n];
        if (column.skipped) {
            skipped_column(f, n);
            continue;
        }
        const float x = f.x(n) + side, w = f.cw - 2 * side, mid = f.x(n) + f.cw / 2;
        if (!column.there) continue;
        if (std::isfinite(column.value)) {
            const float y = f.y(column.value);
            if (joined) f.c.line({last_x, last_y}, {x, y}, colour, 1.2f);
            f.c.line({x, y}, {x + w, y}, colour, 3);
            last_x = x + w, last_y = y, joined = true;
            draw_figure(f, n);
        }
        if (column.masked && !std::isfinite(column.value))
            f.c.text(mid, f.area.bottom() - 10, f.cw >= 26 ? "−∞" : "", size::small, t.t3, Face::mono,
                     Align::center);
        else if (column.masked) {  // a score of −∞ lies below the axis
            const Point down[] = {
                {mid - 4, f.area.bottom() - 8}, {mid + 4, f.area.bottom() - 8}, {mid, f.area.bottom() - 2}};
            f.c.polyline(down, hue(t, Role::S), 1.3f, true);
        } else
            f.c.rect(mid - 3, f.y(column.score) - 3, 6, 6, hue(t, Role::S), 1.5f);
    }
}

// No bar is long enough for ∞: it leaves the plot.
void endless(const Frame& f, std::size_t n, float x, float w) {
    const Theme& t = *f.c.theme;
    const Rect& a = f.area;
    const float mid = x + w / 2, plate = 34;
    f.c.rect(x, a.y, w, a.h, mix(t.panel, t.danger, .22f), 2);
    f.c.head({mid, a.y - 9}, {0, -1}, t.danger, 10);
    if (f.plot.columns[n].now) f.c.frame(x - 1, a.y - 1, w + 2, a.h + 2, t.focus, 2.4f, radius::bar);
    if (w < plate) return;
    f.c.rect(mid - plate / 2 + 3, a.y + a.h / 2 - 14, plate - 6, 28, t.panel, radius::bar);
    f.c.text(mid, a.y + a.h / 2, "∞", size::lead, t.t1, Face::mono_bold, Align::center);
}

void bar(const Frame& f, std::size_t n) {
    const PlotColumn& column = f.plot.columns[n];
    const Theme& t = *f.c.theme;
    if (std::isnan(column.value)) {  // a bar of no height; the word stands for it
        draw_figure(f, n);
        return;
    }
    const float wide = far_type() && column.now ? .08f : .17f;
    const float side = f.cw > 12 ? f.cw * wide : 1, x = f.x(n) + side, w = f.cw - 2 * side;
    const float zero = f.y(0), top = f.y(column.value), kept = f.y(column.kept);
    if (!column.there) return;  // not computed yet
    if (std::isinf(column.value)) return endless(f, n, x, w);
    const ImU32 old_hue = hue(t, f.plot.role), new_hue = hue(t, fresh(f.plot));
    const auto box = [&](float left, float width, float a, float b, ImU32 colour, float strength) {
        if (std::abs(a - b) < .5f) return;
        f.c.rect(left, std::min(a, b), width, std::abs(a - b), mix(t.panel, colour, strength), 2);
        if (f.cw >= 14)
            f.c.frame(left + .5f, std::min(a, b) + .5f, width - 1, std::abs(a - b) - 1, colour, 1, 2);
    };
    // The element under way shows how the old value shrinks: hatched on the left, a wedge, the new bar.
    const bool open = column.now && f.cw >= 52 && column.before != 0;
    const float bx = open ? x + w * .56f : x, bw = open ? w * .44f : w;
    if (open) {
        const float old = f.y(column.before), ow = w * .36f;
        f.c.rect(x, std::min(zero, old), ow, std::abs(zero - old), mix(t.panel, old_hue, .25f), 2);
        f.c.hatch(x + 1, std::min(zero, old) + 1, ow - 2, std::abs(zero - old) - 2,
                  mix(t.panel, old_hue, .6f), 6);
        const ImU32 wedge = column.alpha < 1 ? hue(t, Role::alpha) : t.t3;
        f.c.polygon({{x + ow, old}, {bx, kept}, {bx, zero}, {x + ow, zero}}, with_alpha(wedge, .2f));
        f.c.line({x + ow, old}, {bx, kept}, wedge, 1.4f);
    }
    box(bx, bw, zero, kept, old_hue, .42f);
    box(bx, bw, kept, top, new_hue, .55f);
    if (column.now)
        f.c.frame(bx - 1, std::min({zero, top, kept}) - 1, bw + 2,
                  std::abs(std::max({zero, top, kept}) - std::min({zero, top, kept})) + 2, t.focus, 2.4f,
                  radius::bar);
    draw_figure(f, n);
}

}  // namespace

double PlotColumn::shrink() const { return kept / before; }

int most_columns(float width) { return std::max(1, static_cast<int>((width - 60) / least_column)); }

void running_plot(const Canvas& c, const Rect& a, const RunningPlot& plot) {
    title(c, a, plot);
    const float head = far_type() ? 30 : a.h >= 100 ? 38 : 25, foot = far_type() || a.h < 100 ? 20 : 24;
    const Axis axis = axis_of(plot, a.h - head - foot);
    float left = 0;
    for (double v = axis.lo; v <= axis.hi + axis.step / 1e6; v += axis.step)
        left = std::max(left, text_width(Face::mono, size::small, tick_text(v, axis.step)));
    const Rect area{a.x + left + 10, a.y + head, a.w - left - 12, a.h - head - foot};
    if (area.h < 20 || area.w < 20 || plot.columns.empty()) return;
    const Frame f{c, plot, area, axis, area.w / px(plot.columns.size())};
    current_column(f);
    grid(f);
    for (std::size_t n = 0; n < plot.columns.size(); ++n) rescaled_mark(f, n);
    if (plot.maximum()) {
        maximum(f);
    } else {
        for (std::size_t n = 0; n < plot.columns.size(); ++n)
            plot.columns[n].skipped ? skipped_column(f, n) : bar(f, n);
    }
    labels(f);
}

}  // namespace tilewalk::ui

#include "app/ui/views/plot.h"

#include "core/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

// Place of a value between two positive ends, 0 … 1; 0 where there is no such place.
float place(double v, double lo, double hi) {
    if (!(v > 0) || !(lo > 0) || !(hi > lo) || !std::isfinite(hi)) return 0;
    return static_cast<float>(std::clamp(std::log(v / lo) / std::log(hi / lo), 0.0, 1.0));
}

}  // namespace

float LogPlot::X(double x) const { return area.x + area.w * place(x, x_lo, x_hi); }
float LogPlot::Y(double y) const { return area.bottom() - area.h * place(y, y_lo, y_hi); }

std::vector<double> log_ticks(double lo, double hi, double base, int most) {
    std::vector<double> out;
    if (!(lo > 0) || !(hi >= lo) || !std::isfinite(hi) || !(base > 1) || most < 1) return out;
    const int first = static_cast<int>(std::ceil(std::log(lo) / std::log(base) - 1e-9)),
              last = static_cast<int>(std::floor(std::log(hi) / std::log(base) + 1e-9));
    const int stride = std::max(1, (last - first + most) / most);
    for (int k = first; k <= last; k += stride) out.push_back(std::pow(base, k));
    return out;
}

std::string tick_text(double value) {
    const bool round = value >= 1e5;
    return round ? format_number(value, 1) : format_number(value, 2);
}

void plot_grid(const Canvas& c, const LogPlot& p, const std::vector<double>& xs,
               const std::vector<double>& ys) {
    const Theme& t = *c.theme;
    for (double x : xs) {
        c.line({p.X(x), p.area.y}, {p.X(x), p.area.bottom()}, t.line);
        c.text(p.X(x), p.area.bottom() + 14, tick_text(x), 13, t.t3, Face::regular, Align::center);
    }
    for (double y : ys) {
        c.line({p.area.x, p.Y(y)}, {p.area.right(), p.Y(y)}, t.line);
        c.text(p.area.x - 8, p.Y(y), tick_text(y), 13, t.t3, Face::regular, Align::right);
    }
    c.line({p.area.x, p.area.y}, {p.area.x, p.area.bottom()}, t.line2);
    c.line({p.area.x, p.area.bottom()}, {p.area.right(), p.area.bottom()}, t.line2);
}

void plot_marker(const Canvas& c, Marker marker, float x, float y, ImU32 colour, float r) {
    const ImU32 edge = c.theme->panel;
    switch (marker) {
    case Marker::square:
        c.rect(x - r - 1, y - r - 1, 2 * r + 2, 2 * r + 2, edge, 2);
        return c.rect(x - r + 1, y - r + 1, 2 * r - 2, 2 * r - 2, colour, 2);
    case Marker::triangle:
        c.polygon({{x, y - r - 3}, {x + r + 3, y + r + 1}, {x - r - 3, y + r + 1}}, edge);
        return c.polygon({{x, y - r}, {x + r, y + r - 1}, {x - r, y + r - 1}}, colour);
    case Marker::diamond:
        c.polygon({{x, y - r - 3}, {x + r + 3, y}, {x, y + r + 3}, {x - r - 3, y}}, edge);
        return c.polygon({{x, y - r}, {x + r, y}, {x, y + r}, {x - r, y}}, colour);
    }
}

}  // namespace tilewalk::ui

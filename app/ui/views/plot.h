// Axes with logarithmic scales.
#pragma once

#include "app/ui/canvas.h"
#include "app/ui/layout.h"

#include <string>
#include <vector>

namespace tilewalk::ui {

/// The area of a plot and its ranges, both positive. What lies outside is drawn at the edge.
struct LogPlot {
    Rect area;
    double x_lo = 1, x_hi = 10, y_lo = 1, y_hi = 10;

    float X(double x) const;
    float Y(double y) const;
};
/// Powers of `base` in lo … hi, every n-th where there would be more than `most`.
std::vector<double> log_ticks(double lo, double hi, double base, int most);
void plot_grid(const Canvas& canvas, const LogPlot& plot, const std::vector<double>& xs,
               const std::vector<double>& ys);
/// "1024", "0.25", "10⁹" for an axis.
std::string tick_text(double value);

enum class Marker { square, triangle, diamond };
void plot_marker(const Canvas& canvas, Marker marker, float x, float y, ImU32 colour, float radius = 7);

}  // namespace tilewalk::ui

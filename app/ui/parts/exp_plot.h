// The plot of exp(x − max) on stage: one shape in one place, whatever stands on it.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"

#include <vector>

namespace tilewalk::ui {

/// From `top`, where the curve is 1, as far to the left as weights can be seen.
struct ExpPlot {
    Rect area;
    double top = 0;
    double span = 4;
    bool beside = false;  ///< what lies on it is told at its right: of a low, wide pane it takes a part

    double lo() const { return top - span; }
    float x(double v) const { return area.right() - px((top - v) / span) * area.w; }
    float y(double weight) const { return area.bottom() - px(weight) * area.h; }
    /// exp(x − max) from x to there.
    std::vector<Point> curve(double max, double from) const;
};
ExpPlot exp_plot(const Rect& pane, double top);
/// The lines of 0 and 1.
void draw_exp_axes(const Canvas& canvas, const ExpPlot& plot);

}  // namespace tilewalk::ui

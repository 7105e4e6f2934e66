// The roofline: how fast each order may run at best, from its FLOPs per byte of HBM traffic.
#include "app/ui/chapters/memory/memory.h"
#include "app/ui/kit/chart.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

struct Mark {
    Marker marker;
    ImU32 colour;
};
Mark mark_of(const Theme& t, Algorithm algorithm) {
    const auto shade = [&](float f) { return cividis(t.light ? .62f - .62f * f : f); };
    if (algorithm == Algorithm::standard) return {Marker::square, t.t1};
    if (algorithm == Algorithm::flash1) return {Marker::triangle, shade(t.light ? .3f : .70f)};
    return {Marker::diamond, shade(1)};
}

// Ranges that hold the ridge and every point, with room for labels to the right of the last one.
void find_ends(Chart& chart, const Study& s, float w) {
    const Hardware& h = s.input.hardware;
    const double edge = ridge(h, s.input.element_bytes);
    double lo = edge, hi = edge;
    for (const AlgorithmStudy& one : s.by_algorithm) {
        lo = std::min(lo, one.bound.intensity);
        hi = std::max(hi, one.bound.intensity);
    }
    ChartAxis &x = chart.x, &y = chart.y;
    x.lo = std::exp2(std::floor(std::log2(std::max(lo, 1e-6)) - 1.5));
    x.hi = std::max(hi * 2, edge * 4);
    // A label is about 150 px long and must end before the edge.
    const double share = std::clamp(1 - 165.0 / static_cast<double>(w), .35, .9);
    x.hi = std::max(x.hi, x.lo * std::pow(hi / x.lo, 1 / share));
    y.hi = h.peak(s.input.element_bytes) / 1e12 * 2.4;
    y.lo = std::min(x.lo * h.bandwidth.value / 1e12, y.hi / 16);
}

// Along the slope the memory is the limit, on the flat the arithmetic.
void roof(Chart& chart, const Theme& t, const Study& s) {
    const Hardware& h = s.input.hardware;
    const double peak = h.peak(s.input.element_bytes) / 1e12, slope = h.bandwidth.value / 1e12,
                 edge = ridge(h, s.input.element_bytes), lo = chart.x.lo, hi = chart.x.hi, floor = chart.y.lo;
    chart.areas = {{{{lo, lo * slope}, {edge, peak}, {edge, floor}, {lo, floor}}, with_alpha(t.t3, .07f)},
                   {{{edge, peak}, {hi, peak}, {hi, floor}, {edge, floor}}, with_alpha(t.t3, .07f)}};
    ChartSeries foot, line;
    foot.colour = t.line2, foot.width = 1, foot.dash = {4, 4};
    foot.points = {{edge, peak}, {edge, floor}};
    line.colour = t.t2, line.width = 2.4f;
    line.points = {{lo, lo * slope}, {edge, peak}, {hi, peak}};
    chart.series = {foot, line};
    const double third = lo * std::cbrt(edge / lo);
    chart.notes = {{hi, peak, format_number(peak) + " TFLOP/s"},
                   {edge, floor, "limits meet at " + format_number(edge, 3)},
                   {third, third * slope, rate_text(h.bandwidth.value)}};
}

void points(Chart& chart, const Theme& t, const Study& s) {
    for (std::size_t n = s.by_algorithm.size(); n-- > 0;) {
        const AlgorithmStudy& one = s.by_algorithm[n];
        const Mark mark = mark_of(t, one.algorithm);
        ChartSeries series;
        series.label = algorithm_name(one.algorithm);
        series.note = format_number(one.bound.intensity, 3) + " FLOP/B";
        series.colour = mark.colour, series.marker = mark.marker;
        series.points = {{one.bound.intensity, one.bound.attainable / 1e12}};
        chart.series.push_back(series);
    }
}

}  // namespace

Chart roofline_chart(const Theme& t, const Study& s, float w) {
    Chart chart;
    chart.x.title = "FLOP per byte of HBM traffic", chart.y.title = "TFLOP/s";
    find_ends(chart, s, w);
    roof(chart, t, s);
    points(chart, t, s);
    return chart;
}

void memory_roofline(const Canvas& c, const Study& s, const Rect& a) {
    const Theme& t = *c.theme;
    const bool wide = a.w > 460, high = a.h > 300;
    const Hardware& h = s.input.hardware;
    std::string subtitle =
        wide ? "upper bounds, " + h.name + " " + format_name(s.input.element_bytes) : h.name;
    if (!h.has_own_peak(s.input.element_bytes)) subtitle += " (rate of fp16)";
    const Panel panel(c, "Roofline", a, "Roofline", subtitle);
    const Chart chart = roofline_chart(t, s, a.w - 78);
    ChartLook look;
    look.marker = 6.5f, look.label = 14, look.x_title = high;
    paint(c, lay_out(chart, {a.x, a.y + 30, a.w, a.h - 30 - (high ? 28 : 20)}, look, t));
    const std::string heads = format_count(s.input.heads * s.input.batch) +
                              (s.input.heads * s.input.batch == 1 ? " head" : " heads");
    std::string times = "At best, " + heads + ": ";
    for (Algorithm one : algorithms)
        times += std::string(one == Algorithm::standard ? "" : ", ") + algorithm_name(one) + " " +
                 format_time(s.of(one).bound.seconds());
    c.text_within(a.inner_x(), a.bottom() - 15, a.inner_w(), times + ".", size::small, t.t2);
}

}  // namespace tilewalk::ui

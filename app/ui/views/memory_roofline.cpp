// The roofline: how fast each order may run at best, from its FLOPs per byte of HBM traffic.
#include "app/ui/items.h"
#include "app/ui/views/memory.h"
#include "app/ui/views/plot.h"
#include "core/numbers.h"

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
LogPlot plot_of(const Study& s, const Rect& area) {
    const Hardware& h = s.input.hardware;
    const double edge = ridge(h, s.input.element_bytes);
    double lo = edge, hi = edge;
    for (const AlgorithmStudy& one : s.by_algorithm) {
        lo = std::min(lo, one.bound.intensity);
        hi = std::max(hi, one.bound.intensity);
    }
    LogPlot p{area};
    p.x_lo = std::exp2(std::floor(std::log2(std::max(lo, 1e-6)) - 1.5));
    p.x_hi = std::max(hi * 2, edge * 4);
    // A label is about 150 px long and must end before the edge.
    const double share = std::clamp(1 - 165.0 / static_cast<double>(area.w), .35, .9);
    p.x_hi = std::max(p.x_hi, p.x_lo * std::pow(hi / p.x_lo, 1 / share));
    p.y_hi = h.peak(s.input.element_bytes) / 1e12 * 1.9;
    p.y_lo = std::min(p.x_lo * h.bandwidth.value / 1e12, p.y_hi / 16);
    return p;
}

struct Box {
    float x, y, w, h;
    bool meets(const Box& o) const { return x < o.x + o.w && o.x < x + w && y < o.y + o.h && o.y < y + h; }
};

// Returns where its labels stand.
std::vector<Box> roof(const Canvas& c, const Study& s, const LogPlot& p) {
    const Theme& t = *c.theme;
    const Hardware& h = s.input.hardware;
    const double peak = h.peak(s.input.element_bytes) / 1e12, slope = h.bandwidth.value / 1e12,
                 edge = ridge(h, s.input.element_bytes);
    const Point start{p.X(p.x_lo), p.Y(p.x_lo * slope)}, corner{p.X(edge), p.Y(peak)},
        end{p.area.right(), p.Y(peak)};
    c.polygon({start, corner, {corner.x, p.area.bottom()}, {start.x, p.area.bottom()}},
              with_alpha(t.t3, .07f));
    c.polygon({corner, end, {end.x, p.area.bottom()}, {corner.x, p.area.bottom()}}, with_alpha(t.t3, .07f));
    c.dashed_line(corner, {corner.x, p.area.bottom()}, t.line2, 1, {4, 4});
    c.line(start, corner, t.t2, 2.4f);
    c.line(corner, end, t.t2, 2.4f);
    const std::string top = format_number(peak) + " TFLOP/s", foot = "ridge " + format_number(edge, 3),
                      memory = rate_text(h.bandwidth.value);
    const float top_w = c.text(end.x, corner.y - 13, top, 13, t.t2, Face::medium, Align::right);
    const float foot_w = c.text(corner.x + 6, p.area.bottom() - 11, foot, 13, t.t3);
    // Above the slope, as far up as its own length asks for
    const float memory_w = text_width(Face::medium, 13, memory),
                along = std::min(1.0f, (memory_w + 18) / std::max(1.0f, corner.x - start.x));
    const float level = std::clamp(start.y + (corner.y - start.y) * along - 10, p.area.y + 8, start.y - 12);
    c.text(p.area.x + 8, level, memory, 13, t.t2, Face::medium);
    std::vector<Box> taken{{end.x - top_w, corner.y - 23, top_w, 20},
                           {corner.x + 2, p.area.bottom() - 21, foot_w + 8, 20},
                           {p.area.x + 4, level - 10, memory_w + 8, 20}};
    for (float f = 0; f <= 1; f += .02f) {  // the lines themselves
        taken.push_back(
            {start.x + (corner.x - start.x) * f - 2, start.y + (corner.y - start.y) * f - 2, 4, 4});
        taken.push_back({corner.x + (end.x - corner.x) * f - 3, corner.y - 2, 6, 4});
    }
    return taken;
}

// Where a label may stand: below and to the right of its point, lower and lower, then above and to the left.
std::vector<Box> places(float x, float y, float w, const LogPlot& p) {
    std::vector<Box> out;
    for (float k = 0; k < 12; ++k)
        out.push_back({std::min(x + 13, p.area.right() - w), y + 3 + 9 * k, w, 18});
    for (float k = 0; k < 12; ++k) out.push_back({std::max(x - 13 - w, p.area.x + 6), y - 22 - 9 * k, w, 18});
    return out;
}

void points(const Canvas& c, const Study& s, const LogPlot& p) {
    const Theme& t = *c.theme;
    std::vector<Box> taken = roof(c, s, p);
    for (const AlgorithmStudy& one : s.by_algorithm)
        taken.push_back({p.X(one.bound.intensity) - 8, p.Y(one.bound.attainable / 1e12) - 8, 16, 16});
    const auto free = [&](const Box& box) {
        return box.y >= p.area.y && box.y + box.h <= p.area.bottom() - 2 &&
               std::none_of(taken.begin(), taken.end(), [&](const Box& o) { return box.meets(o); });
    };
    for (std::size_t n = s.by_algorithm.size(); n-- > 0;) {
        const AlgorithmStudy& one = s.by_algorithm[n];
        const std::string name = algorithm_name(one.algorithm),
                          value = format_number(one.bound.intensity, 3) + " FLOP/B";
        const float name_w = text_width(Face::semibold, 14, name),
                    w = name_w + 8 + text_width(Face::regular, 13, value);
        // With its value; if there is no room, the name alone.
        const float x = p.X(one.bound.intensity), y = p.Y(one.bound.attainable / 1e12);
        std::vector<Box> wanted = places(x, y, w, p);
        for (const Box& box : places(x, y, name_w, p)) wanted.push_back(box);
        const auto box = std::find_if(wanted.begin(), wanted.end(), free);
        if (box == wanted.end()) continue;
        taken.push_back(*box);
        c.text(box->x, box->y + 9, name, 14, t.t1, Face::semibold);
        if (box->w > name_w + 1) c.text(box->x + name_w + 8, box->y + 9, value, 13, t.t2);
    }
    for (const AlgorithmStudy& one : s.by_algorithm) {
        const Mark mark = mark_of(t, one.algorithm);
        plot_marker(c, mark.marker, p.X(one.bound.intensity), p.Y(one.bound.attainable / 1e12), mark.colour);
    }
}

}  // namespace

void memory_roofline(const Canvas& c, const Study& s, const Rect& a) {
    const Theme& t = *c.theme;
    const bool wide = a.w > 460, high = a.h > 300;
    const Hardware& h = s.input.hardware;
    std::string subtitle =
        wide ? "upper bounds, " + h.name + " " + format_name(s.input.element_bytes) : h.name;
    if (!h.has_own_peak(s.input.element_bytes)) subtitle += " (rate of fp16)";
    begin_panel(c, "Roofline", a.x, a.y, a.w, a.h, "Roofline", subtitle);
    const float foot = high ? 44 : 26;
    const Rect area{a.x + 58, a.y + 62, a.w - 58 - 20, a.h - 62 - 26 - foot - (high ? 16 : 4)};
    const LogPlot p = plot_of(s, area);
    plot_grid(c, p, log_ticks(p.x_lo, p.x_hi, 2, wide ? 6 : 4), log_ticks(p.y_lo, p.y_hi, 10, 4));
    c.text(a.x + 16, a.y + 48, "TFLOP/s", 13, t.t3);
    if (high)
        c.text(area.x + area.w / 2, area.bottom() + 32, "FLOP per byte of HBM traffic", 13, t.t3,
               Face::regular, Align::center);
    points(c, s, p);
    const std::string heads = format_count(s.input.heads * s.input.batch) +
                              (s.input.heads * s.input.batch == 1 ? " head" : " heads");
    std::string times = "At best, " + heads + ": ";
    for (Algorithm one : algorithms)
        times += std::string(one == Algorithm::standard ? "" : ", ") + algorithm_name(one) + " " +
                 format_time(s.of(one).bound.seconds());
    c.text_within(a.x + 16, a.bottom() - 15, a.w - 32, times + ".", 13, t.t2);
    end_panel(c);
}

}  // namespace tilewalk::ui

// The roofline: how fast each order may run, from its FLOPs per byte of HBM traffic, if no cache spares any.
#include "app/ui/chapters/memory/memory.h"
#include "app/ui/state/tour.h"

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

// What the place beside the traffic can show, in the order of MemoryPlot; a tour points at the part.
struct PlotLook {
    MemoryPlot plot;
    const char *part, *label;
    void (*draw)(const Canvas&, AppState&, const Study&, const Rect&);
};
constexpr PlotLook plot_looks[] = {
    {MemoryPlot::roofline, "Roofline", "roofline", memory_roofline},
    {MemoryPlot::tile_height, "Tile height", "tile height", memory_tile_height},
    {MemoryPlot::kv_cache, "KV cache", "KV cache", memory_kv_cache}};

}  // namespace

std::string best_times(const Study& s, bool brief) {
    const std::int64_t heads = s.input.heads * s.input.batch;
    std::string out = "Without a cache, " + format_count(heads) + (heads == 1 ? " head: " : " heads: ");
    for (Algorithm one : algorithms) {
        if (brief && one == Algorithm::flash1) continue;
        out += std::string(one == Algorithm::standard ? "" : ", ") + algorithm_name(one) + " " +
               format_time(s.of(one).bound.seconds());
    }
    return out + (brief ? "." : "; each matrix once: " + format_time(s.once.seconds()) + ".");
}

MemoryPlot memory_plot(const AppState& state) {
    for (const PlotLook& look : plot_looks)
        if (points_at(state, look.part)) return look.plot;
    return state.memory.plot;
}

void choose_memory_plot(const Canvas& c, AppState& state, const Rect& a) {
    std::vector<std::string> names;
    for (const PlotLook& look : plot_looks) names.emplace_back(look.label);
    int chosen = static_cast<int>(memory_plot(state));
    if (segmented(c, "##memory-plot", a.right() - space::control_edge - segmented_width(names),
                  a.y + space::control_top, names, chosen))
        state.memory.plot = static_cast<MemoryPlot>(chosen);
}

void memory_plots(const Canvas& c, AppState& state, const Study& s, const Rect& a) {
    plot_looks[static_cast<std::size_t>(memory_plot(state))].draw(c, state, s, a);
}

Chart roofline_chart(const Theme& t, const Study& s, float w) {
    Chart chart;
    chart.x.title = "FLOP per byte of HBM traffic", chart.y.title = "TFLOP/s";
    find_ends(chart, s, w);
    roof(chart, t, s);
    points(chart, t, s);
    return chart;
}

void memory_roofline(const Canvas& c, AppState& state, const Study& s, const Rect& a) {
    const Theme& t = *c.theme;
    const bool wide = a.w > 640, high = a.h > 300;
    const Hardware& h = s.input.hardware;
    std::string subtitle = wide        ? "no cache, " + h.name + " " + format_name(s.input.element_bytes)
                           : a.w > 460 ? h.name
                                       : "";
    if (wide && !h.has_own_peak(s.input.element_bytes)) subtitle += " (rate of fp16)";
    const Panel panel(c, "Roofline", a, "Roofline", subtitle);
    choose_memory_plot(c, state, a);
    const Chart chart = roofline_chart(t, s, a.w - 78);
    ChartLook look;
    look.marker = 6.5f, look.label = 14, look.x_title = high;
    paint(c, lay_out(chart, {a.x, a.y + 30, a.w, a.h - 30 - (high ? 28 : 20)}, look, t));
    std::string times = best_times(s, false);
    const auto fits = [&] { return text_width(Face::regular, size::small, times) <= a.inner_w(); };
    if (!fits()) times = best_times(s, true);
    if (!fits()) times = "No cache: " + times.substr(times.find(": ") + 2);  // of the heads that N × N has
    c.text_within(a.inner_x(), a.bottom() - 15, a.inner_w(), times, size::small, t.t2);
}

// ---- Bytes against the height of the tiles

std::string height_that_pays(const Study& s, bool brief) {
    const std::int64_t least = least_height_that_pays(s.shape);
    if (least > s.shape.N) return "No height of tiles moves fewer bytes than standard here.";
    const std::string from =
        "From Br = " + format_count(least) + " rows on (dashed) it moves no more than standard";
    return brief ? from + "." : from + " attention: each of N ÷ Br query blocks reads all of K and V.";
}

std::string why_not_on_chip(const Study& s) {
    const Hardware& h = s.input.hardware;
    Shape shape = s.shape;
    for (const TileRow& row : tile_rows(s.shape)) {
        shape.Br = row.Br;
        if (tile_fit(shape, h) != TileFit::none) continue;
        const TileNeed need = tile_need(shape);
        const bool sums = static_cast<double>(need.operands) <= h.shared.value;
        // What lies there, to be worked out by who reads it
        const auto product = [](const std::string& factors) { return replaced(factors, " ", "\u00A0"); };
        const std::string rows = format_count(shape.Br) + " · ",
                          of_sums = product("S, P (2 · " + rows + format_count(shape.Bc) + ")") + ", " +
                                    product("O (" + rows + format_count(shape.d) + ")") + ", m, ℓ, m̃, α";
        return "Crossed: at Br = " + format_count(row.Br) + (sums ? ", fp32, " + of_sums : " Q, K and V") +
               " need " + format_large_size(static_cast<double>(sums ? need.sums : need.operands)) +
               (sums ? ", an SM's registers have " : ", the SRAM of an SM has ") +
               format_large_size(sums ? h.registers.value : h.shared.value) + ".";
    }
    return {};
}

static void not_on_chip(const Canvas& c, const Rect& bar, ImU32 colour) {
    const bool far = bar.h > 16;
    c.crossed(bar.x + 1, bar.y + 1, bar.w - 2, bar.h - 2, colour, far ? 14.0f : 9.0f, far ? 2.0f : 1.2f);
    c.frame(bar.x + .5f, bar.y + .5f, bar.w - 1, bar.h - 1, colour, 1.2f, radius::bar);
}

void tile_height_rows(const Canvas& c, const Study& s, const Rect& a, const RowsLook& look) {
    const Theme& t = *c.theme;
    std::vector<TileRow> rows = tile_rows(s.shape);
    // Where there is no room for all, every second one that is not set.
    while (rows.size() > 3 && (a.h - look.head) / px(rows.size()) < 1.15f * look.text) {
        std::vector<TileRow> fewer;
        for (std::size_t n = 0; n < rows.size(); ++n)
            if (n % 2 == 0 || rows[n].Br == s.shape.Br) fewer.push_back(rows[n]);
        rows = fewer;
    }
    const float em = look.text, br_x = a.x + 2.4f * em, bytes_x = br_x + 6.2f * em,
                bars = bytes_x + 1.2f * em, end = a.right() - 3.6f * em, head = a.y + look.head / 2;
    double most = 1;
    for (const TileRow& row : rows) most = std::max(most, row.saving);
    const auto X = [&](double saving) { return bars + (end - bars) * px(saving / most); };
    c.rich(br_x, head, {symbol("B", Role::none), sub("r", Role::none)}, em, Align::right, t.t2);
    c.text(bytes_x, head, "it moves", em, t.t2, Face::medium, Align::right);
    const float title_w =
        c.text_within(bars, head, a.right() - bars, "standard ÷ FlashAttention-2", em, t.t2, Face::medium);
    const auto fits = [&](const TileRow& row) {
        Shape shape = s.shape;
        shape.Br = row.Br;
        return tile_fit(shape, s.input.hardware) != TileFit::none;
    };
    constexpr const char* crossed = "crossed: not on chip";
    if (!std::ranges::all_of(rows, fits) &&
        title_w + text_width(Face::regular, em, crossed) + em <= a.right() - bars)
        c.text(a.right(), head, crossed, em, t.t2, Align::right);
    const float pitch = std::min(look.most_pitch, (a.h - look.head) / px(rows.size()));
    for (std::size_t n = 0; n < rows.size(); ++n) {
        const TileRow& row = rows[n];
        const float y = a.y + look.head + (px(n) + .5f) * pitch, h = std::min(look.bar, pitch - 5);
        const bool current = row.Br == s.shape.Br, pays = row.saving >= 1;
        if (current) c.rect(a.x - 6, y - pitch / 2 + 1, a.w + 12, pitch - 2, t.raised, radius::card);
        const Face face = current ? Face::semibold : Face::regular;
        c.text(br_x, y, format_count(row.Br), em, t.t1, face, Align::right);
        c.text(bytes_x, y, format_large_size(static_cast<double>(row.bytes)), em, t.t1, face, Align::right);
        const float w = std::max(X(row.saving) - bars, 1.5f);
        const ImU32 fill = mix(t.panel, t.t1, pays ? .62f : .3f);
        if (fits(row))
            c.rect(bars, y - h / 2, w, h, fill, radius::bar);
        else
            not_on_chip(c, {bars, y - h / 2, w, h}, fill);
        c.text(std::max(bars + w, X(1)) + .5f * em, y, saving_text(row.saving), em, pays ? t.t1 : t.t2,
               pays ? Face::semibold : Face::regular);
    }
    c.dashed_line({X(1), a.y + look.head}, {X(1), a.y + look.head + pitch * px(rows.size())}, t.t1, 1.5f,
                  {5, 4});
}

void memory_tile_height(const Canvas& c, AppState& state, const Study& s, const Rect& a) {
    const bool high = a.h > 300;
    const Panel panel(c, "Tile height", a, "Tile height", a.w > 460 ? "d = " + str(s.shape.d) : "");
    choose_memory_plot(c, state, a);
    const float note = high ? 44 : 24, top = a.y + 46;
    tile_height_rows(c, s, {a.inner_x(), top, a.inner_w(), a.bottom() - top - note - 6},
                     {.text = size::small, .head = 20, .bar = 12, .most_pitch = 26});
    std::string words = height_that_pays(s, !high);
    if (!high && text_width(Face::regular, size::small, words) > a.inner_w())
        words = replaced(words, " rows on (dashed) it moves", " on (dashed):");
    c.paragraph(a.inner_x(), a.bottom() - note - 4, a.inner_w(), words, size::small, c.theme->t2,
                high ? 2 : 1);
}

}  // namespace tilewalk::ui

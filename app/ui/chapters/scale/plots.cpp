// What the two plots show: points that were measured, and for memory the closed form beside them.
#include "app/ui/chapters/scale/scale.h"
#include "core/base/numbers.h"
#include "core/bench/findings.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

const char* length_title(const AppState& state) {
    return shows_decoding(state) ? "N, keys" : "N, sequence length";
}

// The reports whose times can be set beside those of the chosen one
std::vector<const ShownReport*> drawn_reports(const AppState& state) {
    std::vector<const ShownReport*> out;
    if (const ShownReport* chosen = chosen_report(state))
        for (const ShownReport& one : state.bench->reports)
            if (comparable(*chosen, one)) out.push_back(&one);
    return out;
}

// Reports tell themselves apart by their dashes and how strong they are.
struct ReportLook {
    Dash dash{0, 0};
    float opacity = 1;
};
ReportLook report_look(const ScalePage& page, const ShownReport& shown) {
    static constexpr ReportLook looks[] = {{{9, 4}, .8f}, {{2, 3}, .8f}, {{9, 3}, .6f}};
    if (!shown.recorded) return {};
    std::size_t n = 0;
    for (const ShownReport& other : page.reports) {
        if (&other == &shown) break;
        n += other.recorded && comparable(shown, other);
    }
    return looks[n % std::size(looks)];
}

ChartSeries series_of(const Theme& t, const AppState& state, const ShownReport& shown,
                      const std::string& kernel, const std::string& label) {
    const KernelLook look = kernel_look(t, state, kernel);
    const ReportLook of = report_look(*state.bench, shown);
    ChartSeries series;
    series.label = label + (shown.tag.empty() ? "" : (shown.tag.size() == 1 ? " " : ", ") + shown.tag);
    series.colour = look.colour, series.marker = look.marker;
    series.dash = of.dash, series.opacity = of.opacity;
    return series;
}

// "flash 1.5×", at the longest length that standard attention has as well: on a logarithmic axis over many
// lengths the lines lie nearly on each other.
std::string with_gain(const ShownReport& shown, const std::string& kernel) {
    std::string words = kernel_words(kernel);
    if (is_standard(kernel)) return words;
    const std::vector<std::int64_t> lengths = shown.lengths();
    for (auto N = lengths.rbegin(); N != lengths.rend(); ++N)
        if (const double times = times_as_fast(shown, kernel, *N); times > 0)
            return words + " " + format_number(times, 2) + "×";
    return words;
}

void sort_by_x(ChartSeries& series) {
    std::ranges::stable_sort(series.points,
                             [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
}

// Time, GFLOP/s or per cent of the peak (decoding: GB/s of K and V, per cent of reading them), with what 20
// and 80 of 100 runs kept below.
ChartPoint measured_point(const BenchReport& report, const Record& r, int measure) {
    const auto x = static_cast<double>(r.workload.N_kv);
    if (measure == 0) return {x, r.median, r.p20, r.p80};
    const bool decoding = shape_of(r.workload).N_q > 0;
    const double work = decoding ? static_cast<double>(kv_bytes(r.workload)) : flops(r.workload),
                 of_all = decoding ? of_reading(report, r) : r.of_peak(), rate = work / r.median,
                 unit = measure == 1 ? 1e-9 : 100 * of_all / rate;
    return {x, rate * unit, r.p80 > 0 ? work / r.p80 * unit : 0, r.p20 > 0 ? work / r.p20 * unit : 0};
}

bool measured(const Record& r) { return r.state == Record::State::measured && r.median > 0; }

// The ends of an axis before there is anything to find them from.
void lengths_of_form(ChartAxis& x, const AppState& state) {
    const std::vector<std::int64_t> all = chosen_lengths(state.scale);
    if (all.empty()) return;
    x.lo = static_cast<double>(all.front()) / 1.26, x.hi = static_cast<double>(all.back()) * 1.26;
}

// ---- Memory

// By the closed form also where it was not run.
ChartSeries model_line(ChartSeries series) {
    for (ChartPoint& p : series.points) p.does_not_fit = false, p.record = -1;
    series.label.clear();
    series.marker = Marker::none;
    series.width = 1.4f, series.dash = {4, 4};
    return series;
}

// On a linear axis what grows beyond that would press all the rest together.
void end_at_first_cross(ChartSeries& counted, ChartSeries& model) {
    for (const ChartPoint& p : counted.points) {
        if (!p.does_not_fit) continue;
        const double last = p.x;
        std::erase_if(counted.points, [&](const ChartPoint& other) { return other.x > last; });
        std::erase_if(model.points, [&](const ChartPoint& other) { return other.x > last; });
        return;
    }
}

void memory_of(Chart& chart, const Theme& t, const AppState& state, const ShownReport& shown) {
    const ScalePage& page = *state.bench;
    for (const std::string& kernel : shown.kernels()) {
        ChartSeries counted = series_of(t, state, shown, kernel, kernel_words(kernel)), model = counted;
        for (const Record& r : shown.report.points) {
            if (r.kernel != kernel) continue;
            const auto x = static_cast<double>(r.workload.N_kv), by_form = static_cast<double>(r.model_bytes);
            const bool none = r.state == Record::State::no_memory;
            if (r.model_bytes > 0) model.points.push_back({x, by_form});
            if (measured(r) && r.workspace_bytes > 0)
                counted.points.push_back(
                    {x, static_cast<double>(r.workspace_bytes), 0, 0, false, number_of(page, r)});
            else if (none && r.model_bytes > 0)
                counted.points.push_back({x, by_form, 0, 0, true, number_of(page, r)});
        }
        sort_by_x(counted), sort_by_x(model);
        if (!chart.y.logarithmic) end_at_first_cross(counted, model);
        const auto cross =
            std::ranges::find_if(counted.points, [](const ChartPoint& p) { return p.does_not_fit; });
        if (cross != counted.points.end() && chart.notes.empty())
            chart.notes.push_back({cross->x, cross->y, kernel + " does not fit", true});
        chart.series.push_back(model_line(model));
        chart.series.push_back(counted);
    }
}

// Before there is a report: the closed forms of what would be run.
void forms_only(Chart& chart, const Theme& t, AppState& state) {
    const Engine& engine = scale_engine(state);
    const BenchRequest request = bench_request(state.scale);
    Workload w = request.workload;
    for (const KernelInfo* const one : chosen_kernels(request, engine)) {
        const KernelInfo& kernel = *one;
        ChartSeries series;
        series.label = kernel.name;
        series.colour = kernel_look(t, state, kernel.name).colour;
        for (std::int64_t N : request.lengths) {
            w.N_q = request.queries.value_or(N), w.N_kv = N;
            if (refuse(w) || engine.why_not(kernel, w)) continue;
            series.points.push_back(
                {static_cast<double>(N), static_cast<double>(engine.model_bytes(kernel, w))});
        }
        const std::string label = series.label;
        series = model_line(series);
        series.label = label;
        chart.series.push_back(series);
    }
}

// A limit far above all that is shown would press the rest together on a linear axis.
void add_limit(Chart& chart, std::int64_t bytes, const std::string& what, const std::string& where) {
    if (bytes <= 0) return;
    double most = 0;
    for (const ChartSeries& series : chart.series)
        for (const ChartPoint& p : series.points) most = std::max(most, p.y);
    const auto limit = static_cast<double>(bytes);
    if (!chart.y.logarithmic && most < limit / 4) return;
    const std::string size = format_size(bytes) + what;
    chart.limits.push_back({limit, size + " " + where, size});
}

// "bf16", "f32; A, B: recorded": what a picture of the plot alone says of where its numbers come from
std::string type_and_origin(const AppState& state) {
    const ShownReport* const chosen = chosen_report(state);
    std::vector<std::string> letters;
    for (const ShownReport* shown : drawn_reports(state))
        if (shown->tag.size() == 1) letters.push_back(shown->tag);
    const std::string type = name_of(chosen ? chosen->shape().dtype : state.scale.type());
    return letters.empty() ? type : type + "; " + joined(letters) + ": recorded";
}

}  // namespace

Chart time_chart(const Theme& t, const AppState& state) {
    static const char* const titles[] = {"Time per ", "GFLOP/s, ", "Share of the FMA peak, "};
    static const char* const of_decoding[] = {"Time, ", "GB/s of K and V, ", "Share of reading K and V, "};
    const ShownReport* chosen = chosen_report(state);
    if (has_ring(chosen) && state.scale.measure == 0) return ring_time_chart(t, state, *chosen);
    const bool backward = chosen ? chosen->shape().direction == Direction::backward : state.scale.backward;
    const auto measure = static_cast<std::size_t>(state.scale.measure);
    Chart chart;
    chart.title = shows_decoding(state)
                      ? std::string(of_decoding[measure]) + "decoding"
                      : std::string(titles[measure]) + (backward ? "backward pass" : "forward pass");
    chart.subtitle = "median, bars: 20 % to 80 % of the runs";
    chart.x = {length_title(state), Unit::length};
    chart.y.unit = measure == 0 ? Unit::seconds : measure == 1 ? Unit::number : Unit::percent;
    chart.y.logarithmic = !state.scale.linear[measure];
    bool any = false;
    for (const ShownReport* shown : drawn_reports(state))
        for (const std::string& kernel : shown->kernels()) {
            ChartSeries series = series_of(t, state, *shown, kernel, with_gain(*shown, kernel));
            for (const Record& r : shown->report.points) {
                if (r.kernel != kernel || !measured(r)) continue;
                ChartPoint p = measured_point(shown->report, r, state.scale.measure);
                p.record = number_of(*state.bench, r);
                if (p.y > 0) series.points.push_back(p);
            }
            sort_by_x(series);
            any |= !series.points.empty();
            chart.series.push_back(series);
        }
    chart.corner = type_and_origin(state);
    if (any) return chart;
    lengths_of_form(chart.x, state);
    chart.y.lo = measure == 0 ? 1e-4 : 1, chart.y.hi = measure == 0 ? 10 : 100;
    const bool running = state.bench && state.bench->running;
    chart.empty = running ? "The first point is on its way."
                          : std::string("Nothing measured yet. ") + run_label(state.scale) +
                                " measures the kernels on this machine; Open shows "
                                "results that were recorded.";
    return chart;
}

Chart memory_chart(const Theme& t, AppState& state) {
    scale_page(state);
    if (const ShownReport* chosen = chosen_report(state); has_ring(chosen))
        return ring_memory_chart(t, state, *chosen);
    Chart chart;
    chart.title = "Extra memory";
    chart.subtitle = "beyond inputs and outputs; thin: by formula";
    chart.x = {length_title(state), Unit::length};
    chart.y = {"", Unit::bytes, !state.scale.linear_memory};
    const ScalePage& page = scale_page(state);
    for (const ShownReport* shown : drawn_reports(state)) memory_of(chart, t, state, *shown);
    chart.corner = type_and_origin(state);
    const ShownReport* chosen = chosen_report(state);
    if (!chosen) {
        forms_only(chart, t, state);
        if (const auto own = scale_engine(state).memory_free())
            add_limit(chart, *own, " free", "on the GPU");
        else if (page.devices)
            add_limit(chart, page.devices->machine.memory_available, " free", "on this machine");
        return chart;
    }
    add_limit(chart, chosen->report.memory_limit, " allowed",
              chosen->recorded ? "where recorded" : "on this machine");
    return chart;
}

}  // namespace tilewalk::ui

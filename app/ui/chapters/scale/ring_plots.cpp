// The two plots of a ring: what time, memory and messages are over the number of ranks, at the chosen length.
#include "app/ui/chapters/scale/scale.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

struct ShardLook {
    const char* shards;
    float shade;
    Marker marker;
};
constexpr ShardLook shard_looks[] = {{"zigzag", 1.0f, Marker::disc},
                                     {"striped", .75f, Marker::diamond},
                                     {"contiguous", .5f, Marker::triangle}};

KernelLook look_of(const Theme& t, const ShardLook& look) {
    return {cividis(t.light ? .62f - .62f * look.shade : look.shade), look.marker};
}

// One line for each way to cut the sequence, over its ranks
template <class Value>
void add_series(Chart& chart, const Theme& t, const AppState& state, const ShownReport& shown, Dash dash,
                const Value& value) {
    const std::int64_t N = chosen_length(state);
    for (const ShardLook& look : shard_looks) {
        ChartSeries series;
        series.label = look.shards;
        const KernelLook drawn = look_of(t, look);
        series.colour = drawn.colour, series.marker = drawn.marker, series.dash = dash;
        for (const Record& r : shown.report.points)
            if (r.ring && r.ring->shards == look.shards && r.workload.N_q == N &&
                r.state == Record::State::measured)
                series.points.push_back(value(r));
        std::ranges::stable_sort(series.points, {}, &ChartPoint::x);
        if (!series.points.empty()) chart.series.push_back(std::move(series));
    }
}

// The same for all ways to cut: one line is enough.
void keep_first_series(Chart& chart, std::size_t from, const char* label) {
    if (chart.series.size() <= from) return;
    chart.series.resize(from + 1);
    chart.series.back().label = label;
}

ChartPoint point(const AppState& state, const Record& r, double y) {
    return {static_cast<double>(r.ring->ranks), y, 0, 0, false, number_of(*state.bench, r)};
}

}  // namespace

std::optional<KernelLook> ring_look(const Theme& t, const std::string& kernel) {
    for (const ShardLook& look : shard_looks)
        if (kernel.starts_with("ring-") && kernel.ends_with(look.shards)) return look_of(t, look);
    return std::nullopt;
}

bool has_ring(const ShownReport* shown) {
    return shown &&
           std::ranges::any_of(shown->report.points, [](const Record& r) { return r.ring.has_value(); });
}

Chart ring_time_chart(const Theme& t, const AppState& state, const ShownReport& shown) {
    Chart chart;
    chart.title = "Time over ranks";
    chart.subtitle =
        "N = " + format_count(chosen_length(state)) + "; dashed: waiting, the longest of a rank, from 1 % on";
    chart.corner = name_of(shown.shape().dtype);
    chart.x = {"R, ranks", Unit::length};
    chart.y = {"", Unit::seconds, !state.scale.linear[0]};
    add_series(chart, t, state, shown, {0, 0}, [&](const Record& r) {
        ChartPoint p = point(state, r, r.median);
        p.lo = r.p20, p.hi = r.p80;
        return p;
    });
    const std::size_t times = chart.series.size();
    add_series(chart, t, state, shown, {4, 4},
               [&](const Record& r) { return point(state, r, r.ring->longest_wait()); });
    // Microseconds on the same logarithmic axis would press the times together.
    double shortest = INFINITY;
    for (std::size_t n = 0; n < times; ++n)
        for (const ChartPoint& p : chart.series[n].points) shortest = std::min(shortest, p.y);
    for (std::size_t n = times; n < chart.series.size(); ++n)
        std::erase_if(chart.series[n].points, [&](const ChartPoint& p) { return p.y < shortest / 100; });
    for (std::size_t n = times; n < chart.series.size(); ++n)
        chart.series[n].label = "waiting, " + chart.series[n].label;
    return chart;
}

Chart ring_memory_chart(const Theme& t, const AppState& state, const ShownReport& shown) {
    Chart chart;
    chart.title = "Memory of a rank";
    chart.subtitle = "all that it holds; dashed: bytes between ranks";
    chart.corner = name_of(shown.shape().dtype);
    chart.x = {"R, ranks", Unit::length};
    chart.y = {"", Unit::bytes, !state.scale.linear_memory};
    add_series(chart, t, state, shown, {0, 0},
               [&](const Record& r) { return point(state, r, static_cast<double>(r.ring->most_memory())); });
    keep_first_series(chart, 0, "per rank");
    const std::size_t before = chart.series.size();
    add_series(chart, t, state, shown, {4, 4},
               [&](const Record& r) { return point(state, r, static_cast<double>(r.ring->bytes_between)); });
    keep_first_series(chart, before, "between ranks");
    // A ring of one sends nothing, and 0 has no place on a logarithmic axis.
    for (ChartSeries& series : chart.series)
        std::erase_if(series.points, [](const ChartPoint& p) { return p.y <= 0; });
    return chart;
}

}  // namespace tilewalk::ui

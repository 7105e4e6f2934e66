#include "core/engine/report.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tilewalk {

namespace {

std::string source_of(const BenchReport& report) {
    return report.source.empty() ? "this run" : report.source;
}

}  // namespace

std::int64_t RingFigures::most_memory() const {
    std::int64_t most = 0;
    for (const OfRank& rank : of_rank) most = std::max(most, rank.memory_bytes);
    return most;
}
double RingFigures::longest_wait() const {
    double most = 0;
    for (const OfRank& rank : of_rank) most = std::max(most, rank.waiting);
    return most;
}
double RingFigures::imbalance() const {
    std::int64_t most = 0, sum = 0;
    for (const OfRank& rank : of_rank) most = std::max(most, rank.scores), sum += rank.scores;
    return sum > 0
               ? static_cast<double>(most) * static_cast<double>(of_rank.size()) / static_cast<double>(sum)
               : 1;
}

const char* name_of(Point::State state) {
    switch (state) {
    case Point::State::measured: return "measured";
    case Point::State::failed: return "failed";
    case Point::State::skipped: return "not supported";
    case Point::State::no_memory: return "does not fit";
    case Point::State::cancelled: return "cancelled";
    }
    return "";
}

void summarise(Point& point) {
    std::vector<double> sorted = point.seconds;
    std::sort(sorted.begin(), sorted.end());
    const auto rank = [&](double part) {
        if (sorted.empty()) return 0.0;
        const auto n = static_cast<double>(sorted.size());
        return sorted[static_cast<std::size_t>(std::max(1.0, std::ceil(part * n))) - 1];
    };
    point.median = rank(.5), point.p20 = rank(.2), point.p80 = rank(.8);
}

const Point* find_point(const BenchReport& report, const std::string& kernel, const Workload& workload) {
    for (const Point& point : report.points)
        if (point.kernel == kernel && point.workload == workload) return &point;
    return nullptr;
}

double of_reading(const BenchReport& report, const Point& point) {
    const Point* const once = find_point(report, reading_kv, point.workload);
    return once && once->median > 0 && point.median > 0 ? once->median / point.median : 0;
}

bool has_reading(const BenchReport& report) {
    return std::ranges::find(report.points, reading_kv, &Point::kernel) != report.points.end();
}

bool Machine::same_as(const Machine& other) const {
    const auto lasting = [](const Machine& m) {
        return std::tie(m.cpu, m.cores, m.threads, m.instructions, m.product_library, m.memory_total,
                        m.system, m.gpu, m.driver);
    };
    return lasting(*this) == lasting(other);
}

Result<BenchReport> join_reports(const std::vector<BenchReport>& reports) {
    if (reports.empty()) return Failure{"There are no results to join."};
    BenchReport joined = reports.front();
    for (std::size_t n = 1; n < reports.size(); ++n) {
        const BenchReport& next = reports[n];
        if (!next.machine.same_as(joined.machine) || next.build != joined.build)
            return Failure{"The results of " + source_of(next) +
                           " are of another machine or build than those of " + source_of(reports.front()) +
                           "; only runs of one can be joined."};
        for (const Point& point : next.points) {
            if (find_point(joined, point.kernel, point.workload))
                return Failure{"The results of " + source_of(next) + " hold " + point.kernel + " at N = " +
                               std::to_string(point.workload.N_kv) + ", which was there already."};
            joined.points.push_back(point);
        }
        joined.peak = std::max(joined.peak, next.peak);
        joined.complete = joined.complete && next.complete;
        joined.command += (joined.command.empty() ? "" : " && ") + next.command;
    }
    return joined;
}

Workload shape_of(Workload w) {
    if (w.N_q == w.N_kv) w.N_q = 0;
    w.N_kv = 0;
    return w;
}

std::vector<BenchReport> by_shape(const BenchReport& report) {
    std::vector<BenchReport> out;
    const auto shape = [](const Point& point) { return std::pair{point.device, shape_of(point.workload)}; };
    for (const Point& point : report.points) {
        const auto same = std::find_if(out.begin(), out.end(), [&](const BenchReport& one) {
            return shape(one.points.front()) == shape(point);
        });
        if (same != out.end()) {
            same->points.push_back(point);
            continue;
        }
        out.push_back(report);
        out.back().points = {point};
    }
    return out;
}

}  // namespace tilewalk

#include "core/scale/report.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

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

}  // namespace tilewalk

#include "core/bench/findings.h"

#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tilewalk {

namespace {

// Standard attention of the CPU, and of the GPU as one would write it with a library, or by hand.
const char* const opponents[] = {"standard", "f0-cublas", "f0-materialise", "b0-materialise"};
// What others measured in the same run, as PyTorch, is nothing that a sentence about these kernels is made
// of.
bool is_foreign(const Point& point) { return point.kernel.starts_with("torch-"); }

// The kernel that the sentence is about: of those that hold no N × N matrix, the fastest.
const Point* fastest_flash(const BenchReport& report, const Workload& workload) {
    const Point* best = nullptr;
    for (const Point& point : report.points)
        if (point.workload == workload && !is_standard(point.kernel) && !is_foreign(point) &&
            point.state == Point::State::measured && (!best || point.median < best->median))
            best = &point;
    return best;
}

// The measured point that has the longest sequence, of one kernel or of all but standard.
const Point* longest(const BenchReport& report, bool standard) {
    const Point* best = nullptr;
    const std::string opponent = standard_in(report);
    for (const Point& point : report.points) {
        if (point.state != Point::State::measured || is_foreign(point)) continue;
        if (standard ? point.kernel != opponent : is_standard(point.kernel)) continue;
        if (standard && !fastest_flash(report, point.workload)) continue;
        if (!best || point.workload.N_q > best->workload.N_q) best = &point;
    }
    return best;
}

// 1.9, 24, 2 400: two digits that mean something.
std::string factor(double ratio) {
    if (ratio < 10) return format_fixed(ratio, 1);
    const double unit = std::pow(10, std::floor(std::log10(ratio)) - 1);
    return format_count(std::llround(std::round(ratio / unit) * unit));
}

std::string in_time(double standard, double flash) {
    const double ratio = standard / flash;
    if (std::abs(ratio - 1) < .05) return "as fast as standard attention";
    return ratio > 1 ? factor(ratio) + "× as fast as standard attention"
                     : factor(1 / ratio) + "× slower than standard attention";
}

std::string in_memory(const Point& standard, const Point& flash) {
    if (flash.workspace_bytes <= 0) return "needs no extra memory";
    const double ratio = double(standard.workspace_bytes) / double(flash.workspace_bytes);
    const std::string compared = ratio < 1 ? factor(1 / ratio) + "× more" : factor(ratio) + "× less";
    return "needs " + compared + " extra memory (" + format_size(flash.workspace_bytes) + " against " +
           format_size(standard.workspace_bytes) + ")";
}

std::string where(const Workload& w) {
    std::string text = "At N = " + format_count(w.N_q);
    if (w.direction == Direction::backward) text += ", backward";
    if (w.causal) text += ", causal";
    return text;
}

// " Standard stops fitting at N = 65 536." or nothing.
std::string first_that_does_not_fit(const BenchReport& report) {
    const Point* first = nullptr;
    const std::string opponent = standard_in(report);
    for (const Point& point : report.points)
        if (point.kernel == opponent && point.state == Point::State::no_memory &&
            (!first || point.workload.N_q < first->workload.N_q))
            first = &point;
    return first ? " Standard stops fitting at N = " + format_count(first->workload.N_q) + "." : "";
}

}  // namespace

std::string standard_in(const BenchReport& report) {
    for (const char* name : opponents)
        for (const Point& point : report.points)
            if (point.kernel == name) return name;
    return opponents[0];
}

bool is_standard(const std::string& kernel) {
    return std::find(std::begin(opponents), std::end(opponents), kernel) != std::end(opponents);
}

std::string finding(const BenchReport& report) {
    if (const Point* standard = longest(report, true)) {
        const Point& flash = *fastest_flash(report, standard->workload);
        return where(standard->workload) + ", " + flash.kernel + " is " +
               in_time(standard->median, flash.median) + " and " + in_memory(*standard, flash) + "." +
               first_that_does_not_fit(report);
    }
    if (const Point* flash = longest(report, false))
        return where(flash->workload) + ", " + flash->kernel + " runs with " +
               format_size(flash->workspace_bytes) + " of extra memory." + first_that_does_not_fit(report);
    return "Nothing has been measured yet.";
}

}  // namespace tilewalk

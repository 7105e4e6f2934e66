#include "core/bench/findings.h"

#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

namespace tilewalk {

namespace {

// More than what is shown as 100 %
bool is_beyond(double share) { return share >= 1.005; }

// Standard attention of the CPU, and of the GPU as one would write it with a library, or by hand.
const char* const opponents[] = {"standard", "f0-cublas", "f0-materialise", "b0-materialise"};
// What others measured in the same run, as PyTorch, is nothing that a sentence about these kernels is made
// of, nor is the yardstick.
bool is_foreign(const Point& point) { return is_torch(point) || point.kernel == reading_kv; }

// The kernel that the sentence is about: of those that hold no N × N matrix, the fastest.
const Point* fastest_flash(const BenchReport& report, const Workload& workload) {
    const Point* best = nullptr;
    for (const Point& point : report.points)
        if (point.workload == workload && !is_standard(point.kernel) && !is_foreign(point) &&
            point.state == Point::State::measured && (!best || point.median < best->median))
            best = &point;
    return best;
}

// The measured point that has the longest sequence, of those that are wanted.
template <class Wanted> const Point* longest(const BenchReport& report, const Wanted& wanted) {
    const Point* best = nullptr;
    for (const Point& point : report.points)
        if (point.state == Point::State::measured && !is_foreign(point) && wanted(point) &&
            (!best || point.workload.N_kv > best->workload.N_kv))
            best = &point;
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
    std::string text = "At N = " + format_count(w.N_kv);
    if (w.N_q != w.N_kv) text += " with " + queries_text(w);
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
            (!first || point.workload.N_kv < first->workload.N_kv))
            first = &point;
    return first ? " Standard stops fitting at N = " + format_count(first->workload.N_kv) + "." : "";
}

// " It reaches 91 % of reading speed." or nothing.
std::string beside_reading(const BenchReport& report, const Point& flash) {
    const double share = of_reading(report, flash);
    if (is_beyond(share)) return " It took no longer than reading K and V alone.";
    return share > 0 ? " It reaches " + share_text(share) + " of reading speed." : "";
}

// ---- Rings

const Point* ring_at(const BenchReport& report, const Workload& workload, int ranks,
                     const std::string& shards) {
    for (const Point& point : report.points)
        if (point.ring && point.state == Point::State::measured && point.workload == workload &&
            point.ring->ranks == ranks && point.ring->shards == shards)
            return &point;
    return nullptr;
}

// The longest sequence, then the most ranks, then zig-zag shards, whose ring is the best one.
const Point* largest_ring(const BenchReport& report) {
    const Point* best = nullptr;
    const auto rank_of = [](const Point& p) {
        return std::tuple(p.workload.N_q, p.ring->ranks, p.ring->shards == "zigzag");
    };
    for (const Point& point : report.points)
        if (point.ring && point.state == Point::State::measured && (!best || rank_of(point) > rank_of(*best)))
            best = &point;
    return best;
}

std::string ring_finding(const BenchReport& report, const Point& ring) {
    const RingFigures& figures = *ring.ring;
    const std::string ranks = std::to_string(figures.ranks);
    const Point* const one = ring_at(report, ring.workload, 1, figures.shards);
    std::string text =
        where(ring.workload) + ", a ring of " + ranks + (figures.ranks == 1 ? " rank" : " ranks");
    if (one && one != &ring) {
        const double faster = one->median / ring.median,
                     held = double(figures.most_memory()) / double(one->ring->most_memory());
        text += " takes " + format_fixed(1 / faster, 2) + "× the time of one rank and " +
                format_fixed(held, 2) + "× its memory on each";
    } else {
        text += " holds " + format_size(figures.most_memory()) + " on each";
    }
    const Point* const other = ring_at(report, ring.workload, figures.ranks, "contiguous");
    if (other && other != &ring)
        text += "; contiguous shards take " + format_fixed(other->median / ring.median, 2) + "× as long as " +
                figures.shards + " ones";
    return text + ".";
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

std::string share_text(double share) {
    return is_beyond(share) ? "> 100 %" : format_fixed(100 * share, 0) + " %";
}

double share_of_limit(const BenchReport& report, const Point& point) {
    return has_reading(report) ? of_reading(report, point) : point.of_peak();
}

bool is_torch(const Point& point) { return point.kernel.starts_with("torch-"); }

double times_of_torch(const BenchReport& report, const Point& point) {
    if (is_foreign(point) || point.median <= 0) return 0;
    double least = 0;
    for (const Point& other : report.points)
        if (is_torch(other) && other.workload == point.workload && other.median > 0)
            least = least > 0 ? std::min(least, other.median) : other.median;
    return least / point.median;
}

bool has_torch(const BenchReport& report) {
    return std::ranges::any_of(report.points,
                               [](const Point& point) { return is_torch(point) && point.median > 0; });
}

std::string beyond_the_limit(const BenchReport& report) {
    const bool none = std::ranges::none_of(
        report.points, [&](const Point& point) { return is_beyond(share_of_limit(report, point)); });
    if (none) return "";
    return has_reading(report) ? "> 100 %: faster than reading K and V alone; where both are short, waking "
                                 "threads may take longest."
                               : "> 100 %: faster than multiply-adds alone just before and after: the clock, "
                                 "or other work on "
                                 "this machine, may have changed meanwhile; the share is not known.";
}

std::string finding(const BenchReport& report) {
    if (const Point* ring = largest_ring(report)) return ring_finding(report, *ring);
    const std::string opponent = standard_in(report);
    const auto is_opponent = [&](const Point& point) { return point.kernel == opponent; };
    const auto is_compared = [&](const Point& point) {
        return is_opponent(point) && fastest_flash(report, point.workload);
    };
    if (const Point* standard = longest(report, is_compared)) {
        const Point& flash = *fastest_flash(report, standard->workload);
        return where(standard->workload) + ", " + flash.kernel + " is " +
               in_time(standard->median, flash.median) + " and " + in_memory(*standard, flash) + "." +
               beside_reading(report, flash) + first_that_does_not_fit(report);
    }
    if (const Point* flash = longest(report, [](const Point& point) { return !is_standard(point.kernel); }))
        return where(flash->workload) + ", " + flash->kernel + " runs with " +
               format_size(flash->workspace_bytes) + " of extra memory." + beside_reading(report, *flash) +
               first_that_does_not_fit(report);
    if (const Point* standard = longest(report, is_opponent))
        return where(standard->workload) + ", " + standard->kernel + " runs with " +
               format_size(standard->workspace_bytes) + " of extra memory; no other kernel was measured.";
    return "Nothing has been measured yet.";
}

}  // namespace tilewalk

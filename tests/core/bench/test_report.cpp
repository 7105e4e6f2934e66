#include "core/engine/report.h"

#include "tests/contains.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

BenchReport one(std::int64_t d, double peak) {
    BenchReport report;
    report.machine.cpu = "A CPU", report.machine.memory_available = d;
    report.build.commit = "abc";
    report.command = "tilewalk bench --head-dim " + std::to_string(d);
    report.source = std::to_string(d) + ".json";
    report.peak = peak, report.complete = true;
    Point& point = report.points.emplace_back();
    point.kernel = "flash", point.workload.d = d;
    return report;
}

}  // namespace

TEST_CASE("runs of one build on one machine become one report") {
    const auto joined = join_reports({one(64, 1e9), one(128, 2e9)});
    REQUIRE(joined);
    CHECK(joined->points.size() == 2);
    CHECK(joined->peak == 2e9);
    CHECK(joined->complete);
    CHECK(joined->command == "tilewalk bench --head-dim 64 && tilewalk bench --head-dim 128");
}

TEST_CASE("runs of another machine or build, or of the same thing, are not joined") {
    BenchReport other = one(128, 1e9);
    other.machine.threads = 7;
    CHECK(join_reports({one(64, 1e9), other}).error.starts_with("The results of 128.json are of another"));
    other = one(128, 1e9), other.build.commit = "def";
    CHECK_FALSE(join_reports({one(64, 1e9), other}));
    CHECK(contains(join_reports({one(64, 1e9), one(64, 1e9)}).error, "flash at N = 1024"));
    CHECK_FALSE(join_reports({}));
}

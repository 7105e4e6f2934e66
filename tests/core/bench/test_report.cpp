#include "core/engine/report.h"

#include "tests/contains.h"

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

TEST_CASE("few queries are a shape of their own, whatever the number of keys; as many as keys are one") {
    BenchReport report = one(64, 1e9);
    report.points.resize(5, report.points[0]);
    const std::pair<std::int64_t, std::int64_t> sizes[] = {
        {512, 512}, {1, 512}, {1, 1024}, {1024, 1024}, {4, 512}};
    for (std::size_t n = 0; n < 5; ++n)
        report.points[n].workload.N_q = sizes[n].first, report.points[n].workload.N_kv = sizes[n].second;
    const std::vector<BenchReport> shapes = by_shape(report);
    REQUIRE(shapes.size() == 3);
    for (const BenchReport& shape : shapes)
        for (const Point& point : shape.points)
            CHECK(shape_of(point.workload) == shape_of(shape.points.front().workload));
    CHECK(shapes[0].points.size() == 2);
    CHECK(shapes[1].points.size() == 2);
}

TEST_CASE("the share of reading is the yardstick's time over a kernel's at the same workload") {
    BenchReport report = one(64, 1e9);
    CHECK_FALSE(has_reading(report));
    report.points.resize(3, report.points[0]);
    report.points[0].kernel = reading_kv;
    report.points[0].seconds = {2}, report.points[1].seconds = {2.5}, report.points[2].seconds = {2.5};
    report.points[2].workload.N_kv = 99;
    for (Point& point : report.points) summarise(point);
    CHECK(has_reading(report));
    CHECK(of_reading(report, report.points[0]) == 1);
    CHECK(of_reading(report, report.points[1]) == doctest::Approx(.8));
    CHECK(of_reading(report, report.points[2]) == 0);
    CHECK(report.points[1].kv_rate() == doctest::Approx(2.0 * 4 * 8 * 1024 * 64 / 2.5));
    CHECK(report.points[0].flop_rate() == 0);
}

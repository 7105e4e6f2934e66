#include "core/bench/findings.h"

#include "tests/contains.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

Point measured(const char* kernel, std::int64_t N, double seconds, std::int64_t workspace) {
    Point p;
    p.kernel = kernel, p.workload.N_q = p.workload.N_kv = N;
    p.state = Point::State::measured, p.verified = true;
    p.seconds = {seconds}, p.workspace_bytes = workspace;
    summarise(p);
    return p;
}

Point too_large(std::int64_t N) {
    Point p;
    p.kernel = "standard", p.workload.N_q = p.workload.N_kv = N;
    p.state = Point::State::no_memory;
    return p;
}

}  // namespace

TEST_CASE("the finding compares the fastest flash kernel at the longest length that both ran") {
    BenchReport report;
    CHECK(finding(report) == "Nothing has been measured yet.");
    report.points = {measured("standard", 4096, 1, 1 << 20),
                     measured("flash", 4096, .5, 1 << 10),
                     measured("standard", 8192, 1.9, 2400 * 1024),
                     measured("flash-eigen", 8192, 1.5, 1024),
                     measured("flash", 8192, 1.0, 1024),
                     measured("flash", 65536, 60, 1024),
                     too_large(131072),
                     too_large(65536)};
    CHECK(finding(report) ==
          "At N = 8192, flash is 1.9× as fast as standard attention and needs 2400× less extra memory "
          "(1 KiB against 2.34 MiB). Standard stops fitting at N = 65\u2009536.");
}

TEST_CASE("the finding tells a loss as well as a win") {
    BenchReport report;
    report.points = {measured("standard", 2048, 1, 1 << 20), measured("flash", 2048, 1.3, 1 << 10)};
    for (Point& p : report.points) p.workload.direction = Direction::backward, p.workload.causal = true;
    CHECK(finding(report).starts_with(
        "At N = 2048, backward, causal, flash is 1.3× slower than standard attention and needs 1000×"));
    report.points[1] = measured("flash", 2048, 1.01, 1 << 10);
    report.points[0] = measured("standard", 2048, 1, 1 << 20);
    CHECK(finding(report).starts_with("At N = 2048, flash is as fast as standard attention"));
}

TEST_CASE("a share of more than all is told as none, with the reason below") {
    CHECK(share_text(.874) == "87 %");
    CHECK(share_text(1.004) == "100 %");
    CHECK(share_text(1.01) == "> 100 %");
    BenchReport report;
    report.points = {measured("flash", 64, 1e-6, 0)};
    report.points[0].workload.d = 8, report.points[0].workload.heads = 1;
    const double rate = report.points[0].flop_rate();
    report.points[0].peak = rate * 1.02;
    CHECK(share_text(share_of_limit(report, report.points[0])) == "98 %");
    CHECK(beyond_the_limit(report) == "");
    report.points[0].peak = rate / 1.02;
    CHECK(share_text(share_of_limit(report, report.points[0])) == "> 100 %");
    CHECK(beyond_the_limit(report).starts_with("> 100 %: faster than multiply-adds alone"));
    // With few queries reading is the limit, whatever the peak.
    report.points.push_back(measured(reading_kv, 64, 2e-6, 0));
    report.points[1].workload = report.points[0].workload;
    CHECK(beyond_the_limit(report).starts_with("> 100 %: faster than reading K and V alone"));
    CHECK(finding(report).ends_with("It took no longer than reading K and V alone."));
    report.points[1].median = 1e-6;
    CHECK(beyond_the_limit(report) == "");
    CHECK(finding(report).ends_with("It reaches 100 % of reading speed."));
}

TEST_CASE("PyTorch's time is told as a multiple of each kernel's, by its faster way at the same workload") {
    BenchReport report;
    report.points = {measured("standard", 512, 2, 0),      measured("flash", 512, 1, 0),
                     measured("torch-flash", 512, 1.5, 0), measured("torch-math", 512, 3, 0),
                     measured("flash", 1024, 4, 0),        measured(reading_kv, 512, .1, 0)};
    CHECK(has_torch(report));
    CHECK(times_of_torch(report, report.points[0]) == .75);
    CHECK(times_of_torch(report, report.points[1]) == 1.5);
    for (const std::size_t none : {2, 3, 4, 5}) CHECK(times_of_torch(report, report.points[none]) == 0);
    report.points.erase(report.points.begin() + 2, report.points.begin() + 4);
    CHECK_FALSE(has_torch(report));
}

TEST_CASE("standard alone is a finding, too") {
    BenchReport report;
    report.points = {measured("standard", 64, 1, 1 << 10), measured("standard", 40, 1, 1 << 9)};
    CHECK(finding(report) ==
          "At N = 64, standard runs with 1 KiB of extra memory; no other kernel was measured.");
}

TEST_CASE("where flash needs more memory, at tiny lengths, the finding says so") {
    BenchReport report;
    report.points = {measured("standard", 64, 1, 1 << 10), measured("flash", 64, 1, 3 << 10)};
    CHECK(contains(finding(report), "needs 3.0× more extra memory (3 KiB against 1 KiB)"));
}

TEST_CASE("without standard attention to compare with, the finding says what there is") {
    BenchReport report;
    report.points = {too_large(65536), measured("flash", 65536, 5, 3 << 20)};
    CHECK(finding(report) == "At N = 65\u2009536, flash runs with 3 MiB of extra memory. Standard stops "
                             "fitting at N = 65\u2009536.");
}

TEST_CASE(
    "on a GPU the library's standard attention is what the finding compares with, and PyTorch is left out") {
    BenchReport report;
    report.points = {measured("f0-materialise", 4096, 40, 1 << 20), measured("f0-cublas", 4096, 4, 1 << 20),
                     measured("f5-flash2", 4096, 1, 0), measured("torch-flash", 4096, .9, 0)};
    CHECK(finding(report) ==
          "At N = 4096, f5-flash2 is 4.0× as fast as standard attention and needs no extra memory.");
    std::erase_if(report.points, [](const Point& p) { return p.kernel == "f0-cublas"; });
    CHECK(finding(report).starts_with("At N = 4096, f5-flash2 is 40× as fast"));
    for (const char* name : {"standard", "f0-cublas", "f0-materialise", "b0-materialise"})
        CHECK(is_standard(name));
    CHECK_FALSE(is_standard("flash"));
}

TEST_CASE("of decoding the finding says the queries, and how near to reading the fastest kernel comes") {
    BenchReport report;
    report.points = {measured("standard", 65536, 4, 1 << 20), measured(reading_kv, 65536, .9, 0),
                     measured("split-kv", 65536, 1, 1 << 10)};
    for (Point& p : report.points) p.workload.N_q = 1;
    CHECK(finding(report) == "At N = 65\u2009536 with 1 query, split-kv is 4.0× as fast as standard "
                             "attention and needs 1000× less "
                             "extra memory (1 KiB against 1 MiB). It reaches 90 % of reading speed.");
    std::erase_if(report.points, [](const Point& p) { return p.kernel == "standard"; });
    CHECK(contains(finding(report), "split-kv runs with 1 KiB of extra memory. It reaches 90 %"));
}

TEST_CASE("the finding of rings: against one rank, and against contiguous shards") {
    const auto ring = [](int ranks, const char* shards, double seconds, std::int64_t memory) {
        Point p = measured("ring", 8192, seconds, 0);
        p.workload.causal = true;
        p.ring = RingFigures{.ranks = ranks, .shards = shards};
        for (int rank = 0; rank < ranks; ++rank) p.ring->of_rank.push_back({.memory_bytes = memory});
        return p;
    };
    BenchReport report;
    report.points = {ring(1, "zigzag", 2, 8 << 20), ring(4, "contiguous", 1, 2 << 20),
                     ring(4, "zigzag", .6, 2 << 20), ring(2, "zigzag", 1.1, 4 << 20)};
    CHECK(finding(report) ==
          "At N = 8192, causal, a ring of 4 ranks takes 0.30× the time of one rank and 0.25× "
          "its memory on each; contiguous shards take 1.67× as long as zigzag ones.");
    report.points = {ring(2, "striped", 1.1, 4 << 20)};
    CHECK(finding(report) == "At N = 8192, causal, a ring of 2 ranks holds 4 MiB on each.");
}

// The run of a benchmark: order, verification before time, memory that does not fit, cancelling.
#include "core/base/numbers.h"
#include "core/bench/bench.h"
#include "tests/core/bench/fake_engine.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

BenchRequest small_request(std::vector<std::int64_t> lengths = {96, 24, 48}) {
    BenchRequest request;
    request.workload.heads = request.workload.kv_heads = 2;
    request.workload.d = 8;
    request.lengths = std::move(lengths);
    request.least_runs = 3, request.most_runs = 4;
    return request;
}

const auto silent = [](const BenchReport&, const BenchProgress&) {};

const Point& point(const BenchReport& report, const std::string& kernel, std::int64_t N) {
    for (const Point& each : report.points)
        if (each.kernel == kernel && each.workload.N_q == N) return each;
    FAIL("there is no such point");
    return report.points.front();
}

using Calls = std::vector<std::string>;

int count(const Calls& calls, const std::string& call) {
    return static_cast<int>(std::count(calls.begin(), calls.end(), call));
}

// From this one on.
Calls since(const Calls& calls, const std::string& call) {
    return {std::find(calls.begin(), calls.end(), call), calls.end()};
}
// Behind the last preparation, of that kernel, and its two runs before verification: the rounds.
Calls rounds(const Calls& calls, const std::string& prepared) {
    return {std::find(calls.rbegin(), calls.rend(), "prepare " + prepared).base() + 2, calls.end()};
}

}  // namespace

TEST_CASE("a run measures every kernel at every length, the shortest first") {
    FakeEngine engine;
    const BenchReport report = run_bench(small_request(), engine, silent, {});
    CHECK(report.complete);
    CHECK(report.peak == 1e12);
    REQUIRE(report.points.size() == 6);
    for (std::size_t n = 1; n < 6; ++n)
        CHECK(report.points[n].workload.N_q >= report.points[n - 1].workload.N_q);
    for (const Point& p : report.points) {
        CHECK(p.state == Point::State::measured);
        CHECK(p.verified);
        CHECK(p.reason.empty());
        CHECK(p.seconds.size() == 4);
        CHECK(p.median == 1e-3);
        CHECK(p.flop_rate() == doctest::Approx(4.0 * 8 * 2 * double(p.workload.N_q * p.workload.N_q) / 1e-3));
        CHECK(p.first > 0);
        CHECK(p.max_error <= p.error_limit);
        CHECK(p.error_limit > 0);
        const bool standard = p.kernel == "standard";
        CHECK(p.workspace_bytes == (standard ? 8 * 2 * p.workload.N_q * p.workload.N_q : 0));
        CHECK(p.workspace_bytes == p.model_bytes);
    }
    CHECK(engine.alive == 0);
}

TEST_CASE("the peak is measured before and after, and the higher one is that of the length") {
    FakeEngine engine;
    std::vector<double> found{3e9, 1e9, 1e9, 2e9};
    std::size_t measured = 0;
    engine.peak = [&] { return found.at(measured++); };
    const BenchReport report = run_bench(small_request({24, 48}), engine, silent, {});
    CHECK(measured == 4);
    for (const Point& p : report.points) CHECK(p.peak == (p.workload.N_q == 24 ? 3e9 : 2e9));
    CHECK(report.peak == 3e9);
    // A device that fails then loses nothing that it has measured.
    measured = 0;
    engine.peak = [&] { return measured++ == 0 ? 1e9 : throw EngineFailed("Lost."); };
    const BenchReport lost = run_bench(small_request({24}), engine, silent, {});
    for (const Point& p : lost.points) CHECK(p.state == Point::State::measured);
}

TEST_CASE("the kernels of one length take turns, and each begins a round") {
    FakeEngine engine;
    run_bench(small_request({24}), engine, silent, {});
    const Calls expected = {"run flash 24", "run standard 24", "run standard 24", "run flash 24",
                            "run flash 24", "run standard 24", "run standard 24", "run flash 24"};
    CHECK(rounds(engine.calls, "standard 24") == expected);
}

TEST_CASE("a wrong kernel is not timed, and the others are") {
    FakeEngine engine;
    void (*wrong)(const Workload&, Tensors&) = nullptr;
    SUBCASE("wrong at small sizes") {
        wrong = [](const Workload&, Tensors& out) { out.O.front() += 1e-2f; };
    }
    SUBCASE("wrong at full size only") {
        wrong = [](const Workload& w, Tensors& out) {
            for (float& x : out.O) x *= w.N_q == 1000 ? 1.001f : 1;
        };
    }
    SUBCASE("not a number") {
        wrong = [](const Workload& w, Tensors& out) {
            for (float& x : out.L) x = w.N_q == 1000 ? std::nanf("") : x;
        };
    }
    engine.spoil = [&](const std::string& kernel, const Workload& w, Tensors& out) {
        if (kernel == "flash") wrong(w, out);
    };
    const BenchReport report = run_bench(small_request({1000}), engine, silent, {});
    const Point& flash = point(report, "flash", 1000);
    CHECK(flash.state == Point::State::failed);
    CHECK_FALSE(flash.verified);
    CHECK(flash.seconds.empty());
    CHECK(flash.median == 0);
    CHECK_FALSE(flash.reason.empty());
    CHECK(point(report, "standard", 1000).state == Point::State::measured);
}

TEST_CASE("what would not fit is not run, and both numbers are said") {
    FakeEngine engine;
    BenchRequest request = small_request({24, 48});
    Workload at48 = request.workload;
    at48.N_q = at48.N_kv = 48;
    const std::int64_t needed = tensor_bytes(at48) + 8 * 2 * 48 * 48;
    request.memory_limit = needed - 1;
    BenchReport report = run_bench(request, engine, silent, {});
    const Point& refused = point(report, "standard", 48);
    CHECK(refused.state == Point::State::no_memory);
    CHECK(refused.model_bytes == 8 * 2 * 48 * 48);
    CHECK(refused.reason == "Needs " + format_size(needed) + ", " + format_size(8 * 2 * 48 * 48) +
                                " of it for N × N matrices; " + format_size(needed - 1) + " may be used.");
    CHECK(count(engine.calls, "prepare standard 48") == 0);
    CHECK(point(report, "flash", 48).state == Point::State::measured);
    CHECK(report.complete);

    // Alone it fits, beside the other one not: they run one after the other.
    request.memory_limit = needed;
    FakeEngine other;
    report = run_bench(request, other, silent, {});
    CHECK(point(report, "standard", 48).state == Point::State::measured);
    CHECK(count(since(other.calls, "prepare standard 48"), "run flash 48") == 0);
}

TEST_CASE("a kernel that does not take a workload says why") {
    FakeEngine engine({{"standard", 8, 1 << 20}, {"flash", 0, 30}});
    const BenchReport report = run_bench(small_request({24, 48}), engine, silent, {});
    CHECK(point(report, "flash", 24).state == Point::State::measured);
    CHECK(point(report, "flash", 48).state == Point::State::skipped);
    CHECK(point(report, "flash", 48).reason == "This kernel takes no N above 30.");
}

TEST_CASE("a cancelled run keeps what was measured and gives everything back") {
    FakeEngine engine;
    std::stop_source stop;
    int runs = 0;
    engine.before_run = [&](const std::string&) {
        if (!engine.calls.back().ends_with(" 48")) return;
        if (++runs == 5) stop.request_stop();
    };
    const BenchReport report = run_bench(small_request({24, 48, 96}), engine, silent, stop.get_token());
    CHECK_FALSE(report.complete);
    CHECK(point(report, "standard", 24).state == Point::State::measured);
    CHECK(point(report, "flash", 24).state == Point::State::measured);
    for (const Point& p : report.points)
        if (p.workload.N_q == 48) CHECK(p.state == Point::State::cancelled);
    for (const Point& p : report.points) CHECK(p.workload.N_q < 96);
    CHECK(engine.alive == 0);
}

TEST_CASE("who needs fewer runs has them spread over all rounds") {
    FakeEngine engine;
    BenchRequest request = small_request({24});
    request.least_runs = 3, request.most_runs = 12, request.seconds_per_kernel = 2;
    engine.seconds = [](const std::string& kernel, const Workload&) { return kernel == "flash" ? .1 : .5; };
    run_bench(request, engine, silent, {});
    const Calls runs = rounds(engine.calls, "standard 24");
    CHECK(count(runs, "run flash 24") == 12);
    CHECK(count(runs, "run standard 24") == 4);
    // Between two runs of standard there are three of flash.
    int between = 0, gaps = 0;
    for (const std::string& call : runs) {
        ++between;
        if (call != "run standard 24") continue;
        if (gaps++ > 0) CHECK(std::abs(between - 4) <= 1);
        between = 0;
    }
}

TEST_CASE("memory that runs out on the way costs that length, not what was measured before") {
    FakeEngine engine;
    engine.before_run = [&](const std::string&) {
        if (engine.calls.back().ends_with(" 48")) throw std::bad_alloc();
    };
    const BenchReport report = run_bench(small_request({24, 48, 96}), engine, silent, {});
    CHECK(report.complete);
    REQUIRE(report.points.size() == 6);
    for (const Point& p : report.points)
        CHECK(p.state == (p.workload.N_q == 48 ? Point::State::no_memory : Point::State::measured));
    CHECK(engine.alive == 0);
}

TEST_CASE("as many runs as fit into the time, within the limits") {
    FakeEngine engine;
    BenchRequest request = small_request({24, 48});
    request.kernels = {"flash"};
    request.least_runs = 3, request.most_runs = 50, request.seconds_per_kernel = 2;
    engine.seconds = [](const std::string&, const Workload& w) { return w.N_q == 24 ? .1 : 100; };
    const BenchReport report = run_bench(request, engine, silent, {});
    REQUIRE(report.points.size() == 2);
    CHECK(report.points[0].seconds.size() == 20);
    CHECK(report.points[1].seconds.size() == 3);
    CHECK(report.points[0].kernel == "flash");
}

TEST_CASE("progress counts the points and never goes back") {
    FakeEngine engine;
    double part = 0;
    int done = 0;
    bool foretold = false;
    const auto show = [&](const BenchReport& report, const BenchProgress& progress) {
        CHECK(progress.points == 6);
        CHECK(progress.part >= part);
        CHECK(progress.part <= 1);
        CHECK(progress.done >= done);
        CHECK(progress.done == static_cast<int>(report.points.size()));
        part = progress.part, done = progress.done;
        foretold |= progress.seconds_left.has_value();
        CHECK_FALSE(progress.doing.empty());
    };
    run_bench(small_request(), engine, show, {});
    CHECK(done == 6);
    CHECK(part == 1);
    CHECK(foretold);
}

TEST_CASE("median and percentiles are those of the nearest rank") {
    Point p;
    p.seconds = {5, 1, 4, 2, 3};
    summarise(p);
    CHECK(p.median == 3);
    CHECK(p.p20 == 1);
    CHECK(p.p80 == 4);
    CHECK(p.seconds.front() == 5);
    p.seconds.clear();
    summarise(p);
    CHECK(p.median == 0);
}

TEST_CASE("requests that cannot be run are refused") {
    const FakeEngine engine;
    BenchRequest request = small_request();
    CHECK_FALSE(refuse(request, engine));
    request.kernels = {"flash", "flush"};
    CHECK(*refuse(request, engine) ==
          "There is no kernel \"flush\" for fake, expected some of standard, flash.");
    request = small_request({});
    CHECK(refuse(request, engine));
    request = small_request({0});
    CHECK(refuse(request, engine));
    request = small_request();
    request.workload.kv_heads = 5;
    CHECK(refuse(request, engine));
}

TEST_CASE("a run in the background can be watched, cancelled and thrown away") {
    auto engine = std::make_unique<FakeEngine>();
    std::atomic<bool> begun = false;
    engine->before_run = [&](const std::string&) {
        begun = true;
        begun.notify_all();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    {
        BenchRequest request = small_request({24, 48, 96, 128, 200});
        request.least_runs = request.most_runs = 500;
        BackgroundBench bench(request, std::move(engine));
        begun.wait(false);
        CHECK(bench.running());
        CHECK_FALSE(bench.cancelled());
        bench.cancel();
        CHECK(bench.cancelled());
        while (bench.running()) std::this_thread::yield();
        CHECK_FALSE(bench.report().complete);
        CHECK(bench.failure().empty());
        CHECK(bench.progress().points == 10);
    }
    // What is still running ends when it is thrown away.
    BackgroundBench(small_request({24, 48, 96}), std::make_unique<FakeEngine>());
}

TEST_CASE(
    "a run elsewhere, as in a browser's worker, tells through the same door, and is broken off at once") {
    std::shared_ptr<BenchTold> told;
    int broken_off = 0;
    run_benches_elsewhere([&](const BenchRequest& request, std::shared_ptr<BenchTold> with) {
        CHECK(request.lengths == small_request().lengths);
        told = std::move(with);
        return [&] { ++broken_off; };
    });
    auto engine = std::make_unique<FakeEngine>();
    engine->name = "cpu";
    {
        BackgroundBench bench(small_request(), std::move(engine));
        REQUIRE(told);
        CHECK(bench.running());
        BenchReport report;
        report.points.resize(1);
        told->tell(report, {.doing = "flash", .done = 1, .points = 4});
        CHECK(bench.report().points.size() == 1);
        CHECK(bench.progress().doing == "flash");
        CHECK(bench.version() == 1);
        bench.cancel();
        bench.cancel();
        CHECK(broken_off == 1);
        CHECK(bench.cancelled());
        CHECK_FALSE(bench.running());
        CHECK(bench.progress().doing == "Cancelled");
        CHECK(bench.report().points.size() == 1);
    }
    engine = std::make_unique<FakeEngine>();
    engine->name = "cpu";
    {
        BackgroundBench bench(small_request(), std::move(engine));
        told->end("The worker has stopped.");
        CHECK_FALSE(bench.running());
        CHECK_FALSE(bench.cancelled());
        CHECK(bench.failure() == "The worker has stopped.");
    }
    CHECK(broken_off == 1);
    // Other devices have no worker.
    BackgroundBench bench(small_request(), std::make_unique<FakeEngine>());
    while (bench.running()) std::this_thread::yield();
    CHECK(bench.report().complete);
    run_benches_elsewhere(nullptr);
}

TEST_CASE("an error in a background run is a sentence and no crash") {
    auto engine = std::make_unique<FakeEngine>();
    engine->before_run = [](const std::string&) { throw std::runtime_error("the device is gone"); };
    BackgroundBench bench(small_request(), std::move(engine));
    while (bench.running()) std::this_thread::yield();
    CHECK(bench.failure() == "Something unforeseen happened: the device is gone.");
}

TEST_CASE("a device that fails ends the run: what was measured stays, the rest has the sentence") {
    FakeEngine engine;
    engine.before_run = [&](const std::string&) {
        if (engine.calls.back().ends_with(" 48")) throw EngineFailed("The device is gone.");
    };
    BenchReport last;
    const auto keep = [&](const BenchReport& report, const BenchProgress&) { last = report; };
    CHECK_THROWS_AS(run_bench(small_request({24, 48, 96}), engine, keep, {}), EngineFailed);
    CHECK_FALSE(last.complete);
    REQUIRE(last.points.size() == 6);
    for (const Point& p : last.points) {
        CHECK(p.state == (p.workload.N_q == 24 ? Point::State::measured : Point::State::cancelled));
        if (p.workload.N_q > 24) CHECK(p.reason == "The device is gone.");
    }
    CHECK(engine.alive == 0);
}

TEST_CASE("a kernel that cannot be run costs itself alone, and memory of a device has its own sentence") {
    FakeEngine engine;
    int runs = 0;
    engine.before_run = [&](const std::string& kernel) {
        if (kernel == "flash" && ++runs == 1) throw KernelFailed("A library is missing.");
        if (engine.calls.back() == "run standard 48") throw NoMemory("8 B are free.");
    };
    const BenchReport report = run_bench(small_request({24, 48}), engine, silent, {});
    CHECK(point(report, "flash", 24).state == Point::State::skipped);
    CHECK(point(report, "flash", 24).reason == "A library is missing.");
    CHECK(point(report, "flash", 48).state == Point::State::measured);
    CHECK(point(report, "standard", 24).state == Point::State::measured);
    CHECK(point(report, "standard", 48).state == Point::State::no_memory);
    CHECK(point(report, "standard", 48).reason == "8 B are free.");
    CHECK(report.complete);
}

TEST_CASE("on a GPU there are rounds to warm up, thirty repetitions at the least, and few of what is long") {
    FakeEngine engine;
    BenchRequest request = small_request({24, 48});
    repeat_as_on_gpu(request);
    request.kernels = {"flash"};
    engine.seconds = [](const std::string&, const Workload& w) { return w.N_q == 24 ? .1 : 1; };
    const BenchReport report = run_bench(request, engine, silent, {});
    CHECK(point(report, "flash", 24).seconds.size() == 30);
    CHECK(point(report, "flash", 48).seconds.size() == 3);
    // Two before verification, five to warm up
    CHECK(count(engine.calls, "run flash 24") == 2 + 5 + 30);
}

TEST_CASE("without names the kernels of one direction alone are run") {
    FakeEngine engine;
    engine.directions = {{"flash", Direction::backward}};
    BenchReport report = run_bench(small_request({24}), engine, silent, {});
    REQUIRE(report.points.size() == 1);
    CHECK(report.points[0].kernel == "standard");
    BenchRequest request = small_request({24});
    request.kernels = {"flash"};
    CHECK(run_bench(request, engine, silent, {}).points.size() == 1);
}

TEST_CASE(
    "with a number of queries all points have it, and kernels for few queries are there for few alone") {
    FakeEngine engine({{"standard", 8, 1 << 20}, {"few", 0, 1 << 20}});
    engine.most_queries = {{"few", 4}};
    BenchRequest request = small_request({24, 48});
    request.queries = 4;
    const BenchReport report = run_bench(request, engine, silent, {});
    REQUIRE(report.points.size() == 4);
    for (const Point& p : report.points) {
        CHECK(p.state == Point::State::measured);
        CHECK(p.workload.N_q == 4);
        CHECK((p.workload.N_kv == 24 || p.workload.N_kv == 48));
    }
    request.queries = 5;
    CHECK(run_bench(request, engine, silent, {}).points.size() == 2);
    request.queries.reset();
    CHECK(run_bench(request, engine, silent, {}).points.size() == 2);
    request.kernels = {"few"};
    CHECK(chosen_kernels(request, engine).size() == 1);  // named, it is tried
}

TEST_CASE("a device with memory of its own has its own limit, and each kernel its own inputs") {
    FakeEngine engine;
    BenchRequest request = small_request({24});
    Workload w = request.workload;
    w.N_q = w.N_kv = 24;
    engine.own_memory = 1000000;
    CHECK(run_bench(request, engine, silent, {}).memory_limit == 900000);
    engine.calls.clear();
    request.memory_limit = 2 * tensor_bytes(w) + 8 * 2 * 24 * 24 - 1;  // one byte too few for both at once
    run_bench(request, engine, silent, {});
    CHECK(count(since(engine.calls, "prepare standard 24"), "run flash 24") == 0);
}

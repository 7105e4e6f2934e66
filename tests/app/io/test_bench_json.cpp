// Results as files: JSON there and back, refusals, CSV and Markdown.
#include "app/io/bench_json.h"
#include "core/base/numbers.h"
#include "core/bench/findings.h"

#include "tests/contains.h"
#include "tests/good.h"

#include <nlohmann/json.hpp>

#include <sstream>
#include <tuple>

using namespace tilewalk::test;

namespace {

Point timed(const char* kernel, std::int64_t N, std::vector<double> seconds) {
    Point p;
    p.device = "cpu", p.kernel = kernel;
    p.workload.heads = 4, p.workload.kv_heads = 2, p.workload.N_q = p.workload.N_kv = N;
    p.workload.causal = true, p.workload.window = 300;
    p.state = Point::State::measured, p.verified = true;
    p.max_error = 1.25e-6, p.error_limit = 2.5e-6;
    p.seconds = std::move(seconds), p.first = .5;
    p.workspace_bytes = 12345678901, p.model_bytes = 12345678900, p.peak_rss_bytes = 99;
    summarise(p);
    return p;
}

BenchReport sample() {
    BenchReport report;
    report.machine = {
        "A \"CPU\", with comma", 4, 2, "AVX2", "Eigen 3.4.0", 1 << 30, 1 << 29, "Debian", "", ""};
    report.build = {"0.1.0", "abc1234+", "gcc 12.2.0", "-O2"};
    report.date = "2026-11-21 22:10", report.command = "tilewalk bench --heads 4";
    report.peak = 2.325e11, report.complete = true;
    report.points = {timed("standard", 512, {.1, .3, .2}), timed("flash", 512, {1.0 / 3})};
    Point refused;
    refused.device = "cpu", refused.kernel = "standard", refused.workload = report.points[0].workload;
    refused.workload.N_q = refused.workload.N_kv = 1 << 17;
    refused.state = Point::State::no_memory, refused.model_bytes = std::int64_t{1} << 40;
    refused.reason = "Needs 1 TiB | 2 GiB may be used.";
    report.points.push_back(refused);
    return report;
}

std::string refusal(const nlohmann::json& json) {
    const auto report = bench_from_json(json.dump(), "r.json");
    CHECK_FALSE(report);
    return report.error;
}

}  // namespace

TEST_CASE("a report reads back as it was written, to the last bit") {
    const BenchReport report = sample();
    const std::string text = bench_to_json(report);
    CHECK(is_bench_json(text));
    const BenchReport again = good(bench_from_json(text, "folder/r.json"));
    CHECK(again.source == "folder/r.json");
    CHECK(again.machine.cpu == report.machine.cpu);
    CHECK(again.machine.memory_total == report.machine.memory_total);
    CHECK(again.build.commit == "abc1234+");
    CHECK(again.peak == report.peak);
    CHECK(again.complete);
    REQUIRE(again.points.size() == report.points.size());
    for (std::size_t n = 0; n < report.points.size(); ++n) {
        const Point &a = report.points[n], &b = again.points[n];
        CHECK(a.workload == b.workload);
        CHECK(a.state == b.state);
        CHECK(a.reason == b.reason);
        CHECK(a.seconds == b.seconds);
        CHECK(a.median == b.median);
        CHECK(a.p20 == b.p20);
        CHECK(a.max_error == b.max_error);
        CHECK(a.workspace_bytes == b.workspace_bytes);
        CHECK(a.model_bytes == b.model_bytes);
    }
    CHECK(bench_to_json(again) == text);
}

TEST_CASE("queries that are not as many as keys are written and read back; files without them have as many") {
    BenchReport report = sample();
    for (Point& p : report.points) p.workload.N_q = 3;
    const std::string text = bench_to_json(report);
    CHECK(good(bench_from_json(text, "r.json")).points[0].workload == report.points[0].workload);
    auto old = nlohmann::json::parse(text);
    for (auto& point : old["points"]) point.erase("seqlen_q");
    const BenchReport read = good(bench_from_json(old.dump(), "r.json"));
    CHECK(read.points[0].workload.N_q == 512);
    CHECK(read.points[0].workload.N_kv == 512);
}

TEST_CASE("beside the yardstick, tables have the rate of reading in the place of arithmetic") {
    BenchReport report = sample();
    report.points = {timed(reading_kv, 512, {.1}), timed("split-kv", 512, {.125})};
    for (Point& p : report.points) p.workload.N_q = 1;
    const double GB = 2.0 * 4 * 2 * 512 * double(report.points[0].workload.d) * 1e-9;
    check_contains(bench_to_markdown({&report, 1}),
                   {"GB/s", "of reading", "| 80 % |", "| 100 % |", format_number(GB / .125, 3)});
    check_contains(bench_to_csv({&report, 1}), {"of_reading", ",0.8,"});
    CHECK_FALSE(contains(bench_to_markdown({&report, 1}), "GFLOP/s |"));
}

TEST_CASE(
    "where PyTorch was timed as well, its version is kept, and tables have its time beside each kernel's") {
    BenchReport report = sample();
    report.points.push_back(timed("torch-flash", 512, {.5}));
    report.torch = "2.15.0";
    CHECK(good(bench_from_json(bench_to_json(report), "r.json")).torch == "2.15.0");
    const std::string text = bench_to_markdown(std::vector{report});
    check_contains(text, {"- Timed beside them: PyTorch 2.15.0", "| PyTorch takes | workspace |", "| 2.50× |",
                          "| 1.50× |"});
    // Every row has as many cells as the heading.
    std::istringstream lines(text);
    std::ptrdiff_t bars = 0;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("|")) continue;
        const std::ptrdiff_t here = std::ranges::count(line, '|') - std::ranges::count(line, '\\');
        if (bars == 0) bars = here;
        CHECK_MESSAGE(here == bars, line);
    }
    CHECK(bars == 11);
    // A remark of somebody else's means nothing.
    for (const char* remark : {"3", "[]", "{}", "{\"torch\": 2}"}) {
        nlohmann::json json = nlohmann::json::parse(bench_to_json(sample()));
        json["x-torch"] = nlohmann::json::parse(remark);
        CHECK(good(bench_from_json(json.dump(), "r.json")).torch == "");
    }
}

TEST_CASE("the JSON has the keys that other programs read") {
    const auto json = nlohmann::json::parse(bench_to_json(sample()));
    CHECK(json["schema"] == "tilewalk-bench-1");
    const auto& point = json["points"][0];
    for (const char* key :
         {"device", "kernel",   "direction", "dtype",           "batch",       "heads",    "kv_heads",
          "seqlen", "head_dim", "causal",    "verified",        "max_error",   "median_s", "p20_s",
          "p80_s",  "runs",     "tflops",    "workspace_bytes", "model_bytes", "skipped"})
        CHECK_MESSAGE(point.contains(key), key);
    CHECK(point["median_s"] == .2);
    CHECK(point["runs"] == 3);
    CHECK(point["skipped"].is_null());
    // 4 d (visible scores) / time
    CHECK(point["tflops"].get<double>() == doctest::Approx(flops(sample().points[0].workload) / .2 / 1e12));
    CHECK(json["points"][2]["median_s"].is_null());
    CHECK(json["points"][2]["skipped"] == "Needs 1 TiB | 2 GiB may be used.");
}

TEST_CASE("results that cannot be are refused with what and where") {
    const auto good = nlohmann::json::parse(bench_to_json(sample()));
    const std::tuple<const char*, nlohmann::json, const char*> damages[] = {
        {"/points/1/seconds/0", -1, "r.json: points[1].seconds is -1, expected numbers above 0."},
        {"/points/1/seconds/0", "x",
         "r.json: points[1].seconds is the string \"x\", expected numbers above 0."},
        {"/points/0/median_s", .1, "r.json: points[0].median_s is 0.1, but the median of seconds is 0.2."},
        {"/points/0/verified", false, "what is not verified is not timed"},
        {"/points/2/state", "measured", "0 times"},
        {"/points/0/first_s", -.5, "r.json: points[0].first_s is -0.5, expected seconds, 0 or more."},
        {"/points/0/state", "fast", "points[0].state"},
        {"/points/0/head_dim", 0, "r.json: points[0]: head-dim is 0, expected 1 to 1024."},
        {"/points/0/seqlen", 1.5, "r.json: points[0].seqlen is 1.5, expected a whole number."},
        {"/points/0/speed", 1, "points[0].speed"},
        {"/machine/cpu", 5, "machine.cpu is 5"},
        {"/schema", "tilewalk-trace-1", "expected \"tilewalk-bench-1\""}};
    for (const auto& [damaged, value, words] : damages) {
        const char* const place = damaged;
        auto bad = good;
        bad[nlohmann::json::json_pointer(place)] = value;
        CHECK_MESSAGE(contains(refusal(bad), words), place);
    }
    auto bad = good;
    bad.erase("points");
    CHECK(contains(refusal(bad), "\"points\" is missing"));
    CHECK_FALSE(bench_from_json("[1]", "r.json"));
    CHECK_FALSE(bench_from_json("{", "r.json"));
    CHECK_FALSE(is_bench_json("{\"schema\":5}"));
    CHECK_FALSE(is_bench_json("nonsense"));
    // What has the word of the schema somewhere is looked at closely.
    for (const char* other : {"\"tilewalk-bench-1\"", "[\"tilewalk-bench-1\"]",
                              "{\"schema\":\"tilewalk-bench-1\"", "{\"name\":\"tilewalk-bench-1\"}"})
        CHECK_FALSE(is_bench_json(other));
    CHECK(contains(load_bench_file("/nowhere/r.json").error,
                   "/nowhere/r.json: cannot read the file: there is no"));
    auto remarked = good;
    remarked["comment"] = "of a quiet machine";
    CHECK(bench_from_json(remarked.dump(), "r.json"));
}

TEST_CASE("CSV has as many fields in every line as in its heading, and quotes what needs it") {
    const BenchReport report = sample();
    const std::string text = bench_to_csv({&report, 1});
    std::istringstream lines(text);
    std::vector<std::size_t> counts;
    for (std::string line; std::getline(lines, line);) {
        std::size_t fields = 1;
        bool quoted = false;
        for (char c : line) {
            if (c == '"') quoted = !quoted;
            if (c == ',' && !quoted) ++fields;
        }
        CHECK_FALSE(quoted);
        counts.push_back(fields);
    }
    REQUIRE(counts.size() == 1 + report.points.size());
    for (std::size_t count : counts) CHECK(count == counts.front());
    check_contains(text, {"\"A \"\"CPU\"\", with comma\"", ",0.2,0.1,0.3,"});
}

TEST_CASE("the Markdown report has the finding, the machine, how to repeat it, and one row for each point") {
    const BenchReport report = sample();
    const std::string text = bench_to_markdown({&report, 1});
    check_contains(text, {finding(report), "`tilewalk bench --heads 4`", "abc1234+", format_time(.2)});
    std::istringstream lines(text);
    int rows = 0;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("|")) continue;
        ++rows;
        std::size_t bars = 0;
        for (std::size_t n = 0; n < line.size(); ++n)
            bars += line[n] == '|' && (n == 0 || line[n - 1] != '\\');
        CHECK(bars == 10);
    }
    CHECK(rows == 2 + static_cast<int>(report.points.size()));
}

TEST_CASE("a recorded report says where it is from and on which GPU, and leaves out what nobody measured") {
    BenchReport report = sample();
    report.machine.gpu = "NVIDIA A100", report.machine.driver = "550.54";
    report.machine.product_library = "", report.command = "", report.peak = 0;
    report.source = "lab.json", report.complete = false;
    const std::string text = bench_to_markdown({&report, 1});
    check_contains(text,
                   {"## Recorded: lab.json\n", "- GPU: NVIDIA A100, driver 550.54\n",
                    "- Recorded in: lab.json\n", "\nThe run was ended before all points were measured.\n"});
    CHECK_FALSE(contains(text, "Multiply-add peak"));
    CHECK_FALSE(contains(text, "Products of standard attention"));
    CHECK_FALSE(contains(text, "Repeat with"));
    CHECK(contains(bench_to_csv({&report, 1}), "lab.json"));
    // A share of more than all is none, and the table says what to make of it.
    report.peak = 1;
    for (Point& point : report.points) point.peak = 1;
    check_contains(bench_to_markdown({&report, 1}), {"> 100 %", beyond_the_limit(report)});
    CHECK(contains(bench_to_csv({&report, 1}), "of_peak"));
}

TEST_CASE("the figures of a ring read back as they were written; what cannot be is refused") {
    BenchReport report = sample();
    report.points.resize(1);
    report.points[0].ring =
        RingFigures{2, "striped", 1024, 1025, .25, {{.1, .2, 3, 4, 5}, {.5, .25, 7, 8, 9}}};
    const std::string text = bench_to_json(report);
    CHECK(good(bench_from_json(text, "r.json")).points[0].ring == report.points[0].ring);
    CHECK(contains(bench_to_csv({&report, 1}), ",2,striped,1024,0.25,0.25,7,1.28"));

    nlohmann::json json = nlohmann::json::parse(text);
    json["points"][0]["ring"]["shards"] = "crossed";
    CHECK(contains(refusal(json), "ring.shards is the string \"crossed\""));
    json = nlohmann::json::parse(text);
    json["points"][0]["ring"]["ranks"] = 3;
    CHECK(contains(refusal(json), "ring has the figures of 2 ranks, expected 3"));
    json = nlohmann::json::parse(text);
    json["points"][0]["ring"]["ranks"] = -1, json["points"][0]["ring"]["of_rank"] = nlohmann::json::array();
    CHECK(contains(refusal(json), "ring has the figures of 0 ranks, expected 0"));
    // Of a length that did not fit no rank has figures.
    report.points = {sample().points[2]};
    report.points[0].ring = RingFigures{4, "zigzag", 0, 0, 0, {}};
    const std::string refused = bench_to_json(report);
    CHECK(good(bench_from_json(refused, "r.json")).points[0].ring == report.points[0].ring);
    json = nlohmann::json::parse(refused);
    json["points"][0]["ring"]["of_rank"].push_back(
        nlohmann::json::parse(text)["points"][0]["ring"]["of_rank"][0]);
    CHECK(contains(refusal(json), "ring has the figures of 1 rank, expected 0"));
    CHECK(contains(bench_to_csv({&report, 1}), ",4,zigzag,,,,,"));
    json = nlohmann::json::parse(text);
    json["points"][0]["ring"]["of_rank"][0]["colour"] = 1;
    CHECK(contains(refusal(json), "ring.of_rank[0"));
}

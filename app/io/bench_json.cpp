#include "app/io/bench_json.h"

#include "app/io/embedded.h"
#include "app/io/file.h"
#include "app/io/json_reading.h"
#include "app/io/text.h"
#include "core/base/matrix_text.h"
#include "core/base/words.h"

#include <nlohmann/json.hpp>

#include <cassert>
#include <cmath>
#include <cstdio>

namespace tilewalk {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema = "tilewalk-bench-1";

const Fields<Machine> machine_fields = {{"cpu", &Machine::cpu},
                                        {"cores", &Machine::cores},
                                        {"threads", &Machine::threads},
                                        {"instructions", &Machine::instructions},
                                        {"product_library", &Machine::product_library},
                                        {"memory_total", &Machine::memory_total},
                                        {"memory_available", &Machine::memory_available},
                                        {"system", &Machine::system},
                                        {"gpu", &Machine::gpu},
                                        {"driver", &Machine::driver}};
const Fields<Build> build_fields = {{"version", &Build::version},
                                    {"commit", &Build::commit},
                                    {"compiler", &Build::compiler},
                                    {"flags", &Build::flags}};

// ---- Writing

Json only_if(bool known, const auto& value) { return known ? Json(value) : Json(); }

Json ring_json(const RingFigures& ring) {
    Json ranks = Json::array();
    for (const RingFigures::OfRank& one : ring.of_rank)
        ranks.push_back({{"computing_s", one.computing},
                         {"waiting_s", one.waiting},
                         {"memory_bytes", one.memory_bytes},
                         {"model_bytes", one.model_bytes},
                         {"scores", one.scores}});
    return {{"ranks", ring.ranks},
            {"shards", ring.shards},
            {"bytes_between", ring.bytes_between},
            {"model_bytes_between", ring.model_bytes_between},
            {"one_rank_s", ring.one_rank},
            {"of_rank", ranks}};
}

Json point_json(const Point& p) {
    const Workload& w = p.workload;
    const bool measured = p.state == Point::State::measured, verified = p.error_limit > 0;
    return {{"device", p.device},
            {"kernel", p.kernel},
            {"direction", name_of(w.direction)},
            {"dtype", name_of(w.dtype)},
            {"batch", w.batch},
            {"heads", w.heads},
            {"kv_heads", w.kv_heads},
            {"seqlen", w.N_kv},
            {"seqlen_q", w.N_q},
            {"head_dim", w.d},
            {"causal", w.causal},
            {"window", only_if(w.window.has_value(), w.window.value_or(0))},
            {"state", name_of(p.state)},
            {"verified", p.verified},
            {"max_error", only_if(verified, p.max_error)},
            {"error_limit", only_if(verified, p.error_limit)},
            {"median_s", only_if(measured, p.median)},
            {"p20_s", only_if(measured, p.p20)},
            {"p80_s", only_if(measured, p.p80)},
            {"first_s", only_if(measured, p.first)},
            {"runs", p.seconds.size()},
            {"seconds", p.seconds},
            {"tflops", only_if(measured, p.flop_rate() / 1e12)},
            {"peak_flops", p.peak},
            {"workspace_bytes", only_if(measured, p.workspace_bytes)},
            {"model_bytes", p.model_bytes},
            {"peak_rss_bytes", only_if(measured, p.peak_rss_bytes)},
            {"ring", p.ring ? ring_json(*p.ring) : Json()},
            {"skipped", only_if(!measured, p.reason)}};
}

std::string csv_field(const Json& value) {
    if (value.is_null()) return "";
    if (value.is_string()) return value.get<std::string>();
    return value.is_number_float() ? exact_text(value.get<double>()) : value.dump();
}

// ---- Reading

// A remark, so it may be anything: what measures PyTorch writes {"torch": "2.15.0"}.
std::string torch_of(const Reading& reading) {
    const auto* remark = reading.find("x-torch");
    if (!remark || !remark->is_object()) return "";
    const auto version = remark->find("torch");
    constexpr std::size_t most = 40;
    return version != remark->end() && version->is_string()
               ? without_controls(version->get<std::string>().substr(0, most))
               : "";
}

// null stands for a time that was not taken.
void read_seconds(Reading& reading, const char* key, double& seconds) {
    const auto* value = reading.find(key);
    if (value && value->is_null()) return;
    read(reading, key, seconds);
    if (!(seconds >= 0) || !std::isfinite(seconds))
        reading.fail(reading.path + key + " is " + exact_text(seconds) + ", expected seconds, 0 or more");
}

void read_workload(Reading& r, Workload& w) {
    read(r, "direction", w.direction, {"forward", "backward"});
    read(r, "dtype", w.dtype, {"f32", "f16", "bf16"});
    read(r, "batch", w.batch);
    read(r, "heads", w.heads);
    w.kv_heads = w.heads;
    read(r, "kv_heads", w.kv_heads);
    read(r, "seqlen", w.N_kv);
    w.N_q = w.N_kv;
    read(r, "seqlen_q", w.N_q);
    read(r, "head_dim", w.d);
    read(r, "causal", w.causal);
    if (const auto* window = r.find("window"); window && !window->is_null()) {
        w.window = 0;
        read(r, "window", *w.window);
    }
    if (!r.error.empty()) return;
    if (const auto sentence = refuse(w)) r.fail(r.path.substr(0, r.path.size() - 1) + ": " + *sentence);
}

// One time for each run; what is summed up is summed up again from them.
void read_times(Reading& r, Point& p) {
    read_list(r, "seconds", "an array of numbers", [&](const nlohmann::json& value, const std::string&) {
        if (!value.is_number() || !(value.get<double>() > 0))
            return r.expected("seconds", value, "numbers above 0");
        p.seconds.push_back(value.get<double>());
    });
    if (!r.error.empty()) return;
    read_seconds(r, "first_s", p.first);
    if ((p.state == Point::State::measured) != !p.seconds.empty())
        return r.fail(r.path + "seconds has " + counted(p.seconds.size(), "time") + ", but the state is \"" +
                      name_of(p.state) + "\"");
    if (p.state == Point::State::measured && !p.verified)
        return r.fail(r.path + "verified is false, but there are times: what is not verified is not timed");
    summarise(p);
    double median = p.median;
    read_seconds(r, "median_s", median);
    if (r.error.empty() && std::abs(median - p.median) > 1e-9 * p.median)
        r.fail(r.path + "median_s is " + exact_text(median) + ", but the median of seconds is " +
               exact_text(p.median));
}

void read_ring(Reading& r, RingFigures& ring) {
    check_keys(r, {"ranks", "shards", "bytes_between", "model_bytes_between", "one_rank_s", "of_rank"});
    read(r, "ranks", ring.ranks);
    static const Words shards = {"contiguous", "zigzag", "striped"};
    std::size_t how = 0;
    read(r, "shards", how, shards);
    ring.shards = shards[how];
    read(r, "bytes_between", ring.bytes_between);
    read(r, "model_bytes_between", ring.model_bytes_between);
    read_seconds(r, "one_rank_s", ring.one_rank);
    read_objects(r, "of_rank", "an array", [&](Reading& rank) {
        RingFigures::OfRank& one = ring.of_rank.emplace_back();
        check_keys(rank, {"computing_s", "waiting_s", "memory_bytes", "model_bytes", "scores"});
        read_seconds(rank, "computing_s", one.computing);
        read_seconds(rank, "waiting_s", one.waiting);
        read(rank, "memory_bytes", one.memory_bytes);
        read(rank, "model_bytes", one.model_bytes);
        read(rank, "scores", one.scores);
    });
}
// Of what was measured, every rank must be there.
void read_rings(Reading& r, Point& p) {
    if (const auto* value = r.find("ring"); !value || value->is_null()) return;
    RingFigures& ring = p.ring.emplace();
    read_object(r, "ring", [&](Reading& inner) { read_ring(inner, ring); });
    const auto expected =
        p.state == Point::State::measured ? static_cast<std::size_t>(std::max(0, ring.ranks)) : 0;
    if (r.error.empty() && (ring.ranks < 1 || ring.of_rank.size() != expected))
        r.fail(r.path + "ring has the figures of " + counted(ring.of_rank.size(), "rank") + ", expected " +
               str(expected));
}

void read_point(Reading& r, Point& p) {
    static const auto keys = names_of(point_json({}).items(), [](const auto& item) { return item.key(); });
    check_keys(r, keys);
    read(r, "device", p.device);
    read(r, "kernel", p.kernel);
    if (p.kernel.empty()) r.fail(r.path + "kernel is missing");
    read_workload(r, p.workload);
    p.state = Point::State::measured;
    read(r, "state", p.state, {"measured", "failed", "not supported", "does not fit", "cancelled"});
    read(r, "verified", p.verified);
    read_seconds(r, "max_error", p.max_error);
    read_seconds(r, "error_limit", p.error_limit);
    read_seconds(r, "peak_flops", p.peak);
    read_times(r, p);
    read(r, "workspace_bytes", p.workspace_bytes);
    read(r, "model_bytes", p.model_bytes);
    read(r, "peak_rss_bytes", p.peak_rss_bytes);
    read_rings(r, p);
    if (const auto* reason = r.find("skipped"); reason && !reason->is_null()) read(r, "skipped", p.reason);
}

}  // namespace

std::string bench_to_json(const BenchReport& report) {
    Json points = Json::array();
    for (const Point& point : report.points) points.push_back(point_json(point));
    Json json{{"schema", schema},
              {"date", report.date},
              {"command", report.command},
              {"complete", report.complete},
              {"peak_flops", report.peak},
              {"memory_limit", report.memory_limit},
              {"machine", json_of_fields<Json>(machine_fields, report.machine)},
              {"build", json_of_fields<Json>(build_fields, report.build)},
              {"points", points}};
    if (!report.torch.empty()) json["x-torch"] = {{"torch", report.torch}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string bench_to_csv(std::span<const BenchReport> reports) {
    static const std::vector<std::string> columns = {"source",         "date",
                                                     "commit",         "cpu",
                                                     "threads",        "device",
                                                     "kernel",         "direction",
                                                     "dtype",          "batch",
                                                     "heads",          "kv_heads",
                                                     "seqlen",         "seqlen_q",
                                                     "head_dim",       "causal",
                                                     "window",         "state",
                                                     "verified",       "max_error",
                                                     "error_limit",    "median_s",
                                                     "p20_s",          "p80_s",
                                                     "first_s",        "runs",
                                                     "tflops",         "of_peak",
                                                     "of_reading",     "workspace_bytes",
                                                     "model_bytes",    "peak_rss_bytes",
                                                     "ranks",          "shards",
                                                     "bytes_between",  "one_rank_s",
                                                     "longest_wait_s", "most_memory_bytes",
                                                     "imbalance",      "skipped"};
    std::string text = csv_line(columns);
    for (const BenchReport& report : reports)
        for (const Point& p : report.points) {
            Json json = point_json(p);
            json["source"] = report.source.empty() ? "this run" : report.source;
            json["date"] = report.date;
            json["commit"] = report.build.commit;
            json["cpu"] = report.machine.cpu;
            json["threads"] = report.machine.threads;
            if (p.state == Point::State::measured && p.peak > 0) json["of_peak"] = p.of_peak();
            if (const double share = of_reading(report, p); share > 0) json["of_reading"] = share;
            json["peak_rss_bytes"] = only_if(p.peak_rss_bytes > 0, p.peak_rss_bytes);
            json["skipped"] = p.reason;
            if (p.ring) {
                const bool measured = p.state == Point::State::measured;
                json["ranks"] = p.ring->ranks;
                json["shards"] = p.ring->shards;
                json["bytes_between"] = only_if(measured, p.ring->bytes_between);
                json["one_rank_s"] = only_if(measured, p.ring->one_rank);
                json["longest_wait_s"] = only_if(measured, p.ring->longest_wait());
                json["most_memory_bytes"] = only_if(measured, p.ring->most_memory());
                json["imbalance"] = only_if(measured, p.ring->imbalance());
            }
            text +=
                csv_line(names_of(columns, [&](const std::string& name) { return csv_field(json[name]); }));
        }
    return text;
}

bool is_bench_json(std::string_view text) {
    if (text.find(schema) == text.npos) return false;  // most files need no second parsing
    const auto json = parse_json(text);
    return json && json->is_object() && json->value("schema", nlohmann::json()) == schema;
}

Result<BenchReport> bench_from_json(std::string_view text, const std::string& where) {
    const auto json = parse_document(text, schema);
    if (!json) return failure_at(where, json.error);
    Reading reading{*json};
    check_keys(reading, {"schema", "date", "command", "complete", "peak_flops", "memory_limit", "machine",
                         "build", "points"});
    BenchReport report;
    report.source = where;
    read(reading, "date", report.date);
    read(reading, "command", report.command);
    report.torch = torch_of(reading);
    read(reading, "complete", report.complete);
    read_seconds(reading, "peak_flops", report.peak);
    read(reading, "memory_limit", report.memory_limit);
    read_object(reading, "machine", [&](Reading& r) { read_fields(r, machine_fields, report.machine); });
    read_object(reading, "build", [&](Reading& r) { read_fields(r, build_fields, report.build); });
    require(reading, "points", "an array");
    read_objects(reading, "points", "an array",
                 [&](Reading& r) { read_point(r, report.points.emplace_back()); });
    if (!reading.error.empty()) return failure_at(where, reading.error);
    return report;
}

const std::vector<BenchReport>& recorded_results() {
    static const std::vector<BenchReport> all = [] {
        std::vector<BenchReport> reports;
        for (const EmbeddedFile& file : embedded_bench()) {
            auto report = bench_from_json(file.text, std::string("assets/bench/") + file.name + ".json");
            if (!report) std::fprintf(stderr, "%s\n", report.error.c_str());
            assert(report && "a recorded result cannot be read");
            if (report) reports.push_back(std::move(*report));
        }
        return reports;
    }();
    return all;
}

Result<BenchReport> load_bench_file(const std::string& path) {
    const auto text = read_file(path);
    if (!text) return Failure{text.error};
    return bench_from_json(*text, path);
}

}  // namespace tilewalk

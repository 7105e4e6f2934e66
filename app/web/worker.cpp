#include "app/web/worker.h"

#include "app/io/bench_json.h"
#include "app/web/browser.h"
#include "core/bench/bench.h"
#include "core/cpu/kernel.h"

#include <nlohmann/json.hpp>

#include <map>

namespace tilewalk::web {
namespace {

using Json = nlohmann::json;

// A page has two gibibytes at the most; this much of it a kernel may use with its tensors.
constexpr std::int64_t most_memory = std::int64_t(3) << 29;

Json json_of(const Workload& w) {
    Json out = {{"direction", static_cast<int>(w.direction)},
                {"dtype", static_cast<int>(w.dtype)},
                {"batch", w.batch},
                {"heads", w.heads},
                {"kv_heads", w.kv_heads},
                {"d", w.d},
                {"causal", w.causal}};
    if (w.window) out["window"] = *w.window;
    return out;
}

Workload workload_of(const Json& json) {
    Workload w;
    w.direction = static_cast<Direction>(json.at("direction").get<int>());
    w.dtype = static_cast<DType>(json.at("dtype").get<int>());
    json.at("batch").get_to(w.batch), json.at("heads").get_to(w.heads),
        json.at("kv_heads").get_to(w.kv_heads);
    json.at("d").get_to(w.d), json.at("causal").get_to(w.causal);
    if (json.contains("window")) w.window = json.at("window").get<std::int64_t>();
    return w;
}

std::string text_of(const BenchRequest& r) {
    Json out = {
        {"kernels", r.kernels},     {"workload", json_of(r.workload)},
        {"lengths", r.lengths},     {"memory_limit", r.memory_limit > 0 ? r.memory_limit : most_memory},
        {"seed", r.seed},           {"least_runs", r.least_runs},
        {"most_runs", r.most_runs}, {"seconds_per_kernel", r.seconds_per_kernel},
        {"long_run", r.long_run},   {"warm_up", r.warm_up}};
    if (r.queries) out["queries"] = *r.queries;
    return out.dump();
}

BenchRequest request_of(const std::string& text) {
    const Json json = Json::parse(text);
    BenchRequest r;
    json.at("kernels").get_to(r.kernels), json.at("lengths").get_to(r.lengths);
    r.workload = workload_of(json.at("workload"));
    json.at("memory_limit").get_to(r.memory_limit), json.at("seed").get_to(r.seed);
    json.at("least_runs").get_to(r.least_runs), json.at("most_runs").get_to(r.most_runs);
    json.at("seconds_per_kernel").get_to(r.seconds_per_kernel), json.at("long_run").get_to(r.long_run);
    json.at("warm_up").get_to(r.warm_up);
    if (json.contains("queries")) r.queries = json.at("queries").get<std::int64_t>();
    return r;
}

std::string text_of(const BenchReport& report, const BenchProgress& at) {
    Json out = {{"doing", at.doing}, {"done", at.done}, {"points", at.points}, {"part", at.part}};
    if (at.seconds_left) out["seconds_left"] = *at.seconds_left;
    if (!report.points.empty()) out["report"] = bench_to_json(report);
    return out.dump();
}

std::map<int, std::shared_ptr<BenchTold>>& runs() {
    static std::map<int, std::shared_ptr<BenchTold>> under_way;
    return under_way;
}

}  // namespace

void run_in_worker() {
    run_benches_elsewhere([last = 0](const BenchRequest& request, std::shared_ptr<BenchTold> told) mutable {
        const int run = ++last;
        runs()[run] = std::move(told);
        start_worker(run, text_of(request).c_str());
        return [run] {
            stop_worker(run);
            runs().erase(run);
        };
    });
}

void worker_told(int run, const std::string& told) {
    const auto at = runs().find(run);
    if (at == runs().end()) return;
    const Json json = Json::parse(told);
    BenchProgress progress;
    json.at("doing").get_to(progress.doing), json.at("done").get_to(progress.done);
    json.at("points").get_to(progress.points), json.at("part").get_to(progress.part);
    if (json.contains("seconds_left")) progress.seconds_left = json.at("seconds_left").get<double>();
    BenchReport report = at->second->report();
    if (json.contains("report")) {
        Result<BenchReport> read = bench_from_json(json.at("report").get<std::string>(), "the worker");
        if (!read) return worker_ended(run, read.error);
        report = std::move(*read);
        report.source.clear();  // measured here
    }
    at->second->tell(report, progress);
}

void worker_ended(int run, const std::string& why) {
    const auto at = runs().find(run);
    if (at == runs().end()) return;
    at->second->end(why);
    runs().erase(at);
}

void work(const std::string& text) {
    const BenchRequest request = request_of(text);
    const std::unique_ptr<Engine> engine = cpu::make_engine(1);
    run_bench(
        request, *engine,
        [](const BenchReport& report, const BenchProgress& at) { post_to_page(text_of(report, at).c_str()); },
        {});
}

}  // namespace tilewalk::web

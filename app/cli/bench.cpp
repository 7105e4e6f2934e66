// tilewalk bench
#include "core/bench/bench.h"
#include "app/cli/bench_against.h"
#include "app/cli/commands.h"
#include "app/cli/hooks.h"
#include "app/cli/interrupts.h"
#include "app/cli/progress_line.h"
#include "app/cli/values.h"
#include "app/io/bench_json.h"
#include "app/io/file.h"
#include "app/io/text.h"
#include "core/base/numbers.h"
#include "core/cpu/kernel.h"
#include "cuda/host/gpu.h"

#include <chrono>
#include <cstdio>
#include <ostream>
#include <thread>

namespace tilewalk {
namespace {

constexpr std::size_t most_lengths = 64;
constexpr const char* default_lengths = "512,1024,2048,4096,8192";

// ---- Words

bool on_gpu(const BenchWords& words) { return words.device == "cuda"; }

void read_workload(WordReader& read, const BenchWords& words, Workload& w) {
    read.count("--head-dim", words.head_dim, 1, 1024, w.d);
    read.count("--heads", words.heads, 1, 1 << 16, w.heads);
    w.kv_heads = w.heads;
    read.count("--kv-heads", words.kv_heads, 1, 1 << 16, w.kv_heads);
    read.refuse(w.heads % w.kv_heads != 0, "--kv-heads is " + str(w.kv_heads) +
                                               ", expected a divisor of --heads (" + str(w.heads) + ").");
    read.count("--batch", words.batch, 1, 1 << 16, w.batch);
    read.count("--window", words.window, 0, 1 << 24, w.window);
    read.choose("--direction", words.direction, {"forward", "backward"}, w.direction);
    w.dtype = on_gpu(words) ? DType::bf16 : DType::f32;
    read.choose("--dtype", words.dtype, {"f32", "f16", "bf16"}, w.dtype);
    w.causal = words.causal;
}

void read_run(WordReader& read, const BenchWords& words, BenchRequest& request, int& threads) {
    read.take(words.seqlen.value_or(default_lengths), request.lengths, [](const std::string& text) {
        return whole_numbers("--seqlen", text, 1, 1 << 24, most_lengths);
    });
    if (words.kernels && *words.kernels != "all") request.kernels = split(*words.kernels, ",");
    read.take(words.memory_limit, request.memory_limit,
              [](const std::string& text) { return byte_count("--memory-limit", text); });
    read.count("--seqlen-q", words.seqlen_q, 1, 1 << 24, request.queries);
    read.count("--seed", words.seed, 0, std::int64_t{1} << 53, request.seed);
    read.refuse(on_gpu(words) && words.threads,
                "--threads counts those of the CPU; leave it out with --device cuda.");
    read.count("--threads", words.threads, 1, 1024, threads);
}

// ---- Running

std::string line_of(const BenchProgress& progress) {
    std::string line =
        str(progress.done) + " of " + counted(progress.points, "point") + "  " + progress.doing;
    if (progress.seconds_left) line += "  about " + format_time(*progress.seconds_left) + " left";
    return line;
}

struct Ended {
    BenchReport report;
    std::string failure;  // of something unforeseen; the report has what was measured before
};

Ended run_to_the_end(BenchRequest request, std::unique_ptr<Engine> engine) {
    const WatchInterrupts watch;
    ProgressLine line;
    BackgroundBench bench(std::move(request), std::move(engine));
    for (; bench.running(); std::this_thread::sleep_for(std::chrono::milliseconds(50))) {
        if (watch.interrupted()) bench.cancel();
        line.show(line_of(bench.progress()));
    }
    return {bench.report(), bench.failure()};
}

// ---- Results

Outcome show_again(const Arguments& a, int format, std::ostream& out) {
    if (a.repeated != "tilewalk bench --load " + *a.bench.load)
        return bad_input("--load shows what was recorded; leave out the other options of the run.");
    auto reports = load_results(split(*a.bench.load, ","));
    if (!reports) return bad_input(reports.error);
    if (format == 2) {
        auto joined = join_reports(*reports);
        if (!joined) return bad_input(joined.error);
        *reports = {std::move(*joined)};
    }
    return put_results(a, format, *reports, out);
}

bool any(const BenchReport& report, Point::State state) {
    return std::ranges::find(report.points, state, &Point::state) != report.points.end();
}

}  // namespace

Outcome put_results(const Arguments& a, int format, const std::vector<BenchReport>& reports,
                    std::ostream& out) {
    std::string text;
    if (format == 1) text = bench_to_csv(reports);
    if (format == 3) text = bench_to_markdown(reports);
    for (const BenchReport& report : reports) {
        if (format == 0) text += (text.empty() ? "" : "\n") + bench_text(report);
        if (format == 2) text += bench_to_json(report);
    }
    return put(a.output, out, text);
}

Outcome unless_measured(const Arguments& a, const BenchReport& report) {
    if (any(report, Point::State::measured)) return {};
    if (!any(report, Point::State::no_memory))
        return {Exit::failed, "Nothing was measured; the results say why for each kernel."};
    // Less than they need was asked for, or a device had no more.
    return {a.bench.memory_limit ? Exit::bad_input : Exit::failed,
            "Nothing was measured: no kernel fits into " + format_size(report.memory_limit) + "."};
}

Result<BenchRequest> make_request(const BenchWords& words, int& threads) {
    BenchRequest request;
    WordReader read;
    read.refuse(
        words.device == "emulator",
        "The emulator runs the kernels of the GPU for checking; its times would say nothing of a GPU.");
    int device = 0;
    read.choose("--device", words.device, {"cpu", "cuda"}, device);
    if (on_gpu(words)) repeat_as_on_gpu(request);
    read_workload(read, words, request.workload);
    read_run(read, words, request, threads);
    if (!read.error.empty()) return Failure{read.error};
    return request;
}

Outcome run_bench_command(const Arguments& a, std::ostream& out) {
    if (a.bench.distributed) return run_ring_command(a, out);  // which speaks on rank 0 alone
    const auto format = choice("--format", a.format.value_or("text"), {"text", "csv", "json", "md"});
    if (!format) return bad_input(format.error);
    if (a.bench.load) return show_again(a, *format, out);
    if (a.bench.shards) return bad_input("--shards belongs to --distributed.");
    int threads = 0;
    const auto request = make_request(a.bench, threads);
    if (!request) return bad_input(request.error);
    auto engine = on_gpu(a.bench) ? gpu::make_engine(gpu::Where::cuda) : cpu::make_engine(threads);
    if (const auto sentence = refuse(*request, *engine)) return bad_input(*sentence);
    if (const auto sentence = refuse_against(a.bench, *request)) return bad_input(*sentence);
    if (const auto reason = engine->why_not())
        return {Exit::no_device, "There is no GPU to run on: " + *reason + "."};

    // What takes minutes must not be lost to a folder that is not there.
    if (a.output)
        if (const auto placed = StagedFiles().add(*a.output, [](std::ostream&) {}); !placed)
            return written(placed);
    auto [report, failure] = a.bench.against ? Ended{} : run_to_the_end(*request, std::move(engine));
    if (a.bench.against)
        if (Outcome ran = run_beside_torch(*request, threads, a.bench, report); ran.exit != Exit::done)
            return ran;
    report.command = a.repeated;
    Outcome outcome = put_results(a, *format, {report}, out);
    if (outcome.exit != Exit::done) return outcome;
    if (!failure.empty()) return {on_gpu(a.bench) ? Exit::failed : Exit::bad_input, failure};
    if (any(report, Point::State::failed)) return {Exit::failed, "A kernel is wrong; it was not timed."};
    if (!report.complete) return {Exit::interrupted, "Interrupted; these are the points until then."};
    return unless_measured(a, report);
}

}  // namespace tilewalk

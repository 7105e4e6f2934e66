#include "app/cli/bench.h"

#include "app/cli/output.h"
#include "app/cli/values.h"
#include "app/io/bench_json.h"
#include "app/io/text.h"
#include "core/base/numbers.h"
#include "core/cpu/kernel.h"
#include "cuda/host/gpu.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <ostream>
#include <thread>
#include <unistd.h>

namespace tilewalk {
namespace {

constexpr std::size_t most_lengths = 64;
constexpr const char* default_lengths = "512,1024,2048,4096,8192";

// ---- Words

bool on_gpu(const BenchWords& words) { return words.device == "cuda"; }

std::optional<std::string> refuse_device(const BenchWords& words) {
    if (words.device == "emulator")
        return "The emulator runs the kernels of the GPU for checking; its times would say nothing of a GPU.";
    const auto device = choice("--device", words.device.value_or("cpu"), {"cpu", "cuda"});
    return device ? std::nullopt : std::optional(device.error);
}

std::optional<std::string> read_sizes(const BenchWords& words, Workload& w) {
    if (auto sentence = read_number("--head-dim", words.head_dim, 1024, w.d)) return sentence;
    if (auto sentence = read_number("--heads", words.heads, 1 << 16, w.heads)) return sentence;
    w.kv_heads = w.heads;
    if (auto sentence = read_number("--kv-heads", words.kv_heads, 1 << 16, w.kv_heads)) return sentence;
    if (auto sentence = read_number("--batch", words.batch, 1 << 16, w.batch)) return sentence;
    if (!words.window) return std::nullopt;
    const auto window = whole_number("--window", *words.window, 0, 1 << 24);
    if (!window) return window.error;
    w.window = *window;
    return std::nullopt;
}

std::optional<std::string> read_choices(const BenchWords& words, Workload& w) {
    const auto direction =
        choice("--direction", words.direction.value_or("forward"), {"forward", "backward"});
    if (!direction) return direction.error;
    w.direction = static_cast<Direction>(*direction);
    const auto type =
        choice("--dtype", words.dtype.value_or(on_gpu(words) ? "bf16" : "f32"), {"f32", "f16", "bf16"});
    if (!type) return type.error;
    w.dtype = static_cast<DType>(*type);
    if (!on_gpu(words) && w.dtype != DType::f32)
        return "The kernels of the CPU compute in f32; those of --device cuda take " + *words.dtype + ".";
    w.causal = words.causal;
    return std::nullopt;
}

std::optional<std::string> read_run(const BenchWords& words, BenchRequest& request, int& threads) {
    const auto lengths =
        whole_numbers("--seqlen", words.seqlen.value_or(default_lengths), 1, 1 << 24, most_lengths);
    if (!lengths) return lengths.error;
    request.lengths = *lengths;
    if (words.kernels && *words.kernels != "all") request.kernels = split_at_commas(*words.kernels);
    if (words.memory_limit) {
        const auto bytes = byte_count("--memory-limit", *words.memory_limit);
        if (!bytes) return bytes.error;
        request.memory_limit = *bytes;
    }
    if (words.seed) {
        const auto seed = whole_number("--seed", *words.seed, 0, std::int64_t{1} << 53);
        if (!seed) return seed.error;
        request.seed = static_cast<std::uint64_t>(*seed);
    }
    if (on_gpu(words) && words.threads)
        return std::string("--threads counts those of the CPU; leave it out with --device cuda.");
    std::int64_t count = 0;
    if (auto sentence = read_number("--threads", words.threads, 1024, count)) return sentence;
    threads = static_cast<int>(count);
    return std::nullopt;
}

// ---- Running

// Ctrl-C asks the run to end; a second one ends the program.
volatile std::sig_atomic_t interrupts = 0;

struct WatchInterrupts {
    struct sigaction before {};
    WatchInterrupts() {
        interrupts = 0;
        struct sigaction ours {};
        ours.sa_handler = [](int) { interrupts = 1; };
        ours.sa_flags = static_cast<int>(SA_RESETHAND);
        ::sigaction(SIGINT, &ours, &before);
    }
    ~WatchInterrupts() { ::sigaction(SIGINT, &before, nullptr); }
};

// One line on the terminal that is written over again and again; nothing where stderr is a file.
class ProgressLine {
public:
    void show(const BenchProgress& progress) {
        if (!terminal) return;
        std::string line = std::to_string(progress.done) + " of " + counted(progress.points, "point") + "  " +
                           progress.doing;
        if (progress.seconds_left) line += "  about " + format_time(*progress.seconds_left) + " left";
        std::fprintf(stderr, "\r\033[K%s", line.c_str());
    }
    ~ProgressLine() {
        if (terminal) std::fputs("\r\033[K", stderr);
    }

private:
    bool terminal = ::isatty(STDERR_FILENO) != 0;
};

struct Ended {
    BenchReport report;
    std::string failure;  // of something unforeseen; the report has what was measured before
};

Ended run_to_the_end(BenchRequest request, std::unique_ptr<Engine> engine) {
    const WatchInterrupts watch;
    ProgressLine line;
    BackgroundBench bench(std::move(request), std::move(engine));
    for (; bench.running(); std::this_thread::sleep_for(std::chrono::milliseconds(50))) {
        if (interrupts) bench.cancel();
        line.show(bench.progress());
    }
    return {bench.report(), bench.failure()};
}

// ---- Results

Outcome write_results(const Arguments& a, int format, const std::vector<BenchReport>& reports,
                      std::ostream& out) {
    std::string text;
    if (format == 1) text = bench_to_csv(reports);
    if (format == 3) text = bench_to_markdown(reports);
    for (const BenchReport& report : reports) {
        if (format == 0) text += (text.empty() ? "" : "\n") + bench_text(report);
        if (format == 2) text += bench_to_json(report);
    }
    const Writer write = [&text](std::ostream& stream) { stream << text; };
    return written(a.output ? write_file_atomic(*a.output, write) : write_to_stream(out, write));
}

Outcome show_again(const Arguments& a, int format, std::ostream& out) {
    if (command_of(a.bench) != "tilewalk bench")
        return bad_input("--load shows what was recorded; leave out the other options of the run.");
    std::vector<BenchReport> reports;
    for (const std::string& path : split_at_commas(*a.bench.load)) {
        auto report = load_bench_file(path);
        if (!report) return bad_input(report.error);
        reports.push_back(std::move(*report));
    }
    if (format == 2) {
        auto joined = join_reports(reports);
        if (!joined) return bad_input(joined.error);
        reports = {std::move(*joined)};
    }
    return write_results(a, format, reports, out);
}

bool any_wrong(const BenchReport& report) {
    for (const Point& point : report.points)
        if (point.state == Point::State::failed) return true;
    return false;
}

}  // namespace

Result<BenchRequest> make_request(const BenchWords& words, int& threads) {
    BenchRequest request;
    if (auto sentence = refuse_device(words)) return Failure{*sentence};
    if (on_gpu(words)) repeat_as_on_gpu(request);
    if (auto sentence = read_sizes(words, request.workload)) return Failure{*sentence};
    if (auto sentence = read_choices(words, request.workload)) return Failure{*sentence};
    if (auto sentence = read_run(words, request, threads)) return Failure{*sentence};
    return request;
}

std::string command_of(const BenchWords& w) {
    std::string text = "tilewalk bench";
    const auto add = [&](const char* option, const Word& word) {
        if (word) text += std::string(" ") + option + " " + *word;
    };
    add("--device", w.device);
    add("--kernels", w.kernels);
    add("--direction", w.direction);
    add("--seqlen", w.seqlen);
    add("--head-dim", w.head_dim);
    add("--heads", w.heads);
    add("--kv-heads", w.kv_heads);
    add("--batch", w.batch);
    if (w.causal) text += " --causal";
    add("--window", w.window);
    add("--dtype", w.dtype);
    add("--memory-limit", w.memory_limit);
    add("--threads", w.threads);
    add("--seed", w.seed);
    return text;
}

Outcome run_bench_command(const Arguments& a, std::ostream& out) {
    const auto format = choice("--format", a.format.value_or("text"), {"text", "csv", "json", "md"});
    if (!format) return bad_input(format.error);
    if (a.bench.load) return show_again(a, *format, out);
    int threads = 0;
    const auto request = make_request(a.bench, threads);
    if (!request) return bad_input(request.error);
    auto engine = on_gpu(a.bench) ? gpu::make_engine(gpu::Where::cuda) : cpu::make_engine(threads);
    if (const auto sentence = refuse(*request, *engine)) return bad_input(*sentence);
    if (const auto reason = engine->why_not())
        return {Exit::no_device, "There is no GPU to run on: " + *reason + "."};

    auto [report, failure] = run_to_the_end(*request, std::move(engine));
    report.command = command_of(a.bench);
    const Outcome outcome = write_results(a, *format, {report}, out);
    if (outcome.exit != Exit::done) return outcome;
    if (!failure.empty()) return {on_gpu(a.bench) ? Exit::failed : Exit::bad_input, failure};
    if (any_wrong(report)) return {Exit::failed, "A kernel is wrong; it was not timed."};
    if (!report.complete) return {Exit::interrupted, "Interrupted; these are the points until then."};
    return {};
}

}  // namespace tilewalk

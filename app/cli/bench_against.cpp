#include "app/cli/bench_against.h"

#include "app/cli/child.h"
#include "app/cli/interrupts.h"
#include "app/cli/private_folder.h"
#include "app/cli/progress_line.h"
#include "app/cli/values.h"
#include "app/io/bench_json.h"
#include "app/io/embedded.h"
#include "app/io/text.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <sys/wait.h>

namespace tilewalk {
namespace {

constexpr const char* script = "core/cpu/torch/compare_with_torch.py";
constexpr int no_torch = 3;  // its exit code

// "8/2 64 1 65536", one for each length, the shortest first
std::vector<std::string> shapes(const BenchRequest& request) {
    const Workload& w = request.workload;
    std::vector<std::string> out;
    for (const std::int64_t N : std::set<std::int64_t>(request.lengths.begin(), request.lengths.end()))
        out.push_back(str(w.heads) + "/" + str(w.kv_heads) + " " + str(w.d) + " " +
                      str(request.queries.value_or(N)) + " " + str(N) + (w.causal ? " causal" : "") +
                      (w.direction == Direction::backward ? " backward" : ""));
    return out;
}

// What the script hands on to bench as it is: numbers and names, none of which needs quotes
std::string handed_on(const BenchWords& words) {
    std::string out;
    for (const auto& [option, word] : {std::pair{"--kernels", &words.kernels},
                                       {"--memory-limit", &words.memory_limit},
                                       {"--seed", &words.seed}})
        if (*word) out += std::string(out.empty() ? "" : " ") + option + " " + **word;
    return out;
}

std::vector<std::string> call_of(const std::string& python, const PrivateFolder& folder,
                                 const std::string& output, const BenchRequest& request, int threads,
                                 const BenchWords& words) {
    std::error_code unknown;
    const std::string program = std::filesystem::canonical(this_program(), unknown).string();
    std::vector<std::string> out{python,
                                 folder.path() + "/" + script,
                                 "--needs-torch",
                                 "--program",
                                 program,
                                 "--output",
                                 output,
                                 "--dtype",
                                 name_of(request.workload.dtype),
                                 "--more=" + handed_on(words)};
    if (threads > 0) out.insert(out.end(), {"--threads", str(threads)});
    out.emplace_back("--shapes");
    for (std::string& shape : shapes(request)) out.push_back(std::move(shape));
    return out;
}

// The last line that stands in it whole
std::string last_line(const std::string& file) {
    const auto text = read_file(file);
    if (!text) return "";
    std::string last;
    for (const std::string& line : split(text->substr(0, text->rfind('\n') + 1), "\n"))
        if (!line.empty()) last = line;
    return without_controls(last);
}

Result<std::string> find_python() {
    const char* const chosen = std::getenv("PYTHON");
    const std::string name = chosen && *chosen ? chosen : "python3";
    if (name.find('/') != name.npos) return name;
    if (const auto found = find_program(name)) return *found;
    return Failure{"PyTorch is called by Python, and there is no " + name +
                   " here; PYTHON names another one, as in PYTHON=venv/bin/python."};
}

Outcome ended_badly(const std::string& python, const ChildEnd& end, const std::string& said) {
    if (WIFEXITED(end.status) && WEXITSTATUS(end.status) == no_torch)
        return {Exit::no_device, "PyTorch is not installed for " + python +
                                     "; PYTHON names another Python, as in PYTHON=venv/bin/python."};
    if (WIFSIGNALED(end.status))
        return {Exit::failed,
                "The system ended PyTorch and the kernels beside it, as it does where memory is "
                "short; shorter lengths need less."};
    std::string why = said;
    while (why.ends_with('.')) why.pop_back();
    return {Exit::failed,
            "PyTorch could not be measured: " + (why.empty() ? "it did not say why" : why) + "."};
}

}  // namespace

std::optional<std::string> refuse_against(const BenchWords& words, const BenchRequest& request) {
    if (!words.against) return std::nullopt;
    WordReader read;
    int what = 0;
    read.choose("--against", words.against, {"torch"}, what);
    read.refuse(words.device.value_or("cpu") != "cpu",
                "--against torch sets PyTorch beside the kernels of the CPU; leave out --device.");
    read.refuse(request.workload.batch != 1, "--against torch times a batch of 1; leave out --batch.");
    read.refuse(request.workload.window.has_value(),
                "PyTorch's attention has no window; leave out --window or --against.");
    read.refuse(request.workload.causal && request.queries,
                "PyTorch aligns a causal mask with the first key, these kernels with the last; leave out "
                "--causal or --seqlen-q.");
    if (read.error.empty()) return std::nullopt;
    return read.error;
}

Outcome run_beside_torch(const BenchRequest& request, int threads, const BenchWords& words,
                         BenchReport& report) {
    const auto python = find_python();
    if (!python) return {Exit::no_device, python.error};
    auto folder = PrivateFolder::make("PyTorch");
    if (!folder) return {Exit::not_written, folder.error};
    for (const EmbeddedFile& file : embedded_scripts())
        if (const auto done = folder->write(file.name, file.text); !done) return written(done);
    const std::string said = folder->expect("said.txt"), output = folder->expect("results.json");

    const WatchInterrupts watch;
    std::stop_source stop;
    int calls = 0;
    std::optional<ProgressLine> line{std::in_place};
    const auto meanwhile = [&] {
        if (watch.interrupted()) stop.request_stop();
        if (constexpr int some = 40; ++calls % some == 0) line->show(last_line(said));
    };
    constexpr double for_ever = 1e8;  // seconds; Ctrl-C ends it
    const auto end = run_child({call_of(*python, *folder, output, request, threads, words), said,
                                folder->path(), for_ever, stop.get_token(), meanwhile});
    line.reset();
    if (!end) return {Exit::no_device, end.error};
    if (!end->well() && end->in_time) return ended_badly(*python, *end, last_line(said));
    auto read = load_bench_file(output);
    if (!read && !end->in_time)
        return {Exit::interrupted, "Interrupted before the first length was measured."};
    if (!read) return {Exit::failed, read.error};
    report = std::move(*read);
    report.source.clear();
    report.complete = report.complete && end->in_time;
    return {};
}

}  // namespace tilewalk

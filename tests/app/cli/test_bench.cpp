// tilewalk bench and tilewalk kernels: tables, files, refusals. The kernels themselves have their own tests.
#include "app/cli/child.h"
#include "app/cli/commands.h"
#include "app/cli/values.h"
#include "app/io/bench_json.h"
#include "core/bench/bench.h"
#include "core/bench/findings.h"
#include "core/cpu/kernel.h"
#include "cuda/host/gpu.h"
#include "tests/app/cli/run.h"
#include "tests/good.h"
#include "tests/skip.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include <sys/stat.h>

using namespace tilewalk::test;
using nlohmann::json;

namespace {

const std::vector<std::string> small = {"bench", "--seqlen", "40,17", "--heads", "2", "--head-dim", "8"};

// bench --against torch with this in place of Python, a script of the shell: $program and $output are what it
// is called with. Nothing stays behind.
struct AgainstTorch {
    Folder folder, temporary;
    Variable python, where{"TMPDIR", temporary.path.string()};
    explicit AgainstTorch(const std::string& script) : python("PYTHON", folder.file("python")) {
        folder.file("python", "#!/bin/sh\necho \"$*\" >" + folder.file("called") +
                                  "\nwhile [ $# -gt 0 ]; do\n  case $1 in\n  --program) program=$2 ;;\n"
                                  "  --output) output=$2 ;;\n  esac\n  shift\ndone\n" +
                                  script + "\n");
        ::chmod(folder.file("python").c_str(), 0755);
        this_program() = TILEWALK_BINARY;
    }
    ~AgainstTorch() { CHECK(temporary.count() == 0); }
    Ran run(const std::vector<std::string>& more = {}) const {
        return tilewalk::test::run(with(with(small, {"--against", "torch"}), more));
    }
    std::string called() const { return contents(folder.file("called")); }
};

// Results of the program itself, one kernel of which is called PyTorch's
const std::string measures =
    "\"$program\" bench --seqlen 17 --heads 2 --head-dim 8 --kernels standard,flash "
    "--format json -o \"$output.part\" && "
    "sed 's/\"standard\"/\"torch-math\"/; s/^{/{\"x-torch\": {\"torch\": \"9.8\"},/' "
    "\"$output.part\" >\"$output\"; rm \"$output.part\"";

}  // namespace

TEST_CASE("cli: bench measures every kernel at every length and verifies it") {
    const json all = json::parse(
        output_of(with(small, {"--format", "json", "--causal", "--threads", "2", "--kv-heads", "1"})));
    CHECK(all["complete"] == true);
    CHECK(all["machine"]["threads"] == 2);
    CHECK(all["peak_flops"].get<double>() > 0);
    CHECK(all["command"] ==
          "tilewalk bench --seqlen 40,17 --head-dim 8 --heads 2 --kv-heads 1 --causal --threads 2");
    REQUIRE(all["points"].size() == 2 * 3);  // those for few queries are left out
    CHECK(all["points"][0]["seqlen"] == 17);
    CHECK(all["points"][0]["seqlen_q"] == 17);
    for (const json& point : all["points"]) {
        CHECK(point["verified"] == true);
        CHECK(point["skipped"].is_null());
        CHECK(point["causal"] == true);
        CHECK(point["kv_heads"] == 1);
        CHECK(point["median_s"].get<double>() > 0);
        CHECK(point["max_error"].get<double>() <= point["error_limit"].get<double>());
        CHECK(point["runs"].get<int>() >= 5);
        const double model = point["model_bytes"];
        CHECK(point["workspace_bytes"].get<double>() == doctest::Approx(model).epsilon(.05));
    }
}

TEST_CASE("cli: bench as text has the finding, and what does not fit with both numbers") {
    check_contains(output_of(with(small, {"--direction", "backward", "--memory-limit", "60K"})),
                   {"does not fit", "58.6 KiB may be used.", "backward, f32, batch 1, 2 heads, d = 8",
                    "median, p20 … p80: ", "workspace: ", "largest error: "});
}

TEST_CASE(
    "cli: bench of numbers of 16 bits runs every kernel of the CPU, both ways, and reads half the bytes") {
    for (const char* const type : {"f16", "bf16"})
        for (const std::vector<std::string>& more :
             {std::vector<std::string>{"--direction", "backward"}, {"--seqlen-q", "3", "--kv-heads", "1"}}) {
            const std::vector<std::string> words = with(with(small, {"--dtype", type}), more);
            const std::string text = output_of(words);
            CHECK(contains(text, type));
            CHECK_FALSE(contains(text, " 0.0 = "));  // an error that is not 0 is not shown as 0
            const json all = json::parse(output_of(with(words, {"--format", "json"})));
            REQUIRE(all["points"].size() == (more[0] == "--direction" ? 2 * 3 : 2 * 5));
            for (const json& point : all["points"]) {
                CHECK(point["dtype"] == type);
                CHECK(point["state"] == "measured");
                CHECK(point["max_error"].get<double>() <= point["error_limit"].get<double>());
                CHECK(point["workspace_bytes"] == point["model_bytes"]);
            }
        }
}

TEST_CASE("cli: bench that could measure nothing says so") {
    const Ran ran = run(with(small, {"--memory-limit", "1K"}));
    CHECK(ran.code == 2);  // no kernel is wrong
    CHECK(contains(ran.out, "does not fit"));
    CHECK_FALSE(contains(ran.out, "median, p20"));  // of what is not there nothing is explained
    CHECK(ran.err == "tilewalk: Nothing was measured: no kernel fits into 1000 B.\n");
}

TEST_CASE("cli: bench of few queries runs the kernels for decoding beside the others") {
    const std::vector<std::string> decode = with(small, {"--seqlen-q", "3", "--kv-heads", "1"});
    const json all = json::parse(output_of(with(decode, {"--format", "json"})));
    REQUIRE(all["points"].size() == 2 * 5);
    std::set<std::string> kernels;
    for (const json& point : all["points"]) {
        CHECK(point["seqlen_q"] == 3);
        CHECK(point["state"] == "measured");
        CHECK(point["workspace_bytes"] == point["model_bytes"]);
        kernels.insert(point["kernel"]);
    }
    CHECK(kernels.contains("split-kv"));
    CHECK(kernels.contains("read-kv"));
    check_contains(output_of(decode), {"3 queries", "GB/s", "of reading", "100 %"});
    // One of them alone for many queries is refused in the table, with the reason.
    const Ran alone = run(with(small, {"--kernels", "split-kv"}));
    check_contains(alone.out, {"not supported", "it takes up to 16 queries"});
    CHECK(alone.code == 1);
    CHECK(contains(alone.err, "Nothing was measured; the results say why for each kernel."));
}

TEST_CASE("cli: results that were written are shown again") {
    const Folder folder;
    const std::string path = folder.file("r.json");
    CHECK(output_of(with(small, {"--kernels", "standard,flash", "--format", "json", "-o", path})) == "");
    const std::string found = finding(good(load_bench_file(path)));
    const auto again = [](const std::string& files, const char* format) {
        return output_of({"bench", "--load", files, "--format", format});
    };
    for (const char* format : {"text", "md"}) CHECK(contains(again(path, format), found));
    CHECK(again(path, "json") == contents(path));
    CHECK(std::ranges::count(again(path, "csv"), '\n') == 1 + 4);
    CHECK(std::ranges::count(again(path + "," + path, "csv"), '\n') == 1 + 2 * 4);
    check_refused({{{"bench", "--load", path + "," + path, "--format", "json"}, "which was there already"}});
    CHECK(run({"bench", "--load", path, "--heads", "3"}).code == 2);
    CHECK(run({"bench", "--load", folder.file("no.json")}).code == 2);
    CHECK(run({"bench", "--load", folder.file("bad.json", "{\"schema\":\"tilewalk-bench-1\"}")}).code == 2);
}

TEST_CASE("cli: bench against PyTorch hands the shapes to its script, and what comes back is one table") {
    const AgainstTorch torch(measures);
    const Ran ran = torch.run({"--causal", "--kv-heads", "1", "--dtype", "bf16", "--threads", "2",
                               "--kernels", "flash", "--direction", "backward", "--seed", "3"});
    CHECK_MESSAGE(ran.code == 0, ran.err);
    check_contains(ran.out, {"PyTorch takes", "torch-math", "flash", "; PyTorch 9.8", "×"});
    check_contains(torch.called(), {"core/cpu/torch/compare_with_torch.py --needs-torch --program ",
                                    " --dtype bf16 ", " --more=--kernels flash --seed 3 ", " --threads 2 ",
                                    " --shapes 2/1 8 17 17 causal backward 2/1 8 40 40 causal backward"});
    // As a file it says how it is made again.
    const json all = json::parse(torch.run({"--format", "json"}).out);
    CHECK(all["command"] == "tilewalk bench --seqlen 40,17 --head-dim 8 --heads 2 --against torch");
    CHECK(all["x-torch"]["torch"] == "9.8");
    CHECK(all["points"].size() == 2);
    CHECK(contains(torch.run({"--format", "csv"}).out, ",torch-math,"));
    CHECK(torch.run({"--seqlen-q", "1"}).code == 0);
    CHECK(contains(torch.called(), " --shapes 2/2 8 1 17 2/2 8 1 40"));
}

TEST_CASE("cli: bench against PyTorch says what is missing, and what went wrong") {
    {
        const Variable none("PYTHON", "no-such-python");
        const Ran ran = run(with(small, {"--against", "torch"}));
        CHECK(ran.code == 3);
        CHECK(contains(ran.err, "there is no no-such-python here; PYTHON names another one"));
    }
    const Ran without = AgainstTorch("exit 3").run();
    CHECK(without.code == 3);
    CHECK(contains(without.err, "tilewalk: PyTorch is not installed for /"));
    const Ran broken = AgainstTorch("echo Traceback; echo 'RuntimeError: no.' >&2; exit 1").run();
    CHECK(broken.code == 1);
    CHECK(broken.err == "tilewalk: PyTorch could not be measured: RuntimeError: no.\n");
    CHECK(
        contains(AgainstTorch("kill -9 $$").run().err, "The system ended PyTorch and the kernels beside it"));
    CHECK(AgainstTorch("exit 0").run().code == 1);  // without results
    for (const Ran& ran : {without, broken}) CHECK(ran.out == "");
}

TEST_CASE("cli: bench against PyTorch can be interrupted, and has the lengths until then") {
    const std::string waits = "; kill -INT $PPID; sleep 60";
    const Ran soon = AgainstTorch(":" + waits).run();
    CHECK(soon.code == 130);
    CHECK(contains(soon.err, "Interrupted before the first length was measured."));
    const Ran later = AgainstTorch(measures + waits).run();
    CHECK(later.code == 130);
    check_contains(later.out, {"torch-math", "The run was ended before all points were measured."});
}

TEST_CASE("cli: bench against PyTorch itself, where it is installed") {
    const char* const chosen = std::getenv("PYTHON");
    const std::string python = chosen ? chosen : "python3";
    if (std::system((python + " -c 'import torch' 2>/dev/null").c_str()) != 0)
        return skip("there is no PyTorch");
    this_program() = TILEWALK_BINARY;
    for (const char* const type : {"f32", "bf16"}) {
        const json all =
            json::parse(output_of({"bench", "--seqlen", "48", "--heads", "2", "--head-dim", "16", "--dtype",
                                   type, "--kernels", "flash", "--against", "torch", "--format", "json"}));
        std::set<std::string> kernels;
        for (const json& point : all["points"]) {
            kernels.insert(point["kernel"]);
            CHECK(point["dtype"] == type);
            CHECK(point["state"] == "measured");
        }
        CHECK(kernels == std::set<std::string>{"flash", "torch-flash", "torch-math"});
    }
}

TEST_CASE("cli: bench refuses what makes no sense, with a sentence") {
    check_refused(
        {
            {{"--seqlen", "0"}, "--seqlen is \"0\""},
            {{"--seqlen", "1,x"}, "--seqlen is \"x\""},
            {{"--seqlen-q", "0"}, "--seqlen-q is \"0\""},
            {{"--seqlen-q", "1,2"}, "--seqlen-q is \"1,2\""},
            {{"--seqlen", ""}, "needs a value"},
            {{"--head-dim", "2000"}, "--head-dim"},
            {{"--heads", "8", "--kv-heads", "3"}, "--kv-heads is 3, expected a divisor of --heads (8)."},
            {{"--kernels", "flush"}, "There is no kernel \"flush\""},
            {{"--direction", "sideways"}, "--direction is \"sideways\""},
            {{"--memory-limit", "much"}, "expected bytes, as in"},
            {{"--memory-limit", "0"}, "expected bytes, as in"},
            {{"--threads", "0"}, "--threads"},
            {{"--device", "tpu"}, "--device is \"tpu\""},
            {{"--device", "emulator"}, "its times would say nothing of a GPU"},
            {{"--device", "cuda", "--threads", "2"}, "--threads counts those of the CPU"},
            {{"--device", "cuda", "--kernels", "flash"}, "There is no kernel \"flash\" for cuda"},
            {{"--against", "jax"}, "--against is \"jax\", expected torch"},
            {{"--against", "torch", "--device", "cuda"}, "leave out --device"},
            {{"--against", "torch", "--batch", "2"}, "--against torch times a batch of 1"},
            {{"--against", "torch", "--window", "8"}, "PyTorch's attention has no window"},
            {{"--against", "torch", "--causal", "--seqlen-q", "1"}, "leave out --causal or --seqlen-q"},
            {{"--against", "torch", "--load", "x.json"}, "leave out the other options"},
            {{"--dtype", "f64"}, "--dtype is \"f64\", expected f32, f16 or bf16"},
            {{"--format", "xml"}, "--format is \"xml\""},
            {{"--batch", "-1"}, "--batch"},
            {{"-o", "-"}, "leave -o out"},
        },
        {"bench"});
}

TEST_CASE("cli: bench on a GPU that is not there ends with code 3 and the reason") {
    if (!gpu::probe().devices.empty()) return skip("there is a GPU");
    const Ran ran = run({"bench", "--device", "cuda", "--dtype", "f16", "--kernels", "f5-flash2"});
    CHECK(ran.code == 3);
    CHECK_MESSAGE(contains(ran.err, "There is no GPU to run on: "), ran.err);
}

TEST_CASE("cli: on a GPU bench computes in bf16 unless told otherwise, and repeats more") {
    int threads = 0;
    BenchWords words;
    CHECK(make_request(words, threads)->workload.dtype == DType::f32);
    CHECK(make_request(words, threads)->warm_up == 0);
    words.device = "cuda";
    CHECK(make_request(words, threads)->workload.dtype == DType::bf16);
    CHECK(make_request(words, threads)->least_runs == 30);
    words.dtype = "f32";
    CHECK(make_request(words, threads)->workload.dtype == DType::f32);
}

TEST_CASE("cli: kernels lists the ladder, with the files that hold it") {
    const std::string text = output_of({"kernels"});
    const json all = json::parse(output_of({"kernels", "--format", "json"}));
    CHECK(all["schema"] == "tilewalk-kernels-1");
    const auto engine = cpu::make_engine(), cuda = gpu::make_engine(gpu::Where::emulator);
    REQUIRE(all["kernels"].size() == engine->kernels().size() + cuda->kernels().size());
    for (const json& kernel : all["kernels"]) {
        CHECK(contains(text, kernel["name"].get<std::string>()));
        CHECK(std::filesystem::exists(std::filesystem::path(TILEWALK_SOURCE_DIR) /
                                      kernel["file"].get<std::string>()));
    }
    CHECK(all["kernels"][0]["name"] == "standard");
    CHECK(all["kernels"][0]["materialises"] == true);
    CHECK(all["kernels"][0]["directions"] == json({"forward", "backward"}));
    for (const json& kernel : all["kernels"]) {
        CHECK_FALSE(kernel["types"].empty());
        CHECK_FALSE(kernel["head_dims"].empty());
        if (kernel["device"] == "cpu") CHECK(kernel["types"] == json({"f32", "f16", "bf16"}));
        if (kernel["name"] != "f5-flash2") continue;
        CHECK(kernel["device"] == "cuda");
        CHECK(kernel["directions"] == json::array({"forward"}));
        CHECK(kernel["types"] == json({"f16", "bf16"}));
        for (const int d : {64, 128}) CHECK(contains(kernel["head_dims"].dump(), std::to_string(d)));
    }
}

TEST_CASE("numbers of bytes may have units") {
    CHECK(*byte_count("-m", "123") == 123);
    CHECK(*byte_count("-m", "8G") == 8000000000);
    CHECK(*byte_count("-m", "8GB") == 8000000000);
    CHECK(*byte_count("-m", "8GiB") == std::int64_t{8} << 30);
    CHECK(*byte_count("-m", "1.5Ki") == 1536);
    for (const char* bad : {"", "G", "8X", "8Gx", "-8", "8iG", "1e99", "0", "8 G", "9999T", "0.5"})
        CHECK_FALSE_MESSAGE(byte_count("-m", bad), bad);
}

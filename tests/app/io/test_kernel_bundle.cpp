// Runs of kernels as files: exact, and refused where they are wrong.
#include "app/io/kernel_bundle.h"
#include "app/io/problem_json.h"
#include "cuda/host/gpu.h"
#include "tests/contains.h"
#include "tests/core/problems.h"
#include "tests/folder.h"
#include "tests/good.h"

#include <cmath>
#include <limits>

using namespace tilewalk::test;

namespace {

KernelTrace recorded(const KernelFault& fault = {}) {
    gpu::TraceRequest request;
    request.problem = causal(*random_problem(140, 24, 3));
    request.fault = fault;
    KernelTrace trace = good(gpu::trace_kernel(gpu::Where::emulator, request));
    trace.run.command = "tilewalk compare --random 140x24";
    return trace;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != text.npos);
    return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) { return bundle_from_json(text, "run.json").error; }

}  // namespace

TEST_CASE("bundle: everything of a run reads back exactly") {
    KernelTrace out = recorded({KernelFault::Quantity::P, 1, 0, 3, 5, 1e-3});
    SUBCASE("a walk over all keys") { CHECK_FALSE(contains(bundle_to_json(out), "split_blocks")); }
    SUBCASE("splits") { out.split_blocks = 1; }
    const std::string text = bundle_to_json(out);
    CHECK(is_bundle_json(text));
    CHECK_FALSE(is_bundle_json(problem_to_json(out.problem)));
    const KernelTrace in = good(bundle_from_json(text, "run.json"));
    CHECK(in.kernel == out.kernel);
    CHECK(in.title == out.title);
    CHECK(in.dtype == out.dtype);
    CHECK(in.kernel_d == out.kernel_d);
    CHECK(in.split_blocks == out.split_blocks);
    CHECK(in.backward == out.backward);
    CHECK(in.fault == out.fault);
    CHECK(in.run.device == "emulator");
    CHECK(in.run.device_name == out.run.device_name);
    CHECK(in.run.date == out.run.date);
    CHECK(in.run.commit == out.run.commit);
    CHECK(in.run.command == out.run.command);
    CHECK(in.problem.Q == out.problem.Q);
    CHECK(in.problem.V == out.problem.V);
    CHECK(in.problem.Br == out.problem.Br);
    CHECK(in.problem.causal);
    CHECK(in.O == out.O);
    CHECK(in.L == out.L);
    REQUIRE(in.tiles.size() == out.tiles.size());
    for (std::size_t n = 0; n < out.tiles.size(); ++n) {
        CHECK(in.tiles[n].visited == out.tiles[n].visited);
        for (KernelFault::Quantity quantity : kernel_quantities())
            CHECK(values_of(in.tiles[n], quantity) == values_of(out.tiles[n], quantity));
    }
    CHECK(bundle_to_json(in) == text);
}

TEST_CASE("bundle: infinities and NaN stand in quotes") {
    KernelTrace out = recorded();
    out.O[0] = std::numeric_limits<float>::quiet_NaN();
    out.L[0] = -std::numeric_limits<float>::infinity();
    out.L[1] = std::numeric_limits<float>::infinity();
    const KernelTrace in = good(bundle_from_json(bundle_to_json(out), "run.json"));
    CHECK(std::isnan(in.O[0]));
    CHECK(in.L[0] == out.L[0]);
    CHECK(in.L[1] == out.L[1]);
}

TEST_CASE("bundle: a run on a GPU, a fault of a whole row, and a backward pass come back as they were") {
    KernelTrace out = recorded({KernelFault::Quantity::m, 0, 0, 3, -1, .5});
    out.run.device = "cuda";
    const KernelTrace in = good(bundle_from_json(bundle_to_json(out), "run.json"));
    CHECK(in.run.device == "cuda");
    CHECK(in.fault == out.fault);
    CHECK(in.fault.column == -1);
    gpu::TraceRequest request;
    request.problem = *random_problem(40, 24, 3);
    request.problem.dO = request.problem.V;
    request.kernel = "b2-tensor-core";
    const KernelTrace back = good(gpu::trace_kernel(gpu::Where::emulator, request));
    CHECK(back.backward);
    const KernelTrace read = good(bundle_from_json(bundle_to_json(back), "run.json"));
    CHECK(read.backward);
    CHECK(read.P_from_L == back.P_from_L);
    CHECK(read.dK == back.dK);
}

TEST_CASE("bundle: wrong files are refused with one sentence") {
    const std::string whole = bundle_to_json(recorded());
    CHECK(error_of("[]") == "run.json: it is an array, expected an object.");
    CHECK(error_of("{").starts_with("run.json: line 1"));
    CHECK(error_of("{\"schema\":\"tilewalk-problem-1\"}") ==
          "run.json: the schema is \"tilewalk-problem-1\", expected \"tilewalk-compare-1\".");
    CHECK(error_of("{\"schema\":\"tilewalk-compare-1\"}") == "run.json: kernel is missing.");
    const struct {
        const char *from, *to, *words;
    } damages[] = {
        {"\"dtype\":\"bf16\"", "\"dtype\":\"f64\"", "dtype is"},
        {"\"tiles\":[", "\"tiles\":[7,", "tiles[0] is 7, expected an object"},
        {"\"m\":[", "\"m\":[\"x\",", "tiles[0].m[0] is the string \"x\""},
        {"\"m\":[", "\"m\":[null,", "tiles[0].m[0] is null, expected a number of float32"},
        {"\"m\":[", "\"m\":[0,", "m of tile (0, 0) has 129 numbers; expected 128"},
        {"\"m\":[", "\"m\":[1e300,", "a number of float32"},
        {"\"visited\"", "\"visitd\"", "visitd"},
        {"\"backward\":false", "\"backward\":false, \"P_from_L\":true", "P_from_L is true of a forward"}};
    for (const auto& damage : damages)
        CHECK_MESSAGE(contains(error_of(replaced(whole, damage.from, damage.to)), damage.words),
                      damage.words);
    CHECK(error_of(replaced(whole, "\"q\": [", "\"q\": [[1],")).find("run.json: problem") == 0);
}

TEST_CASE("bundle: files") {
    const KernelTrace out = recorded();
    const test::Folder scratch;
    const std::string path = scratch.file("run.json");
    CHECK(save_bundle_file(path, out));
    CHECK(is_bundle_file(path));
    CHECK(load_bundle_file(path)->O == out.O);
    CHECK_FALSE(is_bundle_file(scratch.file("none.json")));
    CHECK(save_bundle_file(scratch.file("run.txt"), out));
    CHECK_FALSE(is_bundle_file(scratch.file("run.txt")));
    CHECK(contains(load_bundle_file(scratch.file("none.json")).error, "there is no such file"));
    CHECK_FALSE(save_bundle_file("/nowhere/at/all/run.json", out));
}

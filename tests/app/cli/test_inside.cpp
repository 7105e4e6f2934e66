// tilewalk inside: its words, counts and exit codes.
#include "cuda/host/gpu.h"
#include "tests/app/cli/run.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace tilewalk::test;
using nlohmann::json;

TEST_CASE("inside: every rung runs, and none races") {
    for (const auto& kernel : tilewalk::gpu::traceable_kernels()) {
        CAPTURE(kernel.name);
        check_contains(output_of({"inside", "--kernel", kernel.name, "--random", "20x32", "--causal"}),
                       {kernel.name + ": " + kernel.title, "launch 1: ", "No two accesses race."});
    }
}

TEST_CASE("inside: lines of the source and the model, as text and JSON") {
    const std::vector<std::string> words{"inside", "--random", "128x64"};
    check_contains(output_of(words),
                   {"cuda/kernels/f5_flash2.cu:", "sync_block", "copy_async", "ways", "A100 80 GB"});
    const json all = json::parse(output_of(with(words, {"--format", "json"})));
    CHECK(all["schema"] == "tilewalk-inside-1");
    CHECK(all["kernel"] == "f5-flash2");
    CHECK(all["race_free"] == true);
    std::int64_t products = 0;
    for (const json& line : all["launches"][0]["lines"])
        if (line["op"] == "multiply_add") products += line["warps"].get<std::int64_t>();
    CHECK(products == 2 * 128 * 128 * 64 / 2048);
    CHECK(all["launches"][0]["model"].size() == 5);
}

TEST_CASE("inside: what cannot be recorded is refused in a sentence") {
    const auto refused = [](const std::vector<std::string>& words, const std::string& sentence) {
        const Ran ran = run(with({"inside"}, words));
        CHECK(ran.code == 2);
        CHECK(contains(ran.err, sentence));
    };
    refused({"--kernel", "f5-flash"}, "did you mean f5-flash2?");
    refused({"--random", "257x64"},
            "N = 257, d = 64 is too large to be recorded; up to N = 256, d = 128 are.");
    refused({"--dtype", "f32"}, "f5-flash2 takes");
    refused({"--format", "xml"}, "--format");
}

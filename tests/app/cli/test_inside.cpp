// tilewalk inside: its words, counts and exit codes.
#include "app/cli/hand_out.h"
#include "app/cli/hooks.h"
#include "app/cli/session.h"
#include "cuda/host/gpu.h"
#include "tests/app/cli/run.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace tilewalk;
using namespace tilewalk::test;
using nlohmann::json;

TEST_CASE("inside: every rung runs, and none races") {
    for (const auto& kernel : tilewalk::gpu::traceable_kernels()) {
        CAPTURE(kernel.name);
        const std::string out =
            output_of({"inside", "--kernel", kernel.name, "--random", "20x32", "--causal"});
        check_contains(out, {kernel.name + ": " + kernel.title, "launch 1: "});
        // Products of the vendor's are not looked into.
        const bool all = !contains(out, "by the vendor's library");
        CHECK(contains(out,
                       all ? "No two accesses race.\n" : "No two accesses race in what is looked into.\n"));
    }
}

TEST_CASE("inside: the model's clocks are those of chips that take the kernel in its type") {
    const auto of = [](const char* kernel, const char* type) {
        return output_of({"inside", "--kernel", kernel, "--random", "20x32", "--dtype", type});
    };
    for (const char* kernel : {"f0-cublas", "b0-materialise"}) {
        CAPTURE(kernel);
        CHECK(contains(of(kernel, "f16"), "T4 "));
        CHECK_FALSE(contains(of(kernel, "bf16"), "T4 "));  // which came with compute capability 8.0
        CHECK(contains(of(kernel, "bf16"), "A100 80 GB "));
    }
}

TEST_CASE("inside: what the columns count is said below them") {
    check_contains(output_of({"inside", "--random", "20x32"}),
                   {"by warps, by lanes: ", "turns of banks: ", "ways: ", "sectors: ", "before any cache"});
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
    CHECK(all["launches"][0]["model"].size() == 4);  // not for 7.5, which f5 does not take
    const json everywhere = json::parse(
        output_of({"inside", "--kernel", "f2-tiled-fp32", "--random", "32x32", "--format", "json"}));
    CHECK(everywhere["launches"][0]["model"].size() == 5);
    const json hopper =
        json::parse(output_of({"inside", "--kernel", "f7-hopper", "--random", "32x64", "--format", "json"}));
    REQUIRE(hopper["launches"][0]["model"].size() == 1);
    CHECK(hopper["launches"][0]["model"][0]["capability"] == 90);
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

TEST_CASE("inside: two rungs side by side, as text and JSON") {
    const std::vector<std::string> words{"inside",       "--kernel", "f5-flash2", "--against",
                                         "f3-warp-rows", "--random", "128x64"};
    check_contains(output_of(words), {"f5-flash2 (bf16)", "f3-warp-rows (f32)", "Loaded from HBM",
                                      "Its idea: ", "f5-flash2 saves", "plain arithmetic"});
    const json all = json::parse(output_of(with(words, {"--format", "json"})));
    CHECK(all["schema"] == "tilewalk-inside-ladder-1");
    CHECK(all["kernel"]["kernel"] == "f5-flash2");
    CHECK(all["against"]["dtype"] == "f32");
    CHECK(all["against"]["products"].is_null());
    CHECK(all["kernel"]["products"] == 2 * 128 * 128 * 64 / 2048);
    CHECK(all["kernel"]["loaded"] == 3 * 128 * 64 * 2);
}

TEST_CASE("inside: from a step of the lesson to its lane, and back") {
    const std::vector<std::string> tiles{"inside", "--random", "128x64", "--br", "128", "--bc", "64"};
    const json there =
        json::parse(output_of(with(tiles, {"--step", "7", "--at", "3", "--format", "json"})))[0];
    CHECK(there["slot"] == "alpha");
    CHECK(there["lane"] == 12);
    CHECK(there["op"] == "exp2_of");
    CHECK(there["file"] == "cuda/kernels/bands.h");
    CHECK(there["same_keys"] == true);
    const std::string place = std::to_string(there["warp"].get<int>()) + "." +
                              std::to_string(there["instruction"].get<int>()) + "." +
                              std::to_string(there["lane"].get<int>());
    const json back = json::parse(output_of(with(tiles, {"--place", place, "--format", "json"})))[0];
    CHECK(back["step"] == 7);
    CHECK(back["row"] == 3);
    check_contains(output_of(with(tiles, {"--step", "7", "--at", "3"})),
                   {"α of row 3", "warp 0, lane 12", "called at bands.h:", "f5_flash2.cu:"});
    check_contains(output_of({"inside", "--step", "6"}), {"f5-flash2 takes 64 keys at once"});
    check_contains(output_of(with(tiles, {"--step", "3"})),
                   {"K of row 0", "V of row 0", "the step reads it from HBM"});
}

TEST_CASE("inside: places that are none are refused in a sentence") {
    check_refused(
        {{{"--br", "2"}, "--br is of the walk that --step and --place cross over to"},
         {{"--bc", "2", "--against", "f3-tiled"}, "--bc is of the walk"},
         {{"--at", "2"}, "--at is of the walk"},
         {{"--step", "17", "--place", "0.1.1"}, "ask different things of a run; give one of them."},
         {{"--step", "17", "--against", "f4-tensor-core"}, "ask different things of a run"},
         {{"--at", "1", "--place", "0.1.1"}, "--at is the cell of --step"},
         {{"--kernel", "f5"}, "did you mean f5-flash2?"},
         {{"--step", "41"}, "--step"},
         {{"--step", "2"}, "plain code of registers"},
         {{"--step", "17", "--at", "9"}, "expected ROW or ROW.COLUMN"},
         {{"--place", "0.1"}, "expected WARP.INSTRUCTION.LANE"},
         {{"--place", "9.1.1"}, "a warp from 0 to 3"},
         {{"--kernel", "f0-materialise", "--step", "3"}, "has no tiles"},
         {{"--against", "f9"}, "There is no CUDA kernel"},
         {{"--against", "f5-flash2"}, "--against is f5-flash2, the kernel itself; name another one"},
         {{"--kernel", "f3-warp-rows", "--against", "f3-warp-rows"}, "f3-warp-rows, the kernel itself"},
         {{"--kernel", "f7-hopper", "--against", "b4-hopper"},
          "which goes the other direction than f7-hopper"}},
        {"inside"});
}

TEST_CASE("inside: a fault is listed, runs, races and ends with 1, and says which number it makes") {
    const std::vector<std::string> words{"inside", "--random", "128x64"};
    const std::string list = output_of(with(words, {"--break", "list"}));
    check_contains(list, {"f5_flash2.cu:", "Barrier of line ", "K_{j+1} may come", "swizzle", "swap-b"});
    // The last barrier of the list
    const std::string file = "f5_flash2.cu:";
    const std::size_t at = list.rfind(file, list.find("swizzle"));
    const std::string name = list.substr(at, list.find(' ', at) - at);
    const Ran ran = run(with(words, {"--break", name}));
    CHECK(ran.code == 1);
    check_contains(ran.out, {"broken: Barrier of line ", name, "order: copies arrive",
                             "RACE at shared memory", "numbers are wrong", "the worst: O["});
    CHECK(contains(ran.err, "two accesses to one address race"));
    const Ran as_json = run(with(words, {"--break", name, "--format", "json"}));
    CHECK(as_json.code == 1);
    const json all = json::parse(as_json.out);
    CHECK(all["race_free"] == false);
    CHECK(all["broken"]["name"] == name);
    CHECK(all["broken"]["outputs"]["wrong"] > 0);
}

TEST_CASE(
    "inside: the list of faults is the kernel's, with the reason where this problem does not show one") {
    const auto names = [](const std::vector<std::string>& words) {
        std::vector<std::string> all;
        for (const json& fault :
             json::parse(output_of(with({"inside", "--break", "list", "--format", "json"}, words)))["faults"])
            all.push_back(fault["name"]);
        return all;
    };
    for (const char* kernel : {"f5-flash2", "f7-hopper", "b3-deterministic"}) {
        CAPTURE(kernel);
        const std::vector<std::string> all = names({"--kernel", kernel, "--random", "200x64"});
        CHECK(names({"--kernel", kernel, "--random", "64x64"}) == all);
        CHECK(names({"--kernel", kernel, "--random", "256x64", "--causal"}) == all);
    }
    const std::vector<std::string> full{"inside", "--random", "128x64", "--break"};
    check_contains(output_of(with(full, {"list"})),
                   {"guard", "\nNot here: guard. Every tile of keys is full here"});
    const Ran refused = run(with(full, {"guard"}));
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, "Every tile of keys is full here"));
    CHECK_FALSE(contains(output_of({"inside", "--random", "100x64", "--break", "list"}), "Not here"));
    const Ran page = run(with(full, {"list", "--format", "html"}));
    CHECK(page.code == 2);
    CHECK(contains(page.err, "leave out --format html"));
}

TEST_CASE("inside: a fault that only more keys come to is refused with its line") {
    const json all = json::parse(output_of(
        {"inside", "--kernel", "f7-hopper", "--random", "64x64", "--break", "list", "--format", "json"}));
    int refused = 0;
    for (const json& fault : all["faults"]) {
        if (fault["lacks"].is_null() || !contains(fault["name"].get<std::string>(), ":")) continue;
        const Ran ran =
            run({"inside", "--kernel", "f7-hopper", "--random", "64x64", "--break", fault["name"]});
        CHECK(ran.code == 2);
        CHECK(contains(ran.err, "No warp comes to line "));
        ++refused;
    }
    CHECK(refused > 0);
}

TEST_CASE("inside: a broken run as one page names the fault, the race and the wrong number") {
    const std::vector<std::string> words{"inside",   "--kernel", "f4-tensor-core",
                                         "--random", "128x64",   "--break"};
    const std::string list = output_of(with(words, {"list"}));
    const std::string name =
        list.substr(list.find("f4_tensor_core.cu:"), std::string("f4_tensor_core.cu:00").size());
    const Ran text = run(with(words, {name}));
    const Ran page = run(with(words, {name, "--format", "html"}));
    CHECK(page.code == 1);
    CHECK(contains(page.err, "two accesses to one address race"));
    const std::size_t worst = text.out.find("the worst: ");
    REQUIRE(worst != std::string::npos);
    check_contains(page.out, {"<b>Broken</b>: Barrier of line ", name.c_str(), "<b>Race</b> at shared memory",
                              "numbers are wrong", "class=\" left-out",
                              text.out.substr(worst, text.out.find('\n', worst) - worst).c_str()});
    // A sound run has neither, and chips that do not take the kernel have no clocks.
    const std::string sound = output_of({"inside", "--random", "64x64", "--format", "html"});
    CHECK_FALSE(contains(sound, "<b>Broken</b>"));
    CHECK_FALSE(contains(sound, "T4"));
    const Ran unswizzled = run({"inside", "--random", "64x64", "--break", "swizzle", "--format", "html"});
    CHECK(unswizzled.code == 0);
    check_contains(unswizzled.out, {"Swizzle off", "numbers are right", "8 ways of conflict"});
}

TEST_CASE(
    "inside: without the swizzle nothing is wrong; with swapped registers numbers are, and it ends with 1") {
    const std::vector<std::string> words{"inside", "--random", "64x64"};
    const std::string text = output_of(with(words, {"--break", "swizzle"}));
    check_contains(text, {"Swizzle off", "all 4096 numbers are right", "turns of the banks",
                          "8 ways of conflict", "No two accesses race."});
    const Ran swapped = run(with(words, {"--break", "swap-b"}));
    CHECK(swapped.code == 1);
    check_contains(swapped.out, {"Registers of B swapped", "No two accesses race.", "numbers are wrong"});
    CHECK(contains(swapped.err, "numbers are wrong"));
    const Ran unknown = run(with(words, {"--break", "luck"}));
    CHECK(unknown.code == 2);
    CHECK(contains(unknown.err, "f5_flash2.cu:"));
}

TEST_CASE("inside: heads run all their blocks, and what knows one head alone refuses them") {
    const std::vector<std::string> one{"inside", "--random", "64x64"};
    const std::vector<std::string> four = with(one, {"--heads", "4", "--kv-heads", "2"});
    check_contains(output_of(four), {"f5-flash2: ", "(bf16), 4 heads, 2 of K and V", "1 × 4 × 1 blocks",
                                     "No two accesses race."});
    const auto products = [](const json& all) {
        std::int64_t sum = 0;
        for (const json& line : all["launches"][0]["lines"])
            if (line["op"] == "multiply_add") sum += line["warps"].get<std::int64_t>();
        return sum;
    };
    const json of_one = json::parse(output_of(with(one, {"--format", "json"}))),
               of_four = json::parse(output_of(with(four, {"--format", "json"})));
    CHECK(of_one["heads"] == 1);
    CHECK(of_four["heads"] == 4);
    CHECK(of_four["kv_heads"] == 2);
    CHECK(products(of_four) == 4 * products(of_one));
    check_contains(output_of(with(four, {"--format", "html"})), {"4 heads, 2 of K and V"});
    const Ran swapped = run(with(four, {"--break", "swap-b"}));
    CHECK(swapped.code == 1);
    check_contains(swapped.out, {" numbers are wrong", "O of head 3", "the worst: O[", "] of head "});
    check_refused(
        {{{"--random", "64x64", "--heads", "9"}, "9 heads are too many to be recorded; up to 8 are."},
         {{"--random", "64x64", "--heads", "2", "--step", "3"}, "of the walk of one head"},
         {{"--source", "my.cu", "--heads", "2"}, "the memory of --source"}},
        {"inside"});
}

TEST_CASE("inside: a link is recorded as what it names") {
    const auto first_line = [](const std::string& text) { return text.substr(0, text.find('\n')); };
    const auto linked = [](const std::vector<std::string>& words) {
        std::string link = output_of(with({"link"}, words));
        return link.substr(0, link.find('\n'));
    };
    const std::string f4 = linked({"--page", "inside", "--kernel", "f4-tensor-core", "--size", "256x64"});
    const std::string text = output_of({"inside", "--link", f4});
    CHECK(text == output_of({"inside", "--kernel", "f4-tensor-core", "--random", "256x64"}));
    // A fault of the link is the run's, and another kernel is on the link's problem.
    const Ran broken =
        run({"inside", "--link", linked({"--page", "inside", "--size", "128x64", "--without", "swap-b"})});
    CHECK(broken.code == 1);
    check_contains(broken.out, {"broken: Registers of B swapped"});
    check_contains(output_of({"inside", "--link", f4, "--against", "f3-warp-rows"}),
                   {"f4-tensor-core (bf16)", "f3-warp-rows (f32)"});
    CHECK(first_line(output_of({"inside", "--link", f4, "--kernel", "f2-tiled-fp32"})) ==
          first_line(output_of({"inside", "--kernel", "f2-tiled-fp32"})));
    // The problem of a walk, with all of its heads
    CHECK(output_of({"inside", "--link", linked({"--random", "20x8", "--causal"})}) ==
          output_of({"inside", "--random", "20x8", "--causal"}));
    CHECK(output_of({"inside", "--link", linked({"--random", "4x2", "--heads", "2"})}) ==
          output_of({"inside", "--random", "4x2", "--heads", "2"}));
    // Its block is that of the model.
    check_contains(
        output_of({"inside", "--link", linked({"--page", "inside", "--size", "256x64", "--block", "1"})}),
        {"the longest path of its block 1, in clocks"});
    // A fault goes with another kernel that knows it, and with nothing else.
    const std::string straight =
        linked({"--page", "inside", "--kernel", "f5-flash2", "--size", "128x64", "--without", "swizzle"});
    check_contains(run({"inside", "--link", straight, "--kernel", "f6-split"}).out, {"broken: Swizzle off"});
    check_refused(
        {{{"--link", straight, "--kernel", "f4-tensor-core"}, "--link: f4-tensor-core has no swizzle."},
         {{"--link", straight, "--against", "f4-tensor-core"}, "--link leaves out swizzle; --against"}},
        {"inside"});
    check_refused({{{"--link", f4, "--random", "8x8"}, "leave out options for these"},
                   {{"--link", f4, "--dtype", "f16"}, "--link names kernel, type and fault itself"},
                   {{"--link", linked({"--page", "memory"})}, "the page memory, which is no walk"},
                   {{"--link", "tilewalk:nothing"}, "link"}},
                  {"inside"});
}

TEST_CASE("inside: what Ctrl S writes of a run with a fault says what it goes without") {
    const Folder folder;
    Arguments words;
    std::string link = output_of({"link", "--page", "inside", "--size", "128x64", "--without", "swap-b"});
    words.link = link.substr(0, link.find('\n'));
    auto state = make_session_at_link(words, ui::Settings{});
    REQUIRE_MESSAGE(state, state.error);
    for (const char* name : {"run.html", "run.md"}) {
        const std::string path = folder.file(name, "");
        REQUIRE(finish(begin_hand_out(path, *state)));
        check_contains(contents(path), {"Registers of B swapped", "numbers are wrong", "the worst: O["});
    }
}

TEST_CASE("inside: rungs side by side know every block") {
    const json rungs = json::parse(run({"inside", "--kernel", "f5-flash2", "--against", "f4-tensor-core",
                                        "--random", "256x64", "--causal", "--format", "json"})
                                       .out);
    for (const char* side : {"kernel", "against"})
        CHECK(rungs[side]["timed_blocks"] == rungs[side]["blocks"]);
    CHECK(rungs["kernel"]["clocks_of_row"] < rungs["against"]["clocks_of_row"]);
}

// tilewalk compare: its words, its verdicts and its exit codes, on the emulator.
#include "app/cli/commands.h"
#include "cuda/host/gpu.h"
#include "tests/app/cli/run.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace tilewalk::test;
using nlohmann::json;

namespace {

Ran compare(const std::vector<std::string>& words) {
    return run(with({"compare", "--device", "emulator"}, words));
}
std::string compared(const std::vector<std::string>& words) {
    return output_of(with({"compare", "--device", "emulator"}, words));
}

}  // namespace

TEST_CASE("compare: the worked example on the emulator") {
    check_contains(compared({"--kernel", "f5-flash2"}),
                   {"emulator on ", "N = 4, d = 4 (filled up to ", "within the rule",
                    "max |O − O₆₄| = ", "(0, 0)", "all within rounding"});
}

TEST_CASE("compare: a causal problem of several tiles, as text and JSON") {
    CHECK(contains(compared({"--random", "256x64", "--causal"}), "skipped"));
    const json all = json::parse(compared({"--random", "256x64", "--causal", "--format", "json"}));
    CHECK(all["schema"] == "tilewalk-comparison-1");
    CHECK(all["passed"] == true);
    CHECK(all["finding"] == nullptr);
    CHECK(all["run"]["device"] == "emulator");
    CHECK(all["run"]["command"] ==
          "tilewalk compare --random 256x64 --causal --device emulator --kernel f5-flash2");
    CHECK(all["outputs"][0]["name"] == "O");
    CHECK(all["outputs"][0]["error"].get<double>() <= all["outputs"][0]["limit"].get<double>());
    CHECK(all["tiles"].size() == std::size_t(2 * (256 / all["problem"]["bc"].get<int>())));
    CHECK(all["tiles"][0]["l"]["ulp"].get<double>() < 64);
}

TEST_CASE("compare: a table of many tiles is cut for people") {
    const std::string table = compared({"--random", "1000x32"});
    CHECK(contains(table, "more tiles differ no more"));
    CHECK(std::ranges::count(table, '\n') < 45);
}

TEST_CASE("compare: an injected fault is located and ends with 1") {
    for (const char* quantity : {"S", "m", "alpha", "P", "l", "O"}) {
        const std::string fault = std::string(quantity) + "@1,1,3=0.01";
        CAPTURE(fault);
        const Ran ran = compare({"--random", "256x32", "--seed", "4", "--fault", fault, "--format", "json"});
        CHECK(ran.code == 1);
        const json all = json::parse(ran.out);
        CHECK(all["fault"]["quantity"] == quantity);
        CHECK(all["finding"]["quantity"] == quantity);
        CHECK(all["finding"]["i"] == 1);
        CHECK(all["finding"]["j"] == 1);
        CHECK(all["finding"]["row"] == 3);
        CHECK(all["finding"]["step"].get<int>() > 0);
    }
    CHECK(contains(compared({"--fault", "alpha@0,0,1"}), "the first α of a row multiplies 0"));
}

TEST_CASE("compare: a run is saved and shown again") {
    const Folder folder;
    const std::string path = folder.file("run.json");
    const std::string first = compared({"--random", "140x32", "--causal", "--save", path}),
                      again = output_of({"compare", "--load-bundle", path});
    CHECK(contains(again, "(recorded)"));
    CHECK(first.substr(first.find("\nO  ")) == again.substr(again.find("\nO  ")));
    CHECK(run({"compare", "--load-bundle", path, "--causal"}).code == 2);
    CHECK(contains(run({"compare", "--load", path}).err, "tilewalk-compare-1"));
    CHECK(compare({"--save", "/nowhere/at/all.json"}).code == 4);

    bool shown = false;
    run({"--load", path}, looking([&](ui::AppState& state) {
            shown = state.page == ui::Page::compare && state.comparing != nullptr;
            CHECK(state.problem->N() == 140);
        }));
    CHECK(shown);
}

TEST_CASE("compare: what cannot be done is said in a sentence") {
    check_refused({{{"--kernel", "f5-flash"}, "f5-flash2"},
                   {{"--dtype", "f32"}, "f5-flash2 takes bf16 or f16, not f32."},
                   {{"--fault", "P"}, "expected QUANTITY@i,j"},
                   {{"--fault", "Q@0,0"}, "S, m, alpha, P, l or O"},
                   {{"--fault", "P@0,0,0,0,0"}, "expected QUANTITY@i,j"},
                   {{"--fault", "alpha@0,0,0,3"}, "one number in each row"},
                   {{"--fault", "P@9,0"}, "tile (9, 0)"},
                   {{"--kernel", "f0-materialise", "--fault", "P@0,0"}, "records no tiles"}},
                  {"compare", "--device", "emulator"});
    CHECK(run({"compare", "--device", "tpu"}).code == 2);
    if (gpu::probe().devices.empty()) {
        const Ran ran = run({"compare", "--device", "cuda"});
        CHECK(ran.code == 3);
        CHECK(contains(ran.err, "There is no GPU"));
        CHECK(contains(run({"compare"}).out,
                       "there is no GPU"));  // by itself it takes the emulator, and says so
    }
}

TEST_CASE("compare: the words of a fault") {
    const auto fault = read_fault("S@1,2,3,4=-0.5");
    REQUIRE(fault);
    CHECK(*fault == KernelFault{KernelFault::Quantity::S, 1, 2, 3, 4, -0.5});
    CHECK(*read_fault("l@0,7") == KernelFault{KernelFault::Quantity::l, 0, 7, 0, -1, 1e-3});
    for (const char* bad : {"l", "l@", "l@1", "l@1,x", "l@1,2=", "l@1,2=0", "=1@l", "l@-1,2", "m@0,1,2,3"})
        CHECK_MESSAGE(!read_fault(bad), std::string(bad));
}

// Two kernels beside each other: every change, saving and cost as words, from sums that are written down
// here.
#include "core/inside/ladder.h"
#include "tests/contains.h"
#include "tests/core/inside/made_run.h"

#include <doctest/doctest.h>

#include <string>

namespace tilewalk::inside {
namespace {

using tilewalk::test::contains;

const Measure& measure(const std::string& id) {
    for (const Measure& m : measures())
        if (m.id == id) return m;
    FAIL("no measure " << id);
    return measures()[0];
}
std::string change(double before, double after) {
    const Compared c{&measures()[0], before, after,
                     before > 0 ? std::optional(after / before) : std::nullopt};
    return change_text(c);
}

Totals sums(const char* kernel) {
    Totals t;
    t.kernel = kernel, t.launches = 1, t.blocks = t.timed_blocks = 4;
    return t;
}

}  // namespace

TEST_CASE("ladder: a change is so many times, a part, all of it, or nothing that can be said") {
    CHECK(change(100, 100) == "the same");
    CHECK(change(100, 250) == "2.5 ×");
    CHECK(change(100, 41) == "41 %");
    CHECK(change(100, 0) == "none");
    CHECK(change(0, 5).empty());
    // Never 0 or 100 for what is some of it, but not all
    CHECK(change(1e6, 1) == "0.1 %");
    CHECK(change(1e6, 999999) == "99.9 %");
}

TEST_CASE("ladder: what is saved, what it costs, what is the same, each with both figures") {
    Totals before = sums("f2"), after = sums("f3");
    before.loaded = 4096, after.loaded = 1024;
    before.exps = 64, after.exps = 64;
    before.shuffles = 0, after.shuffles = 320;
    before.barriers = 8, after.barriers = 0;
    before.shared = 10, after.shared = 30;
    const LadderWords words = ladder_words(before, after);
    tilewalk::test::check_contains(words.saved,
                                   {"f3 saves", "75 % of the bytes loaded from HBM (1 KiB against 4 KiB)",
                                    "all of the barriers", "over f2."});
    tilewalk::test::check_contains(words.costs, {"It takes ", "of which f2 has none (320)", "3 × the "});
    tilewalk::test::check_contains(words.same, {"Both have as many ", "exponentials (64)", "launches (1)"});
    // The other way round, and beside itself
    CHECK(contains(ladder_words(after, before).costs, "4 × the bytes loaded from HBM"));
    const LadderWords none = ladder_words(before, before);
    CHECK(none.saved == "f2 saves nothing over f2 that is counted here, on this problem.");
    CHECK(none.costs.empty());
}

TEST_CASE("ladder: what cannot be compared is said, and stands as a dash in the table") {
    Totals library = sums("f0"), own = sums("f5"), hopper = sums("f7");
    library.library = 2, library.launches = 1;
    own.dtype = DType::bf16, own.products = 640, own.tiles = 4, own.clocks_of_row = 12.5,
    own.timed_blocks = 1;
    hopper.by_itself = true, hopper.products = 640;
    const LadderWords words = ladder_words(library, own);
    std::string all;
    for (const std::string& sentence : words.beside) all += sentence + " ";
    tilewalk::test::check_contains(all, {"A number takes 2 bytes in f5 and 4 in f0", "differ by 2 ×",
                                         "f0 multiplies by the vendor's library",
                                         "The model's time of f5 is of 1 of its 4 blocks"});
    CHECK(contains(ladder_words(own, hopper).beside.back(),
                   "TMA and wgmma of f7 go to shared memory by themselves"));
    CHECK(contains(ladder_words(sums("f2"), own).beside.front(), "A number takes"));
    CHECK(measure_text(measure("launches"), library) == "3");
    CHECK(measure_text(measure("products_per_tile"), own) == "160");
    CHECK(measure_text(measure("products_per_tile"), library) == "—");
    CHECK(measure_text(measure("clocks_of_row"), own) == "12.5");
    for (const Measure& m : measures())
        if (const auto n = m.of(library); !n) CHECK(measure_text(m, library) == "—");
}

TEST_CASE("ladder: a product of the vendor's library is counted as one, and takes the model's time away") {
    test::MadeRun run(1, 1);
    run.whole(Op::exp2, 0, 1, {0, 0});
    run.record.regions.push_back({"Q", global_base + 65536, 512, 64, 4});
    const Costs& costs = all_costs()[0];
    const Totals alone = totals_of(run.record, costs);
    CHECK(alone.launches == 1);
    CHECK(alone.library == 0);
    REQUIRE(alone.clocks_of_row);
    CHECK(*alone.clocks_of_row > 0);
    run.record.launches.emplace_back().name = "sgemm";
    const Totals both = totals_of(run.record, costs);
    CHECK(both.library == 1);
    CHECK_FALSE(both.clocks_of_row);
    // No block was kept: no time, either
    test::MadeRun empty(1, 1);
    empty.record.launches[0].blocks.clear();
    CHECK_FALSE(totals_of(empty.record, costs).clocks_of_row);
}

}  // namespace tilewalk::inside

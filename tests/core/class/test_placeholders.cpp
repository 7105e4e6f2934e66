// What stands in braces in a tour: numbers of the walk, of its problem and of the memory page, and cells;
// what cannot be filled is refused with a sentence.
#include "core/class/tour.h"
#include "core/study/memory_study.h"
#include "tests/contains.h"
#include "tests/core/lessons/broken.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

std::string filled(const Trace& walk, int k, std::string_view words) {
    const auto text = fill_placeholder(walk, k, words);
    return text ? *text : "refused: " + text.error;
}

Span number_span(const std::string& words) { return {.text = words, .face = Span::Face::number}; }

}  // namespace

TEST_CASE("placeholders: sizes, bytes and cells are those of the step") {
    const auto walk = walk_of("flash-forward", worked_example());
    const int sum = nth_step(*walk, Op::row_sum, 1);  // tile (0, 1)
    const Traffic& now = walk->step(sum).traffic;
    CHECK(filled(*walk, sum, "step") == "17");
    CHECK(filled(*walk, sum, "steps") == std::to_string(walk->size()));
    for (const char* four : {"N", "N_kv", "d", "tiles"}) CHECK(filled(*walk, sum, four) == "4");
    for (const char* two : {"Br", "Bc"}) CHECK(filled(*walk, sum, two) == "2");
    CHECK(filled(*walk, sum, "skipped") == "0");
    CHECK(filled(*walk, sum, "read") == std::to_string(now.hbm_read) + " B");
    CHECK(filled(*walk, sum, "written") == std::to_string(now.hbm_write) + " B");
    CHECK(filled(*walk, sum, "moved") == std::to_string(now.hbm_read + now.hbm_write) + " B");
    CHECK(filled(*walk, sum, "on chip") == std::to_string(now.sram_live) + " B");
    CHECK(filled(*walk, sum, "l[0]") == "1.639");
    CHECK(filled(*walk, sum, "l[0] before") == "1.368");
    CHECK(filled(*walk, sum, "alpha[0]") == "0.368");
    CHECK(filled(*walk, sum, "moved in attention") == "512 B");
    // The same place of the walk without the fault
    const auto broken = walk_of("flash-forward", with(worked_example(), &Switches::no_correction));
    CHECK(filled(*broken, sum, "l[0]") == "2.503");
    CHECK(filled(*broken, sum, "l[0] true") == "1.639");
}

TEST_CASE("placeholders: what the memory page shows has its names, with the sizes that it has at first") {
    const auto walk = walk_of("flash-forward", worked_example());
    CHECK(filled(*walk, 0, "heads") == std::to_string(StudyInput{}.heads));
    CHECK(filled(*walk, 0, "S at N=16384") == "512 MiB");  // 16384² · 2 bytes
    CHECK(filled(*walk, 0, "S and P at N=16384") == "16 GiB");
    CHECK(filled(*walk, 0, "L at N=16384") == "1 MiB");
    CHECK(filled(*walk, 0, "saving at Br=128") == "4.0");
    CHECK(contains(filled(*walk, 0, "S at N=0"), "refused"));
    CHECK(contains(filled(*walk, 0, "S at N=many"), "refused"));
    CHECK(contains(filled(*walk, 0, "KV at key heads=0"), "refused"));
    CHECK(contains(filled(*walk, 0, "KV at key heads=3"), "refused"));  // 16 heads are not shared by three
    CHECK_FALSE(contains(filled(*walk, 0, "KV at key heads=4"), "refused"));
}

TEST_CASE("placeholders: what is nowhere is refused with what and where") {
    const auto walk = walk_of("flash-forward", worked_example());
    CHECK(contains(filled(*walk, walk->size(), "step"), "the walk has no step 41"));
    CHECK(contains(filled(*walk, -1, "step"), "the walk has no step 0"));
    CHECK(contains(filled(*walk, 3, "moved in nowhere"), "there is no lesson \"nowhere\""));
    for (const char* none : {"m", "[0]", "m[0", "m[x]", "m[0,]", "m[-1]", "m[99999999999]"})
        CHECK(contains(filled(*walk, 20, none), "is neither a cell nor a known number"));
    CHECK(contains(filled(*walk, 0, "l[0]"), "there is no l[0] at step 1"));
    CHECK(contains(filled(*walk, 0, "O[0,0] before"), "there is no O[0,0] before step 1"));
    CHECK(contains(filled(*walk, 20, "l[9]"), "there is no l[9]"));
}

TEST_CASE(
    "placeholders: the cells that a stop names are found once each, and numbers with units stay whole") {
    const auto walk = walk_of("flash-forward", worked_example());
    TourStop stop;
    stop.step = nth_step(*walk, Op::row_sum, 1);
    stop.text = {{number_span("l[0]"), {.text = " of "}, number_span("moved")},
                 {number_span("l[0] before"), number_span("alpha[1]"), number_span("m[7]")}};
    const std::vector<CellRef> cells = cells_named(stop, *walk);
    REQUIRE(cells.size() == 2);
    CHECK(cells[0] == CellRef{Slot::l, 0, 0});
    CHECK(cells[1] == CellRef{Slot::alpha, 1, 0});
    const std::vector<Line> text = filled_text(stop, *walk);
    REQUIRE(text.size() == 2);
    const Traffic& now = walk->step(stop.step).traffic;
    CHECK(plain(text[0]) == "1.639 of " + std::to_string(now.hbm_read + now.hbm_write) + "\u00A0B");
    CHECK(text[0].back().face == Span::Face::text);
    CHECK(plain(text[1]).ends_with("?"));  // the walk has no m[7]
    // In another walk the stop's step may not be there.
    stop.step = 10000;
    CHECK(cells_named(stop, *walk).empty());
    CHECK(plain(filled_text(stop, *walk)[0]).starts_with("?"));
}

// Resting on a cell shows its value in full and where it came from.
#include "core/base/numbers.h"
#include "tests/app/ui/harness.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace tilewalk::test;

TEST_CASE("a cell under the mouse names itself, its value and its sources") {
    Program program;
    program.go_to_step(4);  // S is there since the step before
    program.hover("S[1,0]", "SRAM");
    REQUIRE(program.state.hover);
    CHECK(*program.state.hover == CellRef{Slot::S, 1, 0});
    CHECK(program.state.hover_sources == explain(*program.state.trace, 3, CellRef{Slot::S, 1, 0}).sources);
    for (const CellRef& source : {CellRef{Slot::Qi, 1, 0}, {Slot::Kj, 0, 3}})
        CHECK(std::ranges::count(program.state.hover_sources, source) == 1);
    const double value = program.state.trace->live(Slot::S, 4).value->data(1, 0);
    program.check_shows({"S[1,0] = " + format_full(value), "scores, step 4"});
    program.mouse_away();
    program.frame(2);
    CHECK_FALSE(program.state.hover);
    CHECK(program.state.hover_sources.empty());
    CHECK_FALSE(program.shows("scores, step 4"));
}

TEST_CASE("a pointer that leaves the window between two frames takes its card along") {
    Program program(example("worked-4x4"), {1024, 640},
                    true);  // at 0.8, where its place is no longer a finite number of pixels
    program.go_to_step(4);
    program.hover("S[0,0]");
    program.hover("S[1,0]");
    REQUIRE(program.shows("scores, step 4"));
    REQUIRE(ui::font_scale() < 1);
    program.mouse_away();
    CHECK_FALSE(program.shows("scores, step 4"));
    program.frame();
    CHECK_FALSE(program.state.hover);
}

TEST_CASE("the value is shown with every digit it has") {
    Problem problem = example("worked-4x4");
    problem.Q(0, 0) = 1.0 / 3.0;
    Program program(problem);
    program.hover("Q[0,0]", "HBM");
    CHECK(program.shows("0.3333333333333333"));
}

TEST_CASE("an input has no sources, an output names the step that stored it") {
    Program program;
    program.hover("K[3,2]", "HBM");
    CHECK(program.state.hover == CellRef{Slot::K, 3, 2});
    CHECK(program.state.hover_sources.empty());
    program.go_to_step(39);
    program.hover("O[0,1]", "HBM");
    CHECK(program.state.hover == CellRef{Slot::O, 0, 1});
    CHECK(program.shows("step 20"));
}

TEST_CASE("every cell that a frame shows can be hovered") {
    for (const bool presenter : {false, true}) {
        Program program(example("ragged-7x5"), {}, presenter);
        program.go_to_step(program.state.trace->size() / 2);
        const std::vector<Item> shown = program.items();
        int cells = 0;
        for (const Item& item : shown) {
            if (item.kind != ItemKind::cell) continue;
            program.mouse_to(item);
            if (!program.state.hover) continue;  // a cell that holds nothing yet
            ++cells;
            const CellRef ref = *program.state.hover;
            const bool column = item.text.find(',') == std::string::npos;
            const std::string place =
                "[" + std::to_string(ref.row) + (column ? "" : "," + std::to_string(ref.col)) + "]";
            CHECK_MESSAGE(item.text.ends_with(place), item.text, " is not ", place);
        }
        CHECK(cells > (presenter ? 5 : 20));  // the stage shows the matrices of the step alone
    }
}

TEST_CASE("heat maps answer for their cells too") {
    Program program(random_with_tiles(64, 64, 8, 8));
    program.hover("hbm0 Q");
    REQUIRE(program.state.hover);
    CHECK(program.state.hover->slot == Slot::Q);
    const CellRef at = *program.state.hover;
    const double value = program.state.problem->Q(at.row, at.col);
    CHECK(program.shows(" = " + format_full(value)));
    const Item map = program.find("hbm0 Q");
    program.mouse_to(map.min.x + .5f, map.min.y + .5f);
    program.frame(2);
    CHECK(program.state.hover == CellRef{Slot::Q, 0, 0});
}

TEST_CASE("a click on a cell chooses it for the formula") {
    Program program;
    program.go_to_step(10);  // the tile of scores (0, 1) comes with step 12
    program.press(Key::right);
    REQUIRE(program.step() == 11);
    program.click("S[1,3]", "SRAM");
    CHECK(program.state.explanation.target == CellRef{Slot::S, 1, 3});
    CHECK(program.state.row == 1);
    program.click("S[0,2]", "SRAM");
    CHECK(program.state.explanation.target == CellRef{Slot::S, 0, 2});
    program.press(Key::right);
    CHECK(program.state.col == -1);  // the next step chooses for itself
}

TEST_CASE("a tooltip says what a button does") {
    Program program;
    program.hover("play");
    CHECK_FALSE(program.shows("Space)"));
    program.frame(40);
    CHECK(program.shows("Play, pause (Space)"));
}

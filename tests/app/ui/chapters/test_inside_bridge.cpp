// The bridge between the lesson, the page Kernel and CPU and the page Inside, and two rungs side by side:
// keys and buttons lead there and back, to the same number, and the layout holds.
#include "app/ui/chapters/compare/compare.h"
#include "app/ui/chapters/inside/bridge.h"
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/chapters/inside/ladder.h"
#include "app/ui/state/chapters.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

struct Crossing : Program {
    explicit Crossing(Problem problem = example("worked-4x4"), Screen size = {1600, 900})
        : Program(std::move(problem), size) {}
    void cross() {
        press(Key::v);
        if (state.page == Page::inside) wait_for_inside(state);
        frame(2);
    }
    /// What the kernel's lane holds where the bridge has led.
    const InsideArrival& arrival() const {
        REQUIRE(state.kernel_walk->arrived);
        return *state.kernel_walk->arrived;
    }
};

int step_of_kind(const Program& program, tilewalk::Op op) {
    for (int k = 0; k < program.state.trace->size(); ++k)
        if (program.state.trace->step(k).op == op) return k;
    FAIL("no such step");
    return 0;
}

}  // namespace

TEST_CASE("inside bridge: V leads from every kind of step to its lane, and back to the step") {
    using tilewalk::Op;
    Problem p = example("worked-4x4");
    p.Br = p.Bc = 4;  // one tile, as the kernel has it: the same numbers
    Crossing program(p);
    for (const Op op : {Op::load_q, Op::load_kv, Op::scores, Op::new_max, Op::correction, Op::exponentials,
                        Op::row_sum, Op::output, Op::store}) {
        CAPTURE(info(op).name);
        const int k = step_of_kind(program, op);
        program.go_to_step(k);
        program.press("down");
        const CellRef cell = chosen_cell(program.state);
        program.cross();
        CHECK(program.state.page == Page::inside);
        const InsideArrival& there = program.arrival();
        CHECK(std::abs(scaled(there.number, there.held) - there.number.value) <=
              .02 * (1 + std::abs(there.number.value)));
        CHECK(there.other.empty());
        const InsidePlace at = place_inside(program.state);
        CHECK(at.k == there.held.step);
        CHECK(at.lane == there.held.lane);
        program.check_shows({there.symbol, "in the lesson"});
        program.cross();
        CHECK(program.state.page == Page::walk);
        CHECK(program.state.cursor.step == k);
        CHECK(chosen_cell(program.state).row == cell.row);
    }
}

TEST_CASE("inside bridge: buttons on both sides do the same, and the palette finds it") {
    Crossing program;
    program.go_to_step(16);
    program.click("kernel");
    wait_for_inside(program.state);
    program.frame(2);
    CHECK(program.state.page == Page::inside);
    CHECK(program.arrival().symbol == "ℓ of row 0");
    program.click("to lesson");
    program.frame(2);
    CHECK(program.state.page == Page::walk);
    CHECK(program.state.cursor.step == 16);
}

TEST_CASE("inside bridge: another kernel's tile says that its number is of other keys") {
    Crossing program;
    program.go_to_step(step_of_kind(program, tilewalk::Op::new_max));
    program.cross();
    CHECK(contains(program.arrival().other, "f5-flash2 takes 64 keys at once: its m is that behind key 3"));
}

TEST_CASE("inside bridge: a row of another block makes that block run") {
    Crossing program(*random_problem(200, 32, 1));
    program.settle();
    program.go_to_step(program.state.trace->size() - 1);
    program.cross();
    CHECK(program.state.inside.block > 0);
    CHECK(program.arrival().number.writes);
    CHECK(place_inside(program.state).walk->block == program.state.inside.block);
}

TEST_CASE("inside bridge: from a cell of Kernel and CPU to the lane that wrote it, and back to the cell") {
    Crossing program;
    program.state.page = Page::compare;
    compare_page(program.state);
    wait_for_comparison(program.state);
    program.frame(2);
    program.state.compare.map = "P tile";
    program.frame();
    const auto map = map_of(program.state);
    REQUIRE(map);
    choose_cell(program.state, *map, 3, 5);
    program.frame(2);
    program.cross();
    CHECK(program.state.page == Page::inside);
    const InsideArrival& there = program.arrival();
    CHECK(there.symbol == "P\u0303 of row " + str(map->row0 + 3) + ", column " + str(map->column0 + 5));
    CHECK(scaled(there.number, there.held) == doctest::Approx(there.number.value));
    program.check_shows({"on Kernel and CPU"});
    program.cross();
    CHECK(program.state.page == Page::compare);
    program.state.compare.map = "O";
    program.frame(2);
    program.cross();
    CHECK(program.arrival().number.writes);
    CHECK(place_inside(program.state).event->op == inside::Op::store);
}

TEST_CASE("inside bridge: where there is no way a sentence says so") {
    Crossing program;
    program.go_to_step(1);  // m ← −∞
    program.cross();
    CHECK(program.shows("plain code of registers"));
    Crossing other;
    other.show_lesson("attention");
    other.press(Key::v);
    CHECK(other.shows("the way to them begins there"));
    Crossing large(*random_problem(300, 64, 1));
    large.settle();
    large.cross();
    CHECK(large.shows("too large to be recorded"));
}

TEST_CASE("two rungs: R shows them, arrows choose them, and the numbers are those of the record") {
    Crossing program;
    program.state.page = Page::inside;
    program.press(Key::r);
    wait_for_inside(program.state);
    program.frame(2);
    program.check_shows({"f4b-copies-ahead, bf16", "f5-flash2, bf16", "Loaded from HBM", "What it saved",
                         "48 KiB", "f5-flash2 saves"});
    program.press(Key::up);
    wait_for_inside(program.state);
    program.frame(2);
    CHECK(ladder_against(program.state) == "f4-tensor-core");
    program.press(Key::left);
    wait_for_inside(program.state);
    CHECK(program.state.inside.kernel == "f4b-copies-ahead");
    program.state.inside.kernel = "f7-hopper", program.state.inside.against.clear();
    CHECK(ladder_against(program.state) == "f5-flash2");
    program.state.inside.kernel = "f4b-copies-ahead";
    program.press(Key::r);
    wait_for_inside(program.state);
    program.frame(2);
    CHECK(program.shows("times run"));
}

TEST_CASE(
    "two rungs: what is not counted is said on stage as well, below the table, and only where it is so") {
    const auto stage = [](const char* kernel, const char* against) {
        Crossing program(example("worked-4x4"), {1280, 720});
        program.state.page = Page::inside;
        program.state.presenter = true;
        program.state.inside.kernel = kernel, program.state.inside.against = against;
        program.state.inside.ladder = true;
        wait_for_inside(program.state);
        program.frame(2);
        return std::pair(program.shows("plain arithmetic"), program.shows("library"));
    };
    CHECK(stage("f4-tensor-core", "f3-warp-rows") == std::pair(true, false));
    CHECK(stage("f1-online-row", "f0-cublas").second);
    CHECK(stage("f5-flash2", "f4b-copies-ahead") == std::pair(false, false));
}

TEST_CASE("two rungs and the bridge: texts have their place at every size and in every theme") {
    for (const Screen& screen : all_screens)
        for (const bool presenter : {false, true})
            for (const char* against : {"f4b-copies-ahead", "f2-tiled-fp32", "f0-cublas"}) {
                Crossing program(example("worked-4x4"), screen);
                program.state.page = Page::inside;
                program.state.presenter = presenter;
                program.state.inside.ladder = true, program.state.inside.against = against;
                wait_for_inside(program.state);
                check_new_frame(program, against);
            }
    for (const ThemeId id : all_themes) {
        Crossing program(example("worked-4x4"), {1280, 720});
        program.state.settings.theme = id;
        program.go_to_step(16);
        program.cross();
        check_new_frame(program, "arrived");
        program.state.inside.ladder = true;
        wait_for_inside(program.state);
        check_new_frame(program, "two rungs");
    }
}

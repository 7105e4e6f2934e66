// Walking through the lesson with the mouse, and playing it.
#include "app/ui/shell/frame.h"
#include "app/ui/state/state.h"
#include "tests/app/ui/harness.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace tilewalk::test;

TEST_CASE("the buttons of the timeline walk") {
    Program program;
    program.check_steps({{"forward", 1},
                         {"forward", 2},
                         {"back", 1},
                         {"last", 39},
                         {"forward", 39},
                         {"first", 0},
                         {"back", 0}});
}

TEST_CASE("the level decides how far a button goes") {
    Program program;
    program.check_steps({{"level/Block", 0},
                         {"forward", 19},  // the end of query block 0
                         {"first", 0},
                         {"level/Tile", 0},
                         {"forward", 1},  // Q is there
                         {"forward", 9},  // the end of tile (0, 0)
                         {"level/Row", 9}});
    program.go_to_step(3);
    for (const int done : {1, 2}) {
        program.click("forward");
        CHECK(program.state.cursor == Cursor{4, done});
    }
    program.check_steps({{"level/Step", 4}, {"forward", 5}});
}

TEST_CASE("a click on the timeline goes to the step below it, a drag follows the mouse") {
    Program program;
    const Item rail = program.find("timeline");
    const float lane = (rail.max.y - rail.min.y) / 2;
    program.click_at(rail.max.x - 40, rail.min.y + lane * .3f);
    const int right_end = program.step();
    CHECK(right_end == 19);  // the first of two query blocks has 20 of the 40 steps
    program.mouse_to(rail.min.x + 4, rail.min.y + lane * .3f);
    program.mouse_down();
    CHECK(program.step() == 0);
    program.mouse_to((rail.min.x + rail.max.x) / 2, rail.min.y + lane * .3f);
    program.frame();
    const int middle = program.step();
    CHECK(middle > 5);
    CHECK(middle < 19);
    program.mouse_to((rail.min.x + rail.max.x) / 2, rail.min.y + lane * 1.3f);
    program.frame();
    CHECK(program.step() == middle + 20);
    program.mouse_to(rail.min.x - 500, rail.min.y - 300);
    program.frame();
    CHECK(program.step() == 0);
    program.mouse_up();
    program.mouse_to(rail.max.x - 40, rail.min.y + 4);
    CHECK(program.step() == 0);
}

TEST_CASE("go to step: typed, entered, refused, left") {
    Program program;
    program.click("goto");
    CHECK(program.state.show_goto);
    program.enter("17");
    CHECK(program.step() == 16);
    CHECK_FALSE(program.state.show_goto);

    program.press(Key::g);
    program.enter("99");
    CHECK(program.step() == 16);
    check_contains(program.state.notice, {"99", "1 to 40"});
    CHECK(program.shows("There is no step"));
    CHECK(program.state.show_goto);  // to be corrected

    program.press("escape escape");
    program.frame(2);
    CHECK_FALSE(program.state.show_goto);
    program.press(Key::right);
    CHECK(program.step() == 17);
}

TEST_CASE("what is typed into go to step replaces what was refused") {
    Program program;
    program.press(Key::g);
    program.enter("0");
    program.frame(3);
    REQUIRE(program.state.show_goto);
    program.retype("3");
    program.press(Key::enter);
    CHECK(program.step() == 2);
}

TEST_CASE("a click beside it closes go to step") {
    Program program;
    program.press(Key::g);
    REQUIRE(program.look_for("step", "Go to step"));
    program.click_at(100, 500);
    program.frame(2);
    CHECK_FALSE(program.state.show_goto);
}

TEST_CASE("the row picker changes the row of the formula") {
    Program program;
    program.go_to_step(16);
    const std::string before = plain(program.state.explanation.numbers);
    program.click("row/1");
    CHECK(program.state.row == 1);
    CHECK(plain(program.state.explanation.numbers) != before);
    program.press(Key::up);
    CHECK(plain(program.state.explanation.numbers) == before);
    program.press(Key::up);
    CHECK(program.state.row == 0);
    for (int n = 0; n < 4; ++n) program.press(Key::down);
    CHECK(program.state.row == 1);
}

TEST_CASE("more than three rows are chosen with a stepper") {
    Program program(random_with_tiles(16, 8, 8, 4));
    program.go_to_step(3);
    program.click("row/more");
    CHECK(program.state.row == 1);
    program.click("row/value");
    program.enter("6");
    CHECK(program.state.row == 6);
    program.click("row/less");
    CHECK(program.state.row == 5);
}

TEST_CASE("the speed slider sets the steps per second") {
    Program program;
    const Item rail = program.find("speed");
    const float y = (rail.min.y + rail.max.y) / 2;
    program.mouse_to(rail.min.x + 12, y);
    program.mouse_down();
    program.mouse_to(rail.max.x + 100, y);
    CHECK(program.state.settings.speed == 8);
    program.mouse_to(rail.min.x - 100, y);
    CHECK(program.state.settings.speed == .25);
    program.mouse_up();
    program.mouse_to(rail.max.x, y);
    CHECK(program.state.settings.speed == .25);
}

TEST_CASE("playing goes on with time and stops at the end") {
    Program program;
    program.state.settings.speed = 2;
    program.click("play");
    REQUIRE(program.state.player.playing);
    const int begin = program.step();
    program.frame(20, .1f);
    CHECK(program.step() - begin >= 3);
    CHECK(program.step() - begin <= 5);
    program.press(Key::space);
    CHECK_FALSE(program.state.player.playing);
    const int paused = program.step();
    program.frame(20, .1f);
    CHECK(program.step() == paused);
    program.press(Key::space);
    program.frame(400, .1f);
    CHECK(program.step() == 39);
    CHECK_FALSE(program.state.player.playing);
    program.press(Key::space);  // once more from the beginning
    CHECK(program.state.player.playing);
    CHECK(program.step() == 0);
}

TEST_CASE("the arrow keys and the timeline stop the playing") {
    Program program;
    program.press("space right");
    CHECK_FALSE(program.state.player.playing);
    program.press(Key::space);
    program.click("forward");
    CHECK_FALSE(program.state.player.playing);
}

TEST_CASE("at full speed every step is passed, none is left out") {
    Program program;
    program.state.settings.speed = 8;
    program.press(Key::space);
    int last = program.step();
    for (int n = 0; n < 600 && program.state.player.playing; ++n) {
        program.frame(1, 1.0f / 60);
        CHECK(program.step() - last <= 1);
        last = program.step();
    }
    CHECK(last == 39);
    program.frame(20);
    CHECK_FALSE(animating(program.state));
}

TEST_CASE("row by row, playing shows every row") {
    Program program;
    program.click("level/Row");
    program.go_to_step(4);
    program.state.settings.speed = 8;
    program.press(Key::space);
    std::vector<Cursor> seen;
    for (int n = 0; n < 40; ++n) {
        program.frame(1, 1.0f / 60);
        if (seen.empty() || !(seen.back() == program.state.cursor)) seen.push_back(program.state.cursor);
    }
    REQUIRE(seen.size() >= 3);
    CHECK(seen[seen.size() - 1].step - seen[0].step <= static_cast<int>(seen.size()) / 2 + 1);
}

TEST_CASE("nothing moves once the step stands") {
    Program program;
    program.press(Key::right);
    CHECK(animating(program.state));
    program.frame(30);
    CHECK(animating(program.state));  // its motion takes longer than the transition
    program.frame(30);
    CHECK(std::isinf(idle_seconds(program.state)));
    program.press("a right");
    CHECK(std::isinf(idle_seconds(program.state)));
    program.state.settings.speed = 2;
    program.press(Key::space);  // the window may sleep until the next step is due
    CHECK(idle_seconds(program.state) > .2);
    CHECK(idle_seconds(program.state) <= .5);
}

TEST_CASE("a notice goes away by itself") {
    Program program;
    notify(program.state, "Read me.");
    program.frame();
    CHECK(program.shows("Read me."));
    program.frame(40, .25f);
    CHECK_FALSE(program.shows("Read me."));
    CHECK_FALSE(animating(program.state));
}

TEST_CASE("a step looks the same from wherever one comes") {
    for (const bool presenter : {false, true}) {
        Program program(example("causal-8"), {1280, 720}, presenter);
        program.state.settings.motion = false;
        const int n = program.state.trace->size();
        std::vector<std::size_t> forwards;
        const auto hash = [&] {
            const Image image = program.picture();
            return std::hash<std::string_view>{}(
                {reinterpret_cast<const char*>(image.rgba.data()), image.rgba.size()});
        };
        const int pace = std::max(1, n / 12);
        program.frame(2);
        for (int k = 0; k < n; ++k) {
            if (k % pace == 0) forwards.push_back(hash());
            program.press(Key::right);
        }
        for (int k = n - 1; k >= 0; --k) {
            if (k % pace == 0) CHECK(hash() == forwards[static_cast<std::size_t>(k / pace)]);
            program.press(Key::left);
        }
        for (const int k : {3 * pace, 7 * pace, pace}) {
            program.go_to_step(k);
            CHECK(hash() == forwards[static_cast<std::size_t>(k / pace)]);
        }
    }
}

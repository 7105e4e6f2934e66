// Presenter mode with a mouse alone, and what an edit does to the history and the title.
#include "app/ui/state.h"
#include "core/explain.h"
#include "tests/app/ui/harness.h"

#include <doctest/doctest.h>

using namespace tilewalk;
using namespace tilewalk::test;
using namespace tilewalk::ui;

TEST_CASE("presenter mode shows its buttons while the mouse moves, and they lead on and out") {
    Program program;
    program.press(Key::p);
    program.frame(3);
    CHECK(program.look_for("leave") == nullptr);
    program.mouse_to(650, 300);
    program.mouse_to(700, 300);
    program.frame();
    program.click("forward");
    CHECK(program.step() == 1);
    program.click("back");
    CHECK(program.step() == 0);
    CHECK(idle_seconds(program.state) < presenter_buttons_seconds + 1);

    program.frame(40, 0.1f);  // the mouse rests
    CHECK(program.look_for("leave") == nullptr);
    program.mouse_to(600, 36);
    program.frame();
    program.click("leave");
    CHECK_FALSE(program.state.presenter);
}

TEST_CASE("a new edit ends what could be redone") {
    Program program;
    set_element(program.state, {Slot::Q, 0, 0}, 2);
    undo(program.state);
    REQUIRE(program.state.redo.size() == 1);
    set_element(program.state, {Slot::Q, 0, 0}, 3);
    CHECK(program.state.redo.empty());
    redo(program.state);
    CHECK(program.state.problem->Q(0, 0) == 3);
    undo(program.state);
    CHECK(program.state.problem->Q(0, 0) == 1);
}

TEST_CASE("row by row, the formula follows the newest row") {
    Program program;
    program.go_to_step(15);
    program.press({Key::right, false, false, true});
    CHECK(program.state.cursor == Cursor{16, 1});
    CHECK(program.state.explanation.target == CellRef{Slot::l, 0, 0});
    program.press({Key::right, false, false, true});
    CHECK(program.state.cursor == Cursor{16, 2});
    program.press(Key::down);
    CHECK(program.state.explanation.target == CellRef{Slot::l, 1, 0});
}

TEST_CASE("an example that is changed says so, and no longer what to watch") {
    Program program;
    const std::string title = program.state.problem->title;
    REQUIRE_FALSE(program.state.problem->watch.empty());
    program.press(Key::i);
    program.click("Br/more");
    CHECK(program.state.problem->Br == 3);
    CHECK(program.state.problem->title == title + " (changed)");
    CHECK(program.state.problem->watch.empty());
}

TEST_CASE("the rows of a ragged block bound the choice of the row") {
    Problem p = example("ragged-7x5");
    p.Br = 100;
    Program program(p);
    program.go_to_step(5);
    for (int n = 0; n < 30; ++n) program.press(Key::down);
    CHECK(program.state.row == p.N() - 1);
    program.press(Key::up);
    CHECK(program.state.row == p.N() - 2);
}

TEST_CASE("the list of examples takes the arrow keys, Enter and Escape while it is open") {
    Program program;
    program.click("example");
    program.frame(2);
    REQUIRE(program.state.menu_open);
    const int row = program.state.row, step = program.step();
    program.press(Key::down);
    program.press(Key::down);
    program.press(Key::space);
    CHECK(program.state.menu_at == 2);
    CHECK(program.state.row == row);
    CHECK_FALSE(program.state.player.playing);
    program.press(Key::escape);
    program.frame(2);
    CHECK_FALSE(program.state.menu_open);
    CHECK(program.step() == step);
    CHECK(program.state.problem->name == "worked-4x4");

    program.click("example");
    program.frame(2);
    program.press(Key::down);
    program.press(Key::enter);
    program.frame(2);
    CHECK_FALSE(program.state.menu_open);
    CHECK(program.state.problem->name == program.state.examples[1].name);
    program.press(Key::right);
    CHECK(program.step() == 1);
}

TEST_CASE("the first step says where the walk leads and what to watch") {
    Program program;
    CHECK(program.shows("softmax"));
    CHECK(program.shows("Watch:"));
    program.press(Key::right);
    program.frame();
    CHECK_FALSE(program.shows("Watch:"));
}

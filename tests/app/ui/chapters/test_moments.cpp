// The moments of a lecture: how many presses lead to each from the start of the program, and from where.
#include "app/ui/cards/cards.h"
#include "app/ui/chapters/compare/page.h"
#include "app/ui/chapters/start/moments.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "core/walk/compare.h"
#include "tests/app/ui/harness.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>

using namespace tilewalk::test;

namespace {

double now(const AppState& state, Slot slot, int row) {
    const Value& value = *state.trace->live(slot, state.cursor.step).value;
    return value.data(row - value.region.row, 0);
}

bool shows_correction(const AppState& state) {
    const int step = state.cursor.step + 1;
    return state.page == Page::walk && std::string_view(state.lesson->id) == "flash-forward" &&
           state.problem->name == "worked-4x4" && step >= 15 && step <= 18;
}

// Keys one after the other until it is seen.
int presses_until(Program& program, std::initializer_list<const char*> keys, bool (*seen)(const AppState&)) {
    int count = 0;
    for (const char* key : keys) {
        if (seen(program.state)) break;
        program.press(key);
        ++count;
    }
    CHECK(seen(program.state));
    return count;
}

}  // namespace

TEST_CASE("from the start of the program two presses lead to each moment, in the window and on stage") {
    for (const bool presenter : {false, true}) {
        Program program(example("worked-4x4"), {1280, 720}, presenter);
        program.state.page = Page::start;
        program.frame();
        CHECK(presses_until(program, {"alt+1", "right"}, shows_correction) <= 2);
        CHECK_FALSE(broken_walk(program.state));
        CHECK(now(program.state, Slot::alpha, 0) == doctest::Approx(std::exp(-1.0)));

        const auto without = [](const AppState& s) {
            return shows_correction(s) && s.problem->switches.no_correction && broken_walk(s);
        };
        CHECK(presses_until(program, {"alt+2", "right"}, without) <= 2);
        const AppState& s = program.state;
        CHECK(now(s, Slot::l, 0) > *true_value(*s.truth, {Slot::l, 0, 0}, s.cursor.step) + .5);

        const auto long_one = [](const AppState& at) {
            return at.page == Page::memory && at.memory.N == 16384;
        };
        CHECK(presses_until(program, {"alt+3", "up"}, long_one) <= 2);
        const auto kernels = [](const AppState& at) { return at.page == Page::scale; };
        CHECK(presses_until(program, {"alt+4", "enter"}, kernels) <= 2);
        const auto beside = [](const AppState& at) {
            return at.page == Page::compare && !at.problem->broken() && at.problem->name == "worked-4x4";
        };
        CHECK(presses_until(program, {"alt+5", "enter"}, beside) <= 2);
        // The page shows the very number that the walk has shown, as the kernel has it and as the CPU has it.
        wait_for_comparison(program.state);
        program.frame(2);
        CHECK(program.shows("4 × 4"));
        const auto sum = walk_of("flash-forward", example("worked-4x4"));
        const double l = sum->live(Slot::l, nth_step(*sum, Op::row_sum, 1)).value->data(0, 0);
        int there = 0;
        for (const Item& item : program.items())
            there += item.kind == ItemKind::text && contains(item.text, format_fixed(l, 6));
        CHECK(there >= 2);
        // And the one that its card has told: the output's number farthest from fp64.
        const OutputVerdict& verdict = program.state.comparing->shown->nearest();
        CHECK_MESSAGE(program.shows(format_short(verdict.worst.exact)), verdict.worst.exact);
        CHECK_FALSE(program.shows("No cell differs"));
        CHECK(program.state.presenter == presenter);
    }
}

TEST_CASE("a moment is there from every page, over every card, from a blank stage and out of a text field") {
    for (const Page page :
         {Page::walk, Page::memory, Page::scale, Page::inside, Page::compare, Page::start}) {
        Program program;
        program.state.page = page;
        program.frame();
        program.press("alt+1");
        CHECK(shows_correction(program.state));
    }
    for (const Card* card : cards) {
        CAPTURE(card->name);
        Program program;
        card->open(program.state);
        program.frame(2);
        program.press("alt+1");
        const bool beside = card == &tour_card || card == &quiz_card || card == &marks_card;
        CHECK((beside || !card->is_open(program.state)));
        CHECK(shows_correction(program.state));
    }
    Program program(example("worked-4x4"), {1280, 720}, true);
    program.press(".");
    REQUIRE(program.state.blank);
    program.press("alt+1");
    CHECK_FALSE(program.state.blank);
    CHECK(shows_correction(program.state));
    program.press("escape i");
    program.click("problem tab/Numbers");
    program.click("path");
    REQUIRE(ImGui::GetIO().WantTextInput);
    program.press("alt+3");
    CHECK(program.state.page == Page::memory);
}

TEST_CASE("Ctrl Z leads from a moment back to the user's own problem; the same moment twice is one edit") {
    Program program(random_with_tiles(6, 4, 2, 2));
    const ProblemPtr own = program.state.problem;
    program.press("alt+1 alt+1");
    CHECK(shows_correction(program.state));
    program.press("ctrl+z");
    CHECK(program.state.problem == own);
}

TEST_CASE(
    "Ctrl Z leads from moments back to the lesson, the step and the page that were left, one after another") {
    Program program(random_with_tiles(6, 4, 2, 2));
    program.show_lesson("softmax-2pass");
    program.go_to_step(7);
    program.state.row = 2, program.state.row_chosen = true;
    const ProblemPtr own = program.state.problem;
    program.press("alt+1 alt+2");
    CHECK(broken_walk(program.state));
    program.press("left left ctrl+z");
    CHECK(shows_correction(program.state));
    CHECK_FALSE(broken_walk(program.state));
    set_element(program.state, {Slot::Q, 0, 0}, 2);  // an edit on the way is undone first
    program.press("ctrl+z");
    CHECK(program.state.problem->Q(0, 0) == 1);
    CHECK(program.state.lesson->id == std::string("flash-forward"));
    program.press("ctrl+z");
    CHECK(program.state.problem == own);
    CHECK(program.state.lesson->id == std::string("softmax-2pass"));
    CHECK(program.step() == 7);
    CHECK(program.state.row == 2);
    program.press("ctrl+z");
    CHECK(program.state.notice == "There is nothing to undo.");
}

TEST_CASE("Ctrl Z leads from the pages of moments back to the step that was left") {
    for (const char* moment : {"alt+3", "alt+4", "alt+5"}) {
        CAPTURE(moment);
        Program program(random_with_tiles(6, 4, 2, 2));
        const ProblemPtr own = program.state.problem;
        program.go_to_step(7);
        program.press(moment);
        CHECK(program.state.page != Page::walk);
        program.press("ctrl+z");
        CHECK(program.state.page == Page::walk);
        CHECK(program.state.problem == own);
        CHECK(program.step() == 7);
    }
    // Back by another way: it is the edit that is undone.
    Program program(example("worked-4x4"));
    set_element(program.state, {Slot::Q, 0, 0}, 2);
    program.press("alt+3");
    program.state.page = Page::walk;
    program.press("ctrl+z");
    CHECK(program.state.problem->Q(0, 0) == 1);
}

TEST_CASE("every moment has a line in the list of keys, and a key and a name of its own") {
    std::set<std::string> keys, ids, titles;
    for (const Moment& moment : moments()) {
        CHECK(keys.insert(moment.keys).second);
        CHECK(ids.insert(moment.id).second);
        CHECK(titles.insert(moment.title).second);
        CHECK(moment_of(moment.press) == &moment);
        CHECK(std::ranges::count(shortcuts(), std::string_view(moment.action),
                                 [](const Shortcut& s) { return std::string_view(s.action); }) == 1);
    }
    CHECK(moment_of({Key::one}) == nullptr);
    CHECK(moment_of({Key::one, true, false, true}) == nullptr);
}

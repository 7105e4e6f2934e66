// The table of cards: what is drawn later lies on top and has the keys first.
#include "app/ui/cards/cards.h"
#include "app/ui/kit/imgui_compat.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "tests/app/ui/harness.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <ranges>

using namespace tilewalk::test;

namespace {

// As its shortcut does; a question comes only when a step is taken.
void open(Program& program, const Card& card) {
    AppState& state = program.state;
    card.open(state);
    state.settings.question_each = true;
    for (int n = 0; &card == &quiz_card && !card.is_open(state) && n < 20; ++n)
        step_forward(state, Level::step);
    program.frame(2);
    if (&card == &tour_card) program.go_to_step(3);  // where every card has something to speak of
    REQUIRE_MESSAGE(card.is_open(state), card.name);
}

// Past the field that may have the caret.
void press_escape(Program& program) {
    program.state.keys.push_back({Key::escape});
    program.frame(2);
}

// The order in which the last frame drew the panels.
std::ptrdiff_t place_of(const Program& program, const Card& card) {
    const auto is_it = [&](const Item& item) {
        return item.kind == ItemKind::panel && item.text == card.name;
    };
    return std::ranges::find_if(program.items(), is_it) - program.items().begin();
}

}  // namespace

TEST_CASE("of two open cards the upper one is drawn later, lies on top, and Escape closes it first") {
    for (std::size_t above = 0; above < std::size(cards); ++above)
        for (std::size_t below = 0; below < above; ++below)
            for (const bool upper_first : {false, true}) {
                const Card &upper = *cards[above], &lower = *cards[below];
                CAPTURE(std::string(upper.name));
                CAPTURE(std::string(lower.name));
                CAPTURE(upper_first);
                Program program;
                program.go_to_step(3);
                if (upper_first && &lower == &tour_card) continue;  // a tour begins at a step of its own
                open(program, upper_first ? upper : lower);
                open(program, upper_first ? lower : upper);
                if (!upper.is_open(program.state) || !lower.is_open(program.state)) continue;
                CHECK(place_of(program, lower) < place_of(program, upper));
                CHECK(lies_above(upper.name, lower.name));
                CHECK_FALSE(lies_above(lower.name, upper.name));
                press_escape(program);
                CHECK_FALSE(upper.is_open(program.state));
                CHECK(lower.is_open(program.state));
                press_escape(program);
                CHECK_FALSE(lower.is_open(program.state));
            }
}

TEST_CASE("each card has a name, a shortcut and a line in the list of keys of its own") {
    for (const Card* card : cards) {
        CAPTURE(card->name);
        const auto same = [&](const Card* other) {
            return std::string_view(other->name) == card->name ||
                   (other->shortcut.key == card->shortcut.key && other->shortcut.ctrl == card->shortcut.ctrl);
        };
        CHECK(std::ranges::count_if(cards, same) == 1);
        const auto line = [&](const Shortcut& s) { return std::string_view(s.action) == card->action; };
        CHECK(std::ranges::count_if(shortcuts(), line) == 1);
    }
}

TEST_CASE("the shortcut opens the card, on the pages without a walk too where it is of use there") {
    for (const Page page : {Page::walk, Page::memory, Page::scale, Page::inside, Page::compare, Page::start})
        for (const Card* card : cards) {
            if (card == &quiz_card) continue;  // waits for a step
            CAPTURE(card->name);
            CAPTURE(static_cast<int>(page));
            Program program;
            program.state.page = page;
            program.frame();
            program.press(card->shortcut);
            // That page has its own list of faults, and instructions in place of steps.
            const bool of_kernel = page == Page::inside && (card == &fault_card || card == &goto_card);
            CHECK(card->is_open(program.state) == (page == Page::walk || !card->of_walk || of_kernel));
        }
}

TEST_CASE("Escape closes the list of breakpoints before the tour that lies below it") {
    Program program;
    open(program, tour_card);
    go_to_stop(program.state, 13);
    program.settle();
    REQUIRE(program.state.page == Page::walk);
    program.press("shift+f9");
    REQUIRE(marks_card.is_open(program.state));
    press_escape(program);
    CHECK_FALSE(marks_card.is_open(program.state));
    CHECK(program.state.tour);
    press_escape(program);
    CHECK_FALSE(program.state.tour);
}

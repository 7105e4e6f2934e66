// A page that is loaded once more goes on with what stood open.
#include "app/cli/left_open.h"
#include "app/cli/session.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/lessons/table.h"
#include "tests/core/problems.h"
#include "tests/good.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

ui::AppState begun() { return good(make_session({}, {})); }

// What the page would have after it was loaded once more, at the same place.
ui::AppState again(const ui::AppState& left) {
    ui::AppState state = good(make_session({}, left.settings));
    ui::go_to(state, left.cursor);
    open_what_was_left(state, left_open(left));
    return state;
}

}  // namespace

TEST_SUITE("left open") {
    TEST_CASE("nothing is open, nothing is said; and nonsense opens nothing") {
        CHECK(left_open(begun()) == "");
        for (const char* text : {"", "{", "[]", "7", "{\"tour\": true, \"edit\": 7, \"questions\": []}",
                                 "{\"edit\": {\"slot\": \"Q\", \"row\": 999, \"col\": -2}}",
                                 "{\"questions\": {\"gaps\": 99, \"asked\": \"x\", \"answers\": [3]}}"}) {
            ui::AppState state = begun();
            open_what_was_left(state, text);
            CHECK_FALSE(state.tour);
            CHECK_FALSE(state.edit);
            CHECK_FALSE(left_on_tour(text));
        }
    }

    TEST_CASE("the tour goes on at its stop, and leads back to where it began") {
        ui::AppState left = begun();
        ui::go_to(left, at_step(*left.trace, 5));
        ui::toggle_tour(left);
        ui::go_to_stop(left, 3);
        CHECK(left_on_tour(left_open(left)));
        ui::AppState state = again(left);
        REQUIRE(state.tour);
        CHECK(state.tour->at == 3);
        CHECK(state.lesson == left.lesson);
    }

    TEST_CASE("questions go on with their answers, the open one with what was typed") {
        ui::AppState left = begun();
        left.settings.question_each = true;
        ui::toggle_questions(left);
        ui::go_to(left, at_step(*left.trace, 16));
        REQUIRE(ui::asks_before(left, at_step(*left.trace, 17)));
        ui::skip_question(left);
        int next = left.cursor.step + 1;
        while (!ui::asks_before(left, at_step(*left.trace, next)) || left.quiz->question.is_choice()) {
            if (ui::quiz_waits(left))
                ui::skip_question(left);
            else
                ui::go_to(left, at_step(*left.trace, next));
            next = left.cursor.step + 1;
            REQUIRE(next < left.trace->size());
        }
        ui::type_answer(*left.quiz, '2');
        const ui::AppState state = again(left);
        REQUIRE(ui::quiz_waits(state));
        CHECK(state.quiz->question.text == left.quiz->question.text);
        CHECK(std::string(state.quiz->current().text) == "2");
        CHECK(state.quiz->answers.size() == left.quiz->answers.size());
        CHECK(answers_to_csv(*state.quiz) == answers_to_csv(*left.quiz));
        CHECK(left_open(state) == left_open(left));
    }

    TEST_CASE("what is being typed into a cell stands there again") {
        ui::AppState left = begun();
        left.page = ui::Page::walk;
        ui::begin_edit(left, {Slot::K, 1, 0}, "hbm");
        REQUIRE(left.edit);
        left.edit->text[0] = '-', left.edit->text[1] = '4', left.edit->text[2] = 0;
        const ui::AppState state = again(left);
        REQUIRE(state.edit);
        CHECK(state.edit->cell == CellRef{Slot::K, 1, 0});
        CHECK(std::string(state.edit->text) == "-4");
        CHECK(state.edit->widget == "hbm");
    }
}

// Questions on the page Inside: when they are asked, how they are answered and what is hidden meanwhile.
// Their answers are tested with the kernels' records (tests/cuda/test_inside_questions.cpp).
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/state/quiz.h"
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>

#include <set>

using namespace tilewalk::test;

namespace {

using Kind = Question::Kind;
using inside::Event;

struct Questions : Program {
    explicit Questions(const std::string& kernel, Screen size = {}) : Program(example("worked-4x4"), size) {
        state.page = Page::inside;
        inside_page(state);
        choose_inside_kernel(state, kernel);
        wait_for_inside(state);
        frame(2);
    }
    InsidePlace at() const { return place_inside(state); }
};

}  // namespace

TEST_CASE("inside questions: the step is held back until the answer, on the desk and on stage") {
    for (const bool presenter : {false, true}) {
        Questions page("f5-flash2", {1280, 720});
        page.state.presenter = presenter;
        page.press(Key::q);
        CHECK(page.state.quiz);
        for (int n = 0; n < 400 && !quiz_waits(page.state); ++n) page.press(Key::right);
        REQUIRE(quiz_waits(page.state));
        const int held = page.state.inside.step;
        const Question question = page.state.quiz->question;
        page.frame(2);
        if (presenter) {
            while (quiz_waits(page.state) && !page.state.quiz->revealed) page.press(Key::enter);
            CHECK(page.state.inside.step == held);
            page.press(Key::enter);
        } else if (question.is_choice()) {
            page.press({static_cast<Key>(static_cast<int>(Key::one) + question.right.at(0))});
            page.press(Key::enter);
            CHECK(page.shows("Right: "));
            page.press(Key::enter);
        } else {
            page.enter(answer_text(question));
            CHECK(page.shows("Right: "));
            CHECK(page.state.inside.step == held);
            page.press(Key::enter);
        }
        CHECK(page.state.inside.step == held + 1);
        CHECK_FALSE(quiz_waits(page.state));
        page.press(Key::left);  // back, and on again: it is not asked twice
        page.press(Key::right);
        CHECK((page.state.inside.step == held + 1 || page.state.quiz->question.kind != question.kind));
    }
}

TEST_CASE("inside questions: Escape skips, and another warp leaves the question") {
    Questions page("f5-flash2", {1024, 640});
    page.press(Key::q);
    for (int n = 0; n < 400 && !quiz_waits(page.state); ++n) page.press(Key::right);
    REQUIRE(quiz_waits(page.state));
    const int held = page.state.inside.step;
    page.press(Key::escape);
    if (quiz_waits(page.state)) page.press(Key::escape);  // the first one left the field
    CHECK(page.state.inside.step == held + 1);
    CHECK(page.state.quiz->answers.at(0).lesson == "inside f5-flash2");
    CHECK(page.state.quiz->answers.at(0).outcome == QuizAnswer::Outcome::skipped);
    for (int n = 0; n < 400 && !quiz_waits(page.state); ++n) page.press(Key::right);
    REQUIRE(quiz_waits(page.state));
    choose_warp(page.state, 1);
    page.frame(1);
    CHECK_FALSE(quiz_waits(page.state));
}

static void check_fit(bool presenter, const Program& page, const char* what) {
    check_frame(page, what);
    for (const std::string& text : shortened_texts(page))
        if (!presenter && text.starts_with("Question:") && text != "Question: Save results…")
            FAIL_CHECK(page.where(), ", ", what, ": ", text);
}

TEST_CASE("inside questions: every card fits, before and after a wrong answer") {
    for (const bool presenter : {false, true}) {
        Questions page("f5-flash2", presenter ? Screen{1280, 720} : Screen{1024, 640});
        page.state.presenter = presenter;
        page.press(Key::q);
        std::set<Kind> seen;
        for (int n = 0; n < 900 && seen.size() < 4; ++n) {
            page.press(Key::right);
            if (!quiz_waits(page.state)) continue;
            const Question& q = page.state.quiz->question;
            if (seen.insert(q.kind).second) {
                INFO(q.text);
                page.frame(2);
                check_fit(presenter, page, "asked");
                if (!presenter && !q.is_choice()) {
                    page.enter(std::to_string(static_cast<int>(q.wrong.at(0).value)));
                    check_fit(presenter, page, "wrong once");
                    page.press(Key::backspace);
                    page.enter(std::to_string(static_cast<int>(q.wrong.back().value)));
                    check_fit(presenter, page, "wrong twice");
                } else if (presenter) {
                    page.press(Key::enter);
                    check_fit(presenter, page, "shown");
                }
            }
            go_on_after_question(page.state);
        }
        CHECK(seen.size() == 4);
    }
}

TEST_CASE("inside questions: while it is asked which lane holds a cell, the owners of C are not on screen") {
    Questions page("f5-flash2", {1280, 720});
    page.press(Key::q);
    // Behind a step that multiplies as well, whose 32 owners the page would name
    const auto asked = [&] {
        const Event& now = page.at().block().events[page.at().steps().event(0, page.state.inside.step)];
        return quiz_waits(page.state) && page.state.quiz->question.kind == Kind::lane_of_cell &&
               now.op == inside::Op::multiply_add;
    };
    for (int n = 0; n < 600 && !asked(); ++n) page.press(quiz_waits(page.state) ? Key::escape : Key::right);
    REQUIRE(asked());
    page.frame(2);
    // "30" and "31" as they stand in the last cells of a column each, twice on a page that tells
    const auto owners = [&] {
        return std::ranges::count_if(page.items(), [](const ui::Item& item) {
            return item.kind == ui::ItemKind::text && (item.text == "30" || item.text == "31");
        });
    };
    CHECK(hides_lanes(page.state));
    const auto hidden = owners();
    page.press(Key::escape);
    if (asked()) page.press(Key::escape);
    page.frame(2);
    CHECK_FALSE(hides_lanes(page.state));
    CHECK(owners() == hidden + 4);
}

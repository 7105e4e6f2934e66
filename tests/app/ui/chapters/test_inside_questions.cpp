// Questions on the page Inside: their answers are counted again here, from the record; wrong ones have their
// cause.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/state/quiz.h"
#include "core/class/questions_inside.h"
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace tilewalk::test;

namespace {

using Kind = Question::Kind;
using inside::Event;

struct Asked {
    Question question;
    const Event* event;
    std::span<const std::uint32_t> words;
    int warp, k;

    /// Word n of the lane, which takes part.
    std::uint32_t word(int lane, int n) const {
        const int before = std::popcount(event->lanes & ((1u << lane) - 1));
        return words[static_cast<std::size_t>(before * event->words + n)];
    }
};

struct Questions : Program {
    explicit Questions(const std::string& kernel, Screen size = {}) : Program(example("worked-4x4"), size) {
        state.page = Page::inside;
        inside_page(state);
        choose_inside_kernel(state, kernel);
        wait_for_inside(state);
        frame(2);
    }
    InsidePlace at() const { return place_inside(state); }

    /// All of two warps' steps, each kind once for a line.
    std::vector<Asked> all(int first_warp = 0) const {
        std::vector<Asked> out;
        std::set<std::pair<std::uint32_t, Kind>> seen;
        const InsidePlace here = at();
        for (int warp = first_warp; warp < first_warp + 2; ++warp)
            for (int k = 0; k < here.steps().count(warp); ++k)
                for (Question& q :
                     questions_inside({here.record(), here.block(), here.steps(), here.origins()}, warp, k)) {
                    const Event& e = here.block().events[here.steps().event(warp, k)];
                    if (k % 7 == 0 || seen.emplace(e.place, q.kind).second)
                        out.push_back({std::move(q), &e, here.block().words_of(e), warp, k});
                }
        return out;
    }
};

/// How often the worst of 32 banks is asked for different words by lanes 0 … 7, who want 16 bytes each.
int ways_of_first_eight(const Asked& a) {
    std::map<std::uint32_t, std::set<std::uint32_t>> words_of_bank;
    for (int lane = 0; lane < 8; ++lane)
        for (std::uint32_t n = 0; n < 4; ++n) {
            const std::uint32_t word = a.word(lane, 0) / 4 + n;
            words_of_bank[word % 32].insert(word);
        }
    std::size_t most = 0;
    for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
    return static_cast<int>(most);
}

int sectors_touched(const Asked& a) {
    std::set<std::uint32_t> sectors;
    const int from = a.event->op == inside::Op::copy_issued ? 1 : 0;
    for (int lane = 0; lane < 32; ++lane) {
        if (!(a.event->lanes >> lane & 1) || (a.event->op == inside::Op::copy_issued && a.word(lane, 2) == 0))
            continue;
        for (std::uint32_t n = 0; n < a.event->bytes; ++n) sectors.insert((a.word(lane, from) + n) / 32);
    }
    return static_cast<int>(sectors.size());
}

}  // namespace

TEST_CASE("inside questions: every kind is asked, and the answers are those of the record") {
    std::set<Kind> kinds;
    for (const char* kernel : {"f5-flash2", "f4-tensor-core", "f2-tiled-fp32"}) {
        const Questions page(kernel);
        for (const Asked& a : page.all()) {
            const Question& q = a.question;
            CAPTURE(kernel);
            CAPTURE(q.text);
            kinds.insert(q.kind);
            CHECK(check(q, q.is_choice() ? std::to_string(q.right.at(0) + 1) : answer_text(q)).kind ==
                  Verdict::Kind::right);
            CHECK(q.explanation.why.size() > 20);
            if (q.kind == Kind::bank_ways) CHECK(q.expected == ways_of_first_eight(a));
            if (q.kind == Kind::sectors) CHECK(q.expected == sectors_touched(a));
            if (q.kind == Kind::lane_of_cell) {
                // PTX ISA: row = groupID or groupID + 8, columns 2 · threadID_in_group and the one beside it.
                int row = 0, column = 0;
                REQUIRE(std::sscanf(q.text.c_str() + q.text.rfind("C["), "C[%d,%d]", &row, &column) == 2);
                const int lane = static_cast<int>(q.expected), group = lane / 4, in_group = lane % 4;
                CHECK((row == group || row == group + 8));
                CHECK((column % 8 == 2 * in_group || column % 8 == 2 * in_group + 1));
            }
            for (const WrongAnswer& wrong : q.wrong) {
                CHECK(wrong.value != q.expected);
                CHECK(check(q, std::to_string(static_cast<int>(wrong.value))).cause == wrong.cause);
            }
            if (!q.is_choice()) CHECK_FALSE(q.wrong.empty());
            // What is shown between two tries is not yet the answer.
            CHECK(plain(q.explanation.numbers) != answer_text(q));
            CHECK_FALSE(contains(plain(q.explanation.formula), "= " + answer_text(q)));
        }
    }
    CHECK(kinds == std::set{Kind::lane_of_cell, Kind::bank_ways, Kind::sectors, Kind::waits_for_copy});
}

TEST_CASE("inside questions: of f7 who holds a sum, which line waits for a tile, and what HBM sends") {
    const Questions page("f7-hopper");
    const InsidePlace at = page.at();
    std::set<Kind> kinds;
    std::vector<Asked> all = page.all();
    std::ranges::move(page.all(4), std::back_inserter(all));  // the producer fetches, consumers multiply
    for (const Asked& a : all) {
        const Question& q = a.question;
        CAPTURE(q.text);
        kinds.insert(q.kind);
        if (q.kind == Kind::lane_of_cell) {
            int row = 0, column = 0;
            REQUIRE(std::sscanf(q.text.c_str() + q.text.rfind("C["), "C[%d,%d]", &row, &column) == 2);
            CHECK(q.expected == row % 8 * 4 + column % 8 / 2);  // PTX ISA, the registers of wgmma's D
        }
        if (q.kind != Kind::waits_for_copy) continue;
        // Some warp waits at that line for the barrier that the tile reports to.
        const std::string& right = q.choices[static_cast<std::size_t>(q.right.at(0))];
        const auto waits_there = [&](const Event& e) {
            return e.op == inside::Op::wait_for && at.block().words_of(e)[0] == a.word(0, 5) &&
                   right == "line " + std::to_string(at.record().places[e.place].line) + ": wait_for";
        };
        CHECK(std::ranges::any_of(at.block().events, waits_there));
        CHECK(q.choices.size() >= 3);
    }
    CHECK(kinds.contains(Kind::lane_of_cell));
    CHECK(kinds.contains(Kind::waits_for_copy));
}

TEST_CASE("inside questions: the line that waits is the one behind which the copy has arrived") {
    const Questions page("f5-flash2");
    const InsidePlace at = page.at();
    int asked = 0;
    for (const Asked& a : page.all()) {
        const Question& q = a.question;
        if (q.kind != Kind::waits_for_copy) continue;
        ++asked;
        const std::string right = q.choices[static_cast<std::size_t>(q.right.at(0))];
        // The first step of the warp, behind this one, with which an arrival at this address comes.
        for (int k = a.k; k < at.steps().count(a.warp); ++k) {
            const auto arrived = at.steps().arrivals(a.warp, k);
            const bool here = std::ranges::any_of(arrived, [&](std::uint32_t n) {
                const Event& e = at.block().events[n];
                return e.place == a.event->place && at.block().words_of(e)[0] == a.words[0];
            });
            if (!here) continue;
            const Event& waits = at.block().events[at.steps().event(a.warp, k)];
            CHECK(waits.op == inside::Op::wait_copies);
            CHECK(contains(right, "line " + std::to_string(at.record().places[waits.place].line) + ": "));
            break;
        }
        for (int n = 0; n < static_cast<int>(q.choices.size()); ++n)
            if (n != q.right.at(0))
                CHECK(check(q, std::vector{n}).cause == q.causes[static_cast<std::size_t>(n)]);
    }
    CHECK(asked > 0);
}

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

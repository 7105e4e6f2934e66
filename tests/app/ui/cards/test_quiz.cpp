// Questions before a step: keys, mouse, both modes, the layout of the card, and the file of results.
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

using namespace tilewalk::test;

namespace {

using Kind = Question::Kind;

// Questions before every step, and the walk held before step k with one of this kind.
void ask(Program& program, int k, Kind kind) {
    if (!program.state.quiz) program.press(Key::q);
    program.state.settings.question_each = true;
    program.go_to_step(k - 1);
    program.state.notice.clear();
    program.press(Key::right);
    REQUIRE(quiz_waits(program.state));
    for (const Question& q : questions_before(*program.state.trace, k))
        if (q.kind == kind) {
            program.state.quiz->question = q;
            program.state.quiz->focus = true;
            program.frame(3);
            return;
        }
    FAIL("no question of this kind before step ", k);
}

int step_of(const Program& program, Op op, int from = 1) {
    for (int k = from; k < program.state.trace->size(); ++k)
        if (program.state.trace->step(k).op == op) return k;
    FAIL("no such step");
    return 0;
}

std::string number_of(int choice) { return std::to_string(choice + 1); }

void press_right_numbers(Program& program) {
    for (const int n : program.state.quiz->question.right) program.press(number_of(n));
}

}  // namespace

TEST_CASE("Q asks before a step; the right number is confirmed and Enter goes on") {
    Program program;
    const auto trace = program.state.trace;
    ask(program, 16, Kind::value);
    CHECK(program.step() == 15);
    CHECK(program.shows("Before the next step"));
    CHECK(ImGui::GetIO().WantTextInput);
    program.type(answer_text(program.state.quiz->question));
    program.press(Key::enter);
    program.check_shows({"Right: ℓ[", "1 of 1"});
    CHECK(program.step() == 15);
    program.press(Key::enter);
    CHECK(program.step() == 16);
    CHECK_FALSE(program.shows("Before the next step"));
    CHECK(program.state.trace == trace);
    program.go_to_step(15);
    program.press(Key::right);  // not asked twice
    CHECK(program.step() == 16);
    program.press(Key::q);
    CHECK_FALSE(program.state.quiz);
    program.press(Key::right);
    CHECK(program.step() == 17);
}

TEST_CASE("a wrong number: the formula, one more try, then the answer") {
    Program program;
    ask(program, 16, Kind::value);
    program.type("7.5");
    program.press(Key::enter);
    CHECK(program.shows("You typed 7.5; that is not it yet."));
    CHECK_FALSE(program.shows("Right:"));
    program.press(Key::backspace);
    CHECK(program.state.quiz->text[0] == 0);
    program.type("7.4");
    program.press(Key::enter);
    program.check_shows({"You typed 7.4; ℓ[", "0 of 1"});
    program.press(Key::backspace);  // no third try
    CHECK(program.state.quiz->decided());
    program.press(Key::page_down);
    CHECK(program.step() == 16);
    REQUIRE(program.state.quiz->answers.size() == 1);
    CHECK(program.state.quiz->answers[0].given == "7.4");
}

TEST_CASE("what is no number gets a sentence and another chance; Escape skips") {
    Program program;
    ask(program, 16, Kind::value);
    program.type("abc");
    program.press(Key::enter);
    CHECK(program.shows("\"abc\" is no number"));
    CHECK(program.state.quiz->open);
    CHECK(program.state.quiz->tries == 0);
    program.press(Key::escape);
    program.frame(2);
    if (program.state.quiz->open) program.press(Key::escape);  // the first one left the field
    CHECK(program.step() == 16);
    CHECK(quiz_score(*program.state.quiz).empty());
    CHECK(program.state.quiz->answers.at(0).outcome == QuizAnswer::Outcome::skipped);
}

TEST_CASE("choices by number keys, by arrows and Space, and by mouse") {
    Program program;
    const auto by_arrows = [&] {
        for (int n : program.state.quiz->question.right) {
            while (program.state.quiz->mark < n) program.press(Key::down);
            program.press(Key::space);
        }
    };
    const auto by_mouse = [&] {
        for (int n : program.state.quiz->question.right) program.click("choice " + number_of(n), "Question");
    };
    int right = 0;
    const std::function<void()> by_keys = [&] { press_right_numbers(program); };
    for (const auto& answer : {by_keys, std::function<void()>(by_arrows), std::function<void()>(by_mouse)}) {
        program.state.quiz.reset();
        ask(program, 10, Kind::read_from_hbm);
        answer();
        CHECK(program.state.quiz->chosen == program.state.quiz->question.right);
        ++right % 2 ? program.press(Key::enter) : program.click("check answer", "Question");
        CHECK(program.shows("Right: K and V."));
        right % 2 ? program.press(Key::enter) : program.click("go on", "Question");
        CHECK(program.step() == 10);
    }
    ask(program, 5, Kind::maximum_rises);
    program.press(Key::two);
    program.press(Key::one);  // one of them: the other gives way
    CHECK(program.state.quiz->chosen == std::vector<int>{0});
    program.press(Key::five);  // there is no fifth
    CHECK(program.state.quiz->chosen == std::vector<int>{0});
    CHECK(program.state.page == Page::walk);
}

TEST_CASE("going back never asks, leaps do not, and leaving the question is allowed") {
    Program program;
    program.press(Key::q);
    program.state.settings.question_each = true;
    program.go_to_step(16);
    program.press(Key::left);
    CHECK(program.step() == 15);
    program.press({Key::right, true});  // a tile
    CHECK(program.step() > 16);
    program.go_to_step(15);
    ask(program, 16, Kind::next_op);
    program.press(Key::home);
    CHECK(program.step() == 0);
    CHECK_FALSE(program.shows("Before the next step"));
    ask(program, 12, Kind::next_op);
    program.show_lesson("attention");
    program.frame(2);
    CHECK_FALSE(program.shows("Before the next step"));
}

TEST_CASE("some steps are asked about, or every one") {
    for (const bool each : {false, true}) {
        Program program;
        program.press(Key::q);
        program.state.settings.question_each = each;
        int asked = 0;
        while (!at_end(*program.state.trace, program.state.cursor)) {
            const int before = program.step();
            step_forward(program.state, Level::step);
            if (!quiz_waits(program.state)) continue;
            ++asked;
            CHECK(program.step() == before);
            skip_question(program.state);
            CHECK(program.step() == before + 1);
        }
        CHECK(asked >= (each ? 39 : 8));
        CHECK(asked <= (each ? 39 : 20));
    }
}

TEST_CASE("playing pauses for a question and goes on after it") {
    Program program;
    program.press(Key::q);
    program.state.settings.question_each = true;
    program.state.settings.speed = 2;
    program.press(Key::space);
    for (int n = 0; n < 10 && !quiz_waits(program.state); ++n) program.frame(1, 0.2f);
    REQUIRE(quiz_waits(program.state));
    CHECK_FALSE(program.state.player.playing);
    const int step = program.step();
    skip_question(program.state);
    CHECK(program.step() == step + 1);
    CHECK(program.state.player.playing);
}

TEST_CASE("presenter mode: Enter shows the answer, Enter goes on, nothing is typed") {
    Program program;
    program.press(Key::p);
    ask(program, 16, Kind::value);
    CHECK(program.shows("Enter shows the answer"));
    CHECK_FALSE(ImGui::GetIO().WantTextInput);
    const std::string answer = answer_text(program.state.quiz->question);
    CHECK_FALSE(program.shows(answer));
    program.press(Key::page_down);  // the clicker
    CHECK(program.shows(answer));
    CHECK(program.step() == 15);
    program.press(Key::enter);
    CHECK(program.step() == 16);
    CHECK(program.state.quiz->answers.empty());
}

TEST_CASE("the file of results: one line each, quoted, and no formulas") {
    Program program;
    program.state.hooks.save_quiz = nullptr;
    std::string path, csv;
    ask(program, 16, Kind::value);
    program.type("=1+1");
    program.press("enter enter");
    ask(program, 10, Kind::read_from_hbm);
    program.press("1 enter backspace");
    press_right_numbers(program);
    program.press(Key::enter);
    program.state.hooks.save_quiz = [&](const std::string& to, const std::string& text) {
        path = to, csv = text;
        return Result<void>();
    };
    CHECK(path.empty());  // only when asked for
    program.press(Key::s);
    program.type("class 1");
    program.press(Key::enter);
    CHECK(path == "class 1.csv");
    CHECK(csv.starts_with("number,problem,lesson,step,question,expected,answer,verdict\n"
                          "1,worked-4x4,flash-forward,17,\"Next: Row sum"));
    CHECK(csv.find(",'=1+1,wrong\n2,worked-4x4,flash-forward,11,") != std::string::npos);
    CHECK(csv.ends_with("K and V,\"K, V\",right at the second try\n"));
    CHECK(std::ranges::count(csv, '\n') == 3);
}

namespace {

// The pixels of what these items cover.
std::vector<std::uint8_t> pixels_of(const Program& program, const std::function<bool(const Item&)>& wanted) {
    ImVec2 min{1e9f, 1e9f}, max{0, 0};
    for (const Item& item : program.items()) {
        if (!wanted(item)) continue;
        min = {std::min(min.x, item.min.x), std::min(min.y, item.min.y)};
        max = {std::max(max.x, item.max.x), std::max(max.y, item.max.y)};
    }
    REQUIRE(max.x > min.x);
    const Image image = program.picture();
    std::vector<std::uint8_t> out;
    for (int y = static_cast<int>(min.y); y < static_cast<int>(max.y); ++y) {
        const auto row = image.rgba.begin() + (std::ptrdiff_t{y} * image.width + static_cast<int>(min.x)) * 4;
        out.insert(out.end(), row, row + (static_cast<int>(max.x) - static_cast<int>(min.x)) * 4);
    }
    return out;
}

struct Seen {
    std::vector<std::uint8_t> timeline, map;
    std::string texts;  // of the card
};

// What is on the screen while the question waits. A window in addition to the causal mask leaves the first
// query block as it is and skips more of those that follow.
Seen seen(std::optional<Kind> kind, std::optional<int> window, bool presenter, bool skipped = false) {
    Problem p = causal(random_with_tiles(8, 2, 2, 2));
    p.window = window;
    // Presenter mode has room for both map and card only in a high window.
    Program program(p, presenter ? Screen{1600, 1200} : Screen{}, presenter);
    const int k = step_of(program, Op::load_q, 2);
    if (kind)
        ask(program, k, *kind);
    else
        program.go_to_step(k - 1);
    if (skipped) {
        program.state.quiz->revealed = presenter;
        program.state.quiz->chosen = program.state.quiz->question.right;
        if (!presenter) check_answer(program.state);
    }
    program.frame(3);
    Seen out;
    // Beside and below the map of the tiles.
    const auto in_map = [&](const Item& item) {
        const bool title = item.text.ends_with("never reach HBM");
        return item.panel == "HBM" && (presenter || title || item.text == "used" || item.text == "masked");
    };
    const auto in_lanes = [](const Item& item) { return item.text == "timeline"; };
    out.map = pixels_of(program, in_map);
    if (!presenter) out.timeline = pixels_of(program, in_lanes);
    for (const Item& item : program.items())
        if (item.panel == "Question") out.texts += item.text + "\n";
    return out;
}

}  // namespace

TEST_CASE("nothing on the screen answers which step comes or which tiles are skipped") {
    const std::string code = "for i in";
    for (const Kind kind : {Kind::next_op, Kind::skipped_tiles}) {
        const Seen causal = seen(kind, {}, false), windowed = seen(kind, 1, false);
        CHECK(causal.timeline == windowed.timeline);
        CHECK(causal.map == windowed.map);
        CHECK_FALSE(contains(causal.texts, code));
        const Seen after = seen(kind, {}, false, true), after_windowed = seen(kind, 1, false, true);
        CHECK(after.timeline != after_windowed.timeline);
        CHECK(after.timeline != causal.timeline);
        CHECK(seen(kind, {}, true).map == seen(kind, 1, true).map);
    }
    const Seen plain = seen({}, {}, false), plain_windowed = seen({}, 1, false);
    CHECK(plain.timeline != plain_windowed.timeline);
    CHECK(plain.map != plain_windowed.map);
    CHECK(seen({}, {}, true).map != seen({}, 1, true).map);
    const Seen bytes = seen(Kind::bytes_read, {}, false);
    CHECK(bytes.timeline == plain.timeline);
    CHECK(contains(bytes.texts, code));
}

TEST_CASE("the card keeps to the rules of the layout, and hides neither tiles nor timeline") {
    const struct {
        Op op;
        Kind kind;
    } cases[] = {{Op::output, Kind::value},         {Op::load_kv, Kind::total_read},
                 {Op::load_q, Kind::skipped_tiles}, {Op::load_kv, Kind::read_from_hbm},
                 {Op::scores, Kind::flops},         {Op::new_max, Kind::maximum_rises}};
    for (const Screen screen : {Screen{1280, 720}, Screen{1600, 900}, Screen{1920, 1080}})
        for (const bool presenter : {false, true}) {
            Program program(causal(example("worked-4x4")), screen, presenter);
            for (const ThemeId theme : all_themes)
                for (const auto& [op, kind] : cases) {
                    program.state.settings.theme = theme;
                    if (program.state.quiz) program.state.quiz->asked.clear();
                    ask(program, step_of(program, op, 14), kind);
                    for (const bool answered : {false, true}) {
                        if (answered) {
                            program.state.quiz->revealed = true;
                            program.state.quiz->chosen = program.state.quiz->question.right;
                            std::snprintf(program.state.quiz->text, 64, "12345.678");
                            if (!presenter) check_answer(program.state);
                            if (!presenter && program.state.quiz->may_retry()) {
                                retry_answer(*program.state.quiz);
                                std::snprintf(program.state.quiz->text, 64, "12345.678");
                                check_answer(program.state);
                            }
                            program.frame(3);
                        }
                        check_frame(program, {}, {.panel = "Question"});
                        for (const std::string& text : shortened_texts(program))
                            if (text.starts_with("Question:") && text != "Question: Save results…")
                                FAIL_CHECK(program.where(), ": ", text);
                    }
                    program.state.quiz.reset();
                }
        }
}

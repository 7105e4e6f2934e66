// Questions before a step: keys, mouse, both modes, the layout of the card, and the file of results.
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tilewalk::test;

namespace {

using Kind = Question::Kind;

// Questions before every step, and the walk held before step k with one of this kind.
void ask(Program& program, int k, Kind kind, Gaps gaps = Gaps::one) {
    if (!program.state.quiz) program.press(Key::q);
    program.state.settings.question_each = true;
    program.go_to_step(k - 1);
    program.state.notice.clear();
    program.press(Key::right);
    REQUIRE(quiz_waits(program.state));
    for (const Question& q : questions_before(*program.state.trace, k, 0, gaps))
        if (q.kind == kind) {
            Quiz& quiz = *program.state.quiz;
            quiz.question = q;
            quiz.entries.assign(q.numbers().size(), {});
            quiz.entry = 0;
            quiz.focus = true;
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

// The same into every gap, without pressing keys.
void fill_all(Program& program, const char* text) {
    for (GapEntry& entry : program.state.quiz->entries)
        if (!entry.is_right()) std::snprintf(entry.text, sizeof entry.text, "%s", text);
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
    program.enter(answer_text(program.state.quiz->question));
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
    program.enter("7.5");
    CHECK(program.shows("You typed 7.5; that is not it yet."));
    CHECK_FALSE(program.shows("Right:"));
    program.press(Key::backspace);
    CHECK(program.state.quiz->entries.at(0).text[0] == 0);
    program.enter("7.4");
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
    program.enter("abc");
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

TEST_CASE("presenter mode: nothing moves when a reply comes, and a right answer is called right") {
    for (const Screen size : {Screen{1024, 640}, Screen{1280, 720}}) {
        Program program(example("worked-4x4"), size);
        program.press(Key::p);
        ask(program, 16, Kind::value);
        const float top = program.find("Question").min.y;
        const auto reply = [&](const std::string& typed) {
            for (const char letter : typed) type_answer(*program.state.quiz, letter);
            program.press(Key::enter);
            program.frame(2);
            CHECK(program.find("Question").min.y == top);
        };
        reply("77");
        CHECK(program.shows("Not yet."));
        int explained = 0;
        for (const WrongAnswer& wrong : program.state.quiz->question.wrong) {
            const std::string typed = format_fixed(wrong.value, 4);
            if (wrong.value < 0) continue;
            reply(typed);
            REQUIRE_FALSE(wrong.working.empty());
            CHECK(program.shows(wrong.working.substr(0, 5)));
            ++explained;
        }
        CHECK(explained > 0);
        CHECK_FALSE(program.shows("Right:"));
        reply(answer_text(program.state.quiz->question));
        CHECK(program.shows("Right:"));
    }
}

namespace {

// The walk with 2 × 2 tiles and d = 4, held before the output of tile (0, 1) or its row sum.
void ask_row(Program& program) { ask(program, 17, Kind::gaps, Gaps::row); }

const Question& gap(const Program& program, std::size_t n) { return program.state.quiz->question.gaps.at(n); }

std::string target(const Program& program, std::size_t n) { return gap(program, n).target; }

}  // namespace

TEST_CASE("gaps: Enter and Tab lead from field to field, the last Enter checks") {
    Program program;
    ask_row(program);
    REQUIRE(program.state.quiz->entries.size() == 4);
    CHECK(ImGui::GetIO().WantTextInput);
    for (std::size_t n = 0; n < 4; ++n) {
        CHECK(program.state.quiz->entry == n);
        program.check_shows({target(program, n)});
        program.enter(answer_text(gap(program, n)));
    }
    program.check_shows({"All 4 are right.", "1 of 1"});
    program.press(Key::enter);
    CHECK(program.step() == 17);

    program.state.quiz->asked.clear();
    ask_row(program);
    program.type("1");
    program.press(Key::tab);
    program.frame(2);
    CHECK(program.state.quiz->entry == 1);
    program.type("2");
    program.press("tab");
    program.frame(2);
    program.press("shift+tab");
    program.frame(2);
    CHECK(program.state.quiz->entry == 1);
    program.type("5");
    CHECK(program.state.quiz->entries[0].text == std::string("1"));
    CHECK(std::string(program.state.quiz->entries[1].text).find('5') != std::string::npos);
    CHECK(program.state.quiz->entries[2].text == std::string());
    program.click("check answer", "Question");  // two are empty
    CHECK(program.shows(target(program, 2) + ": Type a number first."));
    CHECK(program.state.quiz->tries == 0);
    program.frame(2);
    CHECK(program.state.quiz->entry == 2);
}

TEST_CASE("gaps: what is right stays, what is wrong is explained and tried again") {
    Program program;
    ask_row(program);
    const double old = value_at(*holding(*program.state.trace, {Slot::Oi, 0, 0}, 16).value,
                                gap(program, 0).explanation.target);
    const auto& wrong = gap(program, 0).wrong.at(0);
    CHECK(wrong.cause.starts_with("α is missing"));
    char typed[32];
    std::snprintf(typed, sizeof typed, "%#.6g", wrong.value);
    CHECK(wrong.value > old);
    for (const std::string& text :
         {std::string(typed), answer_text(gap(program, 1)), answer_text(gap(program, 2)), std::string("77")})
        program.enter(text);
    program.check_shows({"2 of 4 are right.", target(program, 0) + ": α is missing"});
    std::string lines;  // it may take two
    for (const Item& item : program.items())
        if (item.kind == ItemKind::text) lines += item.text + " ";
    CHECK_MESSAGE(contains(lines, wrong.working), wrong.working);
    CHECK_FALSE(program.shows(answer_text(gap(program, 0))));
    program.press(Key::backspace);
    program.frame(2);
    const auto& entries = program.state.quiz->entries;
    CHECK(entries[1].is_right());
    CHECK(entries[0].text[0] == 0);
    CHECK(program.state.quiz->entry == 0);
    program.enter(answer_text(gap(program, 0)));
    CHECK(program.state.quiz->entry == 3);  // what is right is passed over
    program.enter("78");
    program.check_shows({"3 of 4 are right.", answer_text(gap(program, 3)), "0 of 1"});
    CHECK(program.state.quiz->answers.at(0).outcome == QuizAnswer::Outcome::wrong);
    CHECK(program.state.quiz->answers.at(0).given.ends_with("; 78"));
}

TEST_CASE("a single wrong number names what was done, too") {
    Program program;
    ask(program, 16, Kind::value);
    program.enter("2.503");
    program.check_shows({"α is missing: the old ℓ", " = 2.503"});
}

TEST_CASE("gaps grow with right answers and shrink with wrong ones; a setting holds them") {
    Program program;
    program.press(Key::q);
    program.state.settings.question_each = true;
    const auto answer = [&](bool right) {
        // A step that has four numbers in a row and two rows.
        program.state.quiz->asked.clear();
        program.go_to_step(16);
        program.press(Key::right);
        REQUIRE(quiz_waits(program.state));
        Quiz& quiz = *program.state.quiz;
        const std::size_t asked = quiz.entries.size();
        for (std::size_t n = 0; n < asked; ++n)
            fill_in(quiz.entries[n].text, right ? answer_text(quiz.question.numbers()[n]) : "1e9");
        check_answer(program.state);
        go_on_after_question(program.state);
        program.frame(3);  // the field lets go of the caret
        return asked;
    };
    REQUIRE(question_before(*program.state.trace, 17)->kind == Kind::value);
    CHECK(answer(true) == 1);
    const std::size_t few = answer(true);
    CHECK((few == 2 || few == 3));
    CHECK(answer(true) == 4);
    program.press("q q");  // off and on again
    program.state.settings.question_each = true;
    CHECK(answer(true) == 8);
    CHECK(answer(false) == 8);
    CHECK(answer(false) == 4);
    const std::size_t fewer = answer(false);
    CHECK((fewer == 2 || fewer == 3));
    CHECK(answer(false) == 1);
    CHECK(answer(false) == 1);
    program.state.settings.gaps = GapsWanted::row;
    CHECK(answer(false) == 4);
    CHECK(answer(true) == 4);
}

TEST_CASE("gaps on stage: shown one by one, or typed as the class calls them") {
    Program program(example("worked-4x4"), Screen{1280, 720}, true);
    ask_row(program);
    const auto& entries = program.state.quiz->entries;
    program.press(Key::enter);
    CHECK(program.shows(answer_text(gap(program, 0))));
    CHECK_FALSE(program.shows(answer_text(gap(program, 1))));
    char typed[32];
    std::snprintf(typed, sizeof typed, "%#.5g", gap(program, 1).wrong.at(0).value);
    for (const char c : std::string(typed)) program.press(std::string(1, c));
    CHECK(entries[1].text == std::string(typed));
    program.press(Key::enter);
    program.check_shows({"α is missing"});
    CHECK_FALSE(entries[1].shown);
    program.press("9 backspace");
    CHECK(entries[1].text[0] == 0);
    for (const char c : answer_text(gap(program, 1))) program.press(std::string(1, c));
    program.press(Key::enter);
    CHECK(entries[1].shown);
    program.press("pagedown pagedown");
    CHECK(program.state.quiz->revealed);
    CHECK(program.step() == 16);
    program.press(Key::enter);
    CHECK(program.step() == 17);
    CHECK(program.state.quiz->answers.empty());

    // Only as much as leaves room for the stage.
    program.state.settings.gaps = GapsWanted::tile;
    for (int k = 2; k < program.state.trace->size(); ++k) {
        program.state.quiz->asked.clear();
        program.go_to_step(k - 1);
        program.press(Key::right);
        if (!quiz_waits(program.state)) continue;
        CHECK(program.state.quiz->question.gaps.size() <=
              2 * static_cast<std::size_t>(program.state.quiz->question.across));
        for (const std::string& text : shortened_texts(program))
            if (text.starts_with("Question:")) FAIL_CHECK(program.where(), ": ", text);
        check_frame(program, {}, {.panel = "Question"});
    }
}

TEST_CASE("on stage a question has all that it rests on, in the row that it asks about, and the place of its "
          "answer") {
    Program program(example("worked-4x4"), Screen{1280, 720}, true);
    // What m will be of the second row, with m and m̃ in sight.
    ask(program, step_of(program, Op::new_max, 10), Kind::value);
    const Question& q = program.state.quiz->question;
    REQUIRE(q.explanation.target.slot == Slot::m);
    CHECK(program.state.row == q.explanation.target.row);
    CHECK(program.state.explanation.target.row == q.explanation.target.row);
    const auto large = [](const Item& item) {
        return item.kind == ItemKind::text && item.text == "?" && item.panel == "Presenter";
    };
    CHECK(std::ranges::count_if(program.items(), large) == 1);
    program.press(Key::enter);
    CHECK(std::ranges::none_of(program.items(), large));
    program.press(Key::enter);
    CHECK(program.state.explanation.target == CellRef{Slot::m, program.state.row, 0});
}

TEST_CASE("it is said before which step the next question comes") {
    Program program(example("worked-4x4"), Screen{1280, 720}, true);
    program.go_to_step(10);
    program.press(Key::q);
    REQUIRE(next_question(program.state));
    const int step = *next_question(program.state);
    CHECK(contains(program.state.notice, "before step " + std::to_string(step + 1)));
    program.check_shows({"Question before step " + std::to_string(step + 1)});
    while (!quiz_waits(program.state) && program.step() < step) program.press(Key::right);
    CHECK(quiz_waits(program.state));
    CHECK(program.step() == step - 1);
    program.press(Key::escape);
    CHECK(next_question(program.state) != step);
    program.go_to_step(program.state.trace->size() - 1);
    CHECK_FALSE(next_question(program.state));
}

TEST_CASE("the cells that are asked for are hidden, and the program says that questions are on") {
    for (const bool presenter : {false, true}) {
        Program program(example("worked-4x4"), Screen{1280, 720}, presenter);
        const auto sign = [&] {
            const auto in_head = [](const Item& item) {
                return item.text.starts_with("Question") && item.max.y < 70;
            };
            return presenter ? std::ranges::any_of(program.items(), in_head)
                             : program.look_for("questions", "Header") != nullptr;
        };
        CHECK_FALSE(sign());
        ask(program, 16, Kind::gaps, Gaps::tile);
        CHECK(sign());
        std::ptrdiff_t hidden = 0;
        for (const Item& item : program.items())
            hidden += item.text == "?" && item.panel != "Question" && item.panel != "Header";
        if (!presenter) CHECK(hidden == 2);  // on stage the old ℓ is not in sight
        program.press(Key::escape);
        program.press(Key::q);
        program.frame(2);
        CHECK_FALSE(sign());
    }
    Program program(example("worked-4x4"), Screen{1280, 720});
    program.press(Key::q);
    program.frame(2);
    program.click("questions", "Header");
    CHECK_FALSE(program.state.quiz);
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
    program.enter("class 1");
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
        Gaps gaps = Gaps::one;
    } cases[] = {{Op::output, Kind::value},           {Op::load_kv, Kind::total_read},
                 {Op::load_q, Kind::skipped_tiles},   {Op::load_kv, Kind::read_from_hbm},
                 {Op::scores, Kind::flops},           {Op::new_max, Kind::maximum_rises},
                 {Op::output, Kind::gaps, Gaps::row}, {Op::row_sum, Kind::gaps, Gaps::tile},
                 {Op::output, Kind::gaps, Gaps::tile}};
    for (const Screen screen : all_screens)
        for (const bool presenter : {false, true}) {
            Program program(causal(example("worked-4x4")), screen, presenter);
            for (const ThemeId theme : all_themes)
                for (const auto& [op, kind, gaps] : cases) {
                    // On stage a tile is never asked for that leaves no room (see below).
                    if (presenter && op == Op::output && gaps == Gaps::tile) continue;
                    program.state.settings.theme = theme;
                    if (program.state.quiz) program.state.quiz->asked.clear();
                    ask(program, step_of(program, op, 14), kind, gaps);
                    for (const bool answered : {false, true}) {
                        if (answered) {
                            for (int n = 0; presenter && n < 9 && !program.state.quiz->revealed; ++n)
                                reveal_answer(program.state);
                            program.state.quiz->chosen = program.state.quiz->question.right;
                            fill_all(program, gaps == Gaps::one ? "12345.678" : "123.4");
                            if (!presenter) check_answer(program.state);
                            if (!presenter && program.state.quiz->may_retry()) {
                                retry_answer(*program.state.quiz);
                                fill_all(program, gaps == Gaps::one ? "12345.678" : "123.4");
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

// Every shortcut, and when a text field keeps the keys to itself.
#include "app/ui/state/state.h"
#include "tests/app/ui/harness.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

// What a key press could have changed.
struct Shown {
    int step;
    ThemeId theme;
    bool presenter, help, go_to, problem, code, motion, playing;
    float zoom;
    bool operator==(const Shown&) const = default;
};
Shown shown(const AppState& s) {
    return {s.cursor.step,  s.settings.theme,      s.presenter,       s.show_help,      s.show_goto,
            s.show_problem, s.settings.pseudocode, s.settings.motion, s.player.playing, s.settings.zoom};
}

}  // namespace

TEST_CASE("the keys of the walk") {
    Program program;
    program.check_steps({{"right pagedown", 2},
                         {"left pageup", 0},
                         {"end", 39},
                         {"home", 0},
                         {"shift+right shift+right", 9},
                         {"shift+left", 1},
                         {"ctrl+right", 19},
                         {"ctrl+right", 39},
                         {"ctrl+left", 19}});
    program.go_to_step(4);
    for (const auto& [key, done] : {std::pair{"alt+right", 1}, {"alt+right", 2}, {"alt+left", 1}}) {
        program.press(key);
        CHECK(program.state.cursor == Cursor{5, done});
    }
}

TEST_CASE("the keys that switch something on and off") {
    Program program;
    AppState& s = program.state;
    for (const Key key : {Key::p, Key::f5, Key::f11})
        for (const bool on : {true, false}) {
            program.press(key);
            CHECK(s.presenter == on);
        }
    for (Key key : {Key::question, Key::f1}) {
        program.press(key);
        CHECK(s.show_help);
        CHECK(program.shows("go to step"));
        program.press(key);
        CHECK_FALSE(s.show_help);
    }
    program.press(Key::i);
    CHECK(s.show_problem);
    CHECK(program.look_for("Br/more"));
    program.press(Key::i);
    CHECK_FALSE(s.show_problem);
    program.press(Key::c);
    CHECK(s.settings.pseudocode);
    program.press(Key::a);
    CHECK_FALSE(s.settings.motion);
    for (const ThemeId next : {ThemeId::light, ThemeId::contrast, ThemeId::dark}) {
        program.press(Key::t);
        CHECK(s.settings.theme == next);
    }
}

TEST_CASE("the window can be zoomed as far as it has room") {
    Program program(example("worked-4x4"), {2560, 1440});
    const float before = program.find("play").max.x - program.find("play").min.x;
    program.press("ctrl+plus ctrl+plus");
    CHECK(program.state.settings.zoom == doctest::Approx(1.21));
    CHECK(program.find("play").max.x - program.find("play").min.x ==
          doctest::Approx(before * 1.21).epsilon(.02));
    program.press("ctrl+minus ctrl+0");
    CHECK(program.state.settings.zoom == 1);
    for (int n = 0; n < 14; ++n) program.press("ctrl+plus");
    CHECK(program.state.settings.zoom <= 3);
    CHECK(program.look_for("play"));
    for (int n = 0; n < 20; ++n) program.press("ctrl+minus");
    CHECK(program.state.settings.zoom >= .5f);
    CHECK(program.look_for("play"));
}

TEST_CASE("the buttons of the header") {
    Program program;
    program.click("theme");
    CHECK(program.state.settings.theme == ThemeId::light);
    program.click("problem");
    CHECK(program.state.show_problem);
    program.click("close problem");
    CHECK_FALSE(program.state.show_problem);
    program.click("help");
    CHECK(program.state.show_help);
    program.click("close help");
    CHECK_FALSE(program.state.show_help);
    program.click("presenter");
    CHECK(program.state.presenter);
    program.press(Key::escape);
    CHECK_FALSE(program.state.presenter);
}

TEST_CASE("Escape closes one thing at a time, the topmost first") {
    Program program;
    AppState& s = program.state;
    notify(s, "Something to read.");
    program.press("i p ?");
    REQUIRE((s.show_problem && s.presenter && s.show_help));
    program.press(Key::escape);
    CHECK_FALSE(s.show_help);
    CHECK(s.presenter);
    program.press(Key::g);
    REQUIRE(s.show_goto);
    program.press(Key::escape);
    CHECK_FALSE(s.show_goto);
    CHECK(s.presenter);
    program.press(Key::escape);
    CHECK_FALSE(s.presenter);
    CHECK(s.show_problem);
    program.press(Key::escape);
    CHECK_FALSE(s.show_problem);
    CHECK(s.notice != "");
    program.press(Key::escape);
    CHECK(s.notice == "");
    CHECK_FALSE(s.quit);
}

TEST_CASE("a field that has the caret keeps the keys") {
    Program program;
    program.press(Key::i);
    program.click("problem tab/Numbers");
    program.click("path");
    REQUIRE(ImGui::GetIO().WantTextInput);
    const Shown before = shown(program.state);
    program.type("g p t 5 ? m0");
    for (Key key : {Key::left, Key::home, Key::end, Key::right, Key::c}) program.press(key);
    CHECK(shown(program.state) == before);
    CHECK(std::string(program.state.form.path) == "g p t 5 ? m0c");
    program.press(Key::f1);  // no text has F1 in it
    CHECK(program.state.show_help);
}

TEST_CASE("a cell that is being typed into keeps the keys") {
    Program program;
    program.double_click("Q[1,2]", "HBM");
    REQUIRE(program.state.edit);
    REQUIRE(ImGui::GetIO().WantTextInput);
    const Shown before = shown(program.state);
    program.retype("g p t 5");
    CHECK(shown(program.state) == before);
    REQUIRE(program.state.edit);
    CHECK(std::string(program.state.edit->text) == "g p t 5");
}

TEST_CASE("M goes from rise to rise of a maximum") {
    Program program;
    std::vector<int> rises;
    for (int n = 0; n < 10; ++n) {
        const int before = program.step();
        program.press(Key::m);
        if (program.step() == before) break;
        rises.push_back(program.step());
    }
    REQUIRE(rises.size() >= 3);  // each query block begins with one, and the second tile brings another
    for (int k : rises) CHECK(program.state.trace->step(k).op == Op::new_max);
    CHECK(program.state.notice != "");
}

TEST_CASE("Ctrl C copies the explanation, or the cell under the mouse in full") {
    Program program;
    program.go_to_step(16);
    program.press("ctrl+c");
    const std::string copied = ImGui::GetClipboardText();
    check_contains(copied, {program.state.explanation.title, plain(program.state.explanation.numbers)});
    program.hover("Q[0,1]", "HBM");
    program.press("ctrl+c");
    CHECK(std::stod(ImGui::GetClipboardText()) == program.state.problem->Q(0, 1));
}

TEST_CASE("what a notice says is of before: the next key or click ends it, but not while it is being read") {
    for (const bool click : {false, true}) {
        Program program;
        notify(program.state, "Something was done.");
        program.press(Key::right);
        CHECK(program.shows("Something was done."));
        program.state.notice_age = 3;
        click ? program.click("Timeline") : program.press(Key::right);
        CHECK_FALSE(program.shows("Something was done."));
    }
}

TEST_CASE("the list of faults is the stage's: it goes with it, and for whatever else is asked for") {
    for (const Key key : {Key::p, Key::q, Key::right}) {
        Program program(example("worked-4x4"), {1280, 720}, true);
        program.press("shift+x");
        REQUIRE(program.state.lists.faults);
        program.press(key);
        CHECK(program.state.lists.faults == (key == Key::right));
    }
}

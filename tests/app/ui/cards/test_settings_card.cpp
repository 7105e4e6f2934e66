// The settings: every one of them by keys and mouse, at once and everywhere; numbers and layout follow.
#include "app/ui/kit/focus.h"
#include "app/ui/kit/theme.h"
#include "app/ui/state/state.h"
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

void open_card(Program& program) {
    program.press(Key::o);
    REQUIRE(program.state.show_settings);
    program.frame();
}

}  // namespace

TEST_CASE("every setting by the mouse, shown at once") {
    Program program;
    Settings& s = program.state.settings;
    open_card(program);
    const std::pair<const char*, std::function<bool()>> clicks[] = {
        {"set theme/Light", [&] { return s.theme == ThemeId::light; }},
        {"set palette/Colour-blind safe", [&] { return s.palette == Palette::safe; }},
        {"set size/more", [&] { return s.zoom == doctest::Approx(1.1); }},
        {"set motion", [&] { return !s.motion; }},
        {"set digits/6", [&] { return s.digits == 6 && program.shows("1.41421"); }},
        {"set decimal mark/1,5", [&] { return s.decimal_comma && program.shows("1,41421"); }},
        {"set letters/m  δ  ω", [&] { return s.letters == Letters::delta_omega; }},
        {"set spotlight", [&] { return !s.spotlight; }},
        {"set subtitles", [&] { return !s.subtitles; }},
        {"set questions", [&] { return s.question_each; }},
        {"set gaps/Row", [&] { return s.gaps == GapsWanted::row; }}};
    for (const auto& [name, is_set] : clicks) {
        CHECK_FALSE_MESSAGE(is_set(), std::string(name));
        program.click(name, "Settings");
        CHECK_MESSAGE(is_set(), std::string(name));
    }
    CHECK(program.state.problem->options.notation == Notation::delta_omega);
    program.click("done settings", "Settings");
    CHECK_FALSE(program.state.show_settings);
}

TEST_CASE("every setting by the keyboard") {
    Program program;
    Settings& s = program.state.settings;
    open_card(program);
    program.tab_to("set theme/Dark");
    program.press(Key::right);
    CHECK(s.theme == ThemeId::light);
    program.press(Key::right);
    CHECK(s.theme == ThemeId::contrast);
    program.press(Key::right);  // there it ends
    CHECK(s.theme == ThemeId::contrast);
    program.press(Key::down);
    CHECK(focused_item() != 0);
    program.press("right left right");
    CHECK(s.palette == Palette::safe);
    program.tab_to("set size/less");
    program.press(Key::enter);
    CHECK(s.zoom == doctest::Approx(.9));
    program.tab_to("set motion");
    program.press(Key::left);
    CHECK_FALSE(s.motion);
    program.press(Key::left);
    CHECK_FALSE(s.motion);
    program.press(Key::space);
    CHECK(s.motion);
    program.tab_to("set speed");
    program.press(Key::right);
    CHECK(s.speed > 1);
    program.tab_to("set digits/4");
    program.press(Key::left);
    CHECK(s.digits == 3);
    program.tab_to("reset settings");
    program.press(Key::enter);
    CHECK(s.theme == ThemeId::dark);
    CHECK(s.palette == Palette::usual);
    CHECK(s.zoom == 1);
    CHECK(s.digits == 4);
    CHECK(s.speed == 1);
    CHECK(program.step() == 0);  // no arrow reached the walk
    program.press(Key::escape);
    CHECK_FALSE(program.state.show_settings);
}

TEST_CASE("Reset all keeps the problem, the window and the step") {
    Program program(example("causal-8"));
    program.go_to_step(5);
    program.state.settings.window_width = 1234;
    program.state.settings.letters = Letters::d_o;
    program.state.settings.tour_offered = true;
    reset_settings(program.state);
    program.frame();
    CHECK(program.state.settings.window_width == 1234);
    CHECK(program.state.settings.tour_offered);
    CHECK(program.state.settings.letters == Letters::l_O);
    CHECK(program.state.problem->options.notation == Notation::l_O);
    CHECK(program.state.problem->N() == 8);
    CHECK(program.step() == 5);
}

TEST_CASE("letters that a problem leaves open follow the setting, those that it names do not") {
    Program program;
    CHECK(program.state.problem->options.notation == Notation::l_O);
    program.state.settings.letters = Letters::d_o;
    program.show(example("causal-8"));
    CHECK(program.state.problem->options.notation == Notation::d_o);
    Problem named = example("causal-8");
    named.options.notation = Notation::delta_omega;
    program.show(named);
    CHECK(program.state.problem->options.notation == Notation::delta_omega);
}

TEST_CASE("digits and decimal mark reach explanation and cells in the next frame, and go again") {
    Program program;
    program.go_to_step(14);
    const std::string before = plain(program.state.explanation.result);
    CHECK(contains(before, "0.368"));
    program.state.settings.digits = 6;
    program.state.settings.decimal_comma = true;
    program.frame(2);
    CHECK(contains(plain(program.state.explanation.result), "0,36788"));
    int cells = 0;
    for (const Item& item : program.items())
        if (item.kind == ItemKind::text && item.text.find("0,3") == 0) ++cells;
    CHECK(cells >= 2);
    for (const Item& item : program.items())
        if (item.panel == "SRAM" && item.kind == ItemKind::text) CHECK_FALSE(contains(item.text, "0.3"));
    program.state.settings = Settings{};
    program.frame(2);
    CHECK(plain(program.state.explanation.result) == before);
}

TEST_CASE("the layout holds with every number of digits") {
    for (const int digits : {3, 5, 6})
        for (const bool presenter : {false, true}) {
            Program program(example("worked-4x4"), {1280, 720}, presenter);
            program.state.settings.digits = digits;
            program.state.settings.decimal_comma = digits == 6;
            for (const char* problem : {"worked-4x4", "large-logits", "ragged-7x5"})
                for (const char* id : {"flash-forward", "flash-backward", "attention", "softmax-1pass"}) {
                    program.show(example(problem));
                    program.show_lesson(id);
                    for (const int part : {1, 2, 3}) {
                        program.go_to_step(program.state.trace->size() * part / 4);
                        check_frame(program, std::to_string(digits) + " digits");
                    }
                }
        }
}

TEST_CASE("the card has room at every size, in every theme") {
    in_every_look([](Program& program) {
        program.state.settings.palette = Palette::safe;
        open_card(program);
        check_card(program, "Settings");
    });
}

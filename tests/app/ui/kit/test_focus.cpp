// The keyboard's focus: Tab reaches everything that can be pressed, Enter does what a click does, and the
// ring round it is to be seen.
#include "app/render/offscreen.h"
#include "app/ui/kit/focus.h"
#include "app/ui/kit/fonts.h"
#include "app/ui/kit/theme.h"
#include "app/ui/state/chapters.h"
#include "tests/app/ui/harness.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <set>

using namespace tilewalk::test;

namespace {

constexpr KeyPress back_tab{Key::tab, true};

// These answer to the place of the mouse; the keys of the walk and of the page do what they do.
bool follows_the_mouse(const Item& item) {
    static const std::set<std::string> names = {"timeline", "heat map",    "tile grid",
                                                "cut",      "loop begins", "loop ends"};
    return names.count(item.text) > 0;
}

// What a person would expect to reach: everything to press that shows and is not switched off.
std::map<ImGuiID, std::string> to_be_reached(const Program& program, std::string_view panel) {
    std::map<ImGuiID, std::string> out;
    for (const Item& item : program.items()) {
        const bool control = item.kind == ItemKind::button || item.kind == ItemKind::field;
        if (!panel.empty() && item.panel != panel) continue;
        if (control && item.visible && !item.faint && item.id != 0 && !follows_the_mouse(item))
            out[item.id] = item.panel + " / " + item.text;
    }
    return out;
}

// Tab until it begins again.
std::vector<ImGuiID> walk_round(Program& program, KeyPress tab = {Key::tab}) {
    std::vector<ImGuiID> out;
    for (int n = 0; n < 400; ++n) {
        program.press(tab);
        const ImGuiID now = focused_item();
        if (!out.empty() && now == out.front()) break;
        out.push_back(now);
    }
    return out;
}

// `panel`: a card that keeps the focus.
void check_all_reached(Program& program, std::string_view panel = {}) {
    INFO(program.where(), ", ", std::string(panel));
    auto wanted = to_be_reached(program, panel);
    std::set<ImGuiID> reached;
    const auto missed = [&] {
        return std::ranges::any_of(wanted, [&](const auto& one) { return !reached.count(one.first); });
    };
    // What work in the background has switched off meanwhile does not count; off and on again, it is there in
    // the next round.
    for (int round = 0; round < 3 && (round == 0 || missed()); ++round) {
        const std::vector<ImGuiID> visited = walk_round(program);
        const auto still = to_be_reached(program, panel);
        std::erase_if(wanted, [&](const auto& one) { return !still.count(one.first); });
        CHECK_MESSAGE(std::set(visited.begin(), visited.end()).size() == visited.size(),
                      "comes twice to the same");
        reached.insert(visited.begin(), visited.end());
    }
    for (const auto& [id, name] : wanted)
        if (!reached.count(id)) FAIL_CHECK("Tab never reaches ", name);
    CHECK(wanted.size() > 3);
}

}  // namespace

TEST_CASE("Tab reaches every button, switch and field of every lesson") {
    for (const Lesson& lesson : lessons()) {
        Program program;
        program.show_lesson(lesson.id);
        check_all_reached(program);
    }
}

TEST_CASE("Tab reaches everything of the pages, panels and cards") {
    for (const auto& [key, panel] : {std::pair{Key::i, ""},  // the problem
                                     {Key::x, ""},           // break it
                                     {Key::six, ""},         // memory
                                     {Key::seven, ""},       // at scale
                                     {Key::nine, ""},        // Kernel and CPU
                                     {Key::o, "Settings"},
                                     {Key::k, "Glossary"}}) {
        Program program;
        program.press(key);
        program.frame(2);
        check_all_reached(program, panel);
    }
    Program program;
    program.press(Key::f1);
    CHECK(walk_round(program).size() == 1);  // its close button
}

TEST_CASE("Shift Tab goes the same way back") {
    Program program;
    std::vector<ImGuiID> there = walk_round(program);
    clear_focus();
    const std::vector<ImGuiID> back = walk_round(program, back_tab);
    std::reverse(there.begin(), there.end());
    CHECK(there == back);
}

TEST_CASE("the way goes through the header from left to right, then down the window") {
    Program program;
    float x = -1;
    for (int n = 0; n < 6; ++n) {
        program.press(Key::tab);
        const Item now = program.find(program.focused(), "Header");
        CHECK(now.min.x > x);
        x = now.min.x;
    }
    program.tab_to("play");
    CHECK(program.find("play").min.y > program.find("menu").max.y);
}

TEST_CASE("Enter and Space do what a click does") {
    Program program;
    program.tab_to("forward");
    program.press(Key::enter);
    CHECK(program.step() == 1);
    program.press(Key::space);
    CHECK(program.step() == 2);
    CHECK_FALSE(program.state.player.playing);
    program.tab_to("theme");
    program.press(Key::enter);
    CHECK(program.state.settings.theme == ThemeId::light);
    program.tab_to("problem");
    program.press(Key::space);
    CHECK(program.state.show_problem);
    program.tab_to("Br/more");
    const int Br = program.state.problem->Br;
    program.press(Key::enter);
    CHECK(program.state.problem->Br == Br + 1);
}

TEST_CASE("arrows belong to the walk, unless what has the focus uses them") {
    Program program;
    program.press(Key::right);
    CHECK(program.step() == 1);
    program.tab_to("theme");
    program.press(Key::right);
    CHECK(program.step() == 2);
    program.tab_to("speed");
    const double speed = program.state.settings.speed;
    program.press(Key::right);
    CHECK(program.state.settings.speed > speed);
    CHECK(program.step() == 2);
    program.press(Key::left);
    CHECK(program.state.settings.speed == doctest::Approx(speed));
    for (int n = 0; n < 30; ++n) program.press(Key::right);
    CHECK(program.state.settings.speed == 8);
    for (int n = 0; n < 30; ++n) program.press(Key::left);
    CHECK(program.state.settings.speed == .25);
    CHECK(program.step() == 2);
}

TEST_CASE("Escape gives the keys back to the walk, and so does the mouse") {
    Program program;
    program.tab_to("theme");
    program.press(Key::escape);
    CHECK(focused_item() == 0);
    program.press(Key::space);
    CHECK(program.state.player.playing);
    program.press(Key::space);
    program.tab_to("help");
    program.click("theme");
    CHECK(focused_item() == 0);
    program.press(Key::tab);  // from what was clicked
    CHECK(program.focused() == "presenter");
}

TEST_CASE("Tab goes into a field, types there, and goes on") {
    Program program;
    program.press(Key::i);
    program.tab_to("Br/value");
    CHECK(ImGui::GetIO().WantTextInput);
    program.press(Key::n);  // a letter, not a command
    CHECK(program.state.cursor.step == 0);
    program.press(Key::tab);
    CHECK_FALSE(ImGui::GetIO().WantTextInput);
    CHECK(program.focused() == "Br/more");
}

TEST_CASE("cells are reached and inputs edited without a mouse") {
    Program program;
    program.tab_to("hbm0 Q");
    program.press("right down right");
    CHECK(program.step() == 0);
    program.press(Key::enter);
    REQUIRE(program.state.edit);
    CHECK(program.state.edit->cell == CellRef{Slot::Q, 1, 2});
    program.retype("3");
    program.press(Key::enter);
    CHECK(program.state.problem->Q(1, 2) == 3);
    CHECK(program.focused() == "hbm0 Q");
    for (int n = 0; n < 9; ++n) program.press(Key::left);
    program.press(Key::enter);
    REQUIRE(program.state.edit);
    CHECK(program.state.edit->cell == CellRef{Slot::Q, 1, 0});
}

TEST_CASE("a card keeps the focus, a list is gone through and closed by keys") {
    Program program;
    program.press(Key::o);
    for (const ImGuiID id : walk_round(program)) {
        const auto item = std::ranges::find(program.items(), id, &Item::id);
        REQUIRE(item != program.items().end());
        CHECK(item->panel == "Settings");
    }
    program.press(Key::escape);
    CHECK_FALSE(program.state.show_settings);
    program.tab_to("example");
    program.press(Key::enter);
    CHECK(program.state.menu_open);
    program.press(Key::escape);
    CHECK_FALSE(program.state.menu_open);
}

TEST_CASE("the ring shows in every theme, on every surface") {
    for (const ThemeId id : all_themes) {
        const Theme& t = theme(id);
        for (const ImU32 surface : {t.bg, t.panel, t.well, t.raised}) CHECK(contrast(t.focus, surface) >= 3);
        Program program(example("worked-4x4"), {}, false, id);
        program.state.settings.motion = false;
        program.frame(2);
        const Image before = program.picture();
        program.tab_to("problem");
        program.frame();
        const Image after = program.picture();
        const Item item = program.find("problem");
        // Half way along the upper edge, 2 px outside
        const int x = static_cast<int>((item.min.x + item.max.x) / 2), y = static_cast<int>(item.min.y) - 3;
        const auto colour = [&](const Image& image) {
            const std::size_t at = 4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                                        static_cast<std::size_t>(x));
            return IM_COL32(image.rgba[at], image.rgba[at + 1], image.rgba[at + 2], 255);
        };
        CAPTURE(std::string(t.name));
        CHECK(contrast(colour(before), colour(after)) >= 3);
    }
}

TEST_CASE("Tab and Shift Tab come back in windows of every size, and nothing to press is turned inside out") {
    for (const Screen size : {Screen{400, 300}, {700, 500}, {640, 1000}, {1024, 640}, {1900, 1060}})
        for (const bool presenter : {false, true})
            for (std::size_t n = 0; n < chapters().size(); ++n) {
                const Chapter& chapter = chapters()[n];
                Program program(example("worked-4x4"), size, presenter);
                program.state.settings.zoom = n % 2 == 0 ? 1.0f : 1.9f;
                open_chapter(program.state, chapter);
                program.state.presenter = presenter;
                program.frame(2);
                INFO(program.where(), ", ", std::string(chapter.title));
                for (const KeyPress& press : {KeyPress{Key::tab}, back_tab, back_tab}) program.press(press);
                for (const Item& item : program.items())
                    if (item.kind == ItemKind::button || item.kind == ItemKind::field)
                        CHECK_MESSAGE((item.max.x >= item.min.x && item.max.y >= item.min.y), item.panel,
                                      " / ", item.text);
            }
}

TEST_CASE("what is turned inside out does not keep Tab from coming back") {
    HeadlessContext context;
    load_fonts(1, false);
    std::shared_ptr<Focus> focus;
    use_focus(focus);
    const auto draw = [] {
        focus_stop(7, {100, 140}, {160, 110});
        focus_stop(8, {100, 200}, {160, 220});
    };
    run_frame(800, 600, 1.0f / 60, draw);
    for (const ImGuiID expected : {8u, 7u, 8u}) {
        ImGuiID reached = 0;
        run_frame(800, 600, 1.0f / 60, [&] {
            answer_focus_key(back_tab);
            draw();
            reached = focused_item();
        });
        CHECK(reached == expected);
    }
}

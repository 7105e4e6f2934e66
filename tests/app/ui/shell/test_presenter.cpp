// Presenter mode with a mouse alone, and what an edit does to the history and the title.
#include "app/ui/kit/theme.h"
#include "app/ui/parts/presenter.h"
#include "app/ui/parts/pseudocode.h"
#include "app/ui/shell/frame.h"
#include "app/ui/state/chapters.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "core/class/spoken.h"
#include "core/walk/explain.h"
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

TEST_CASE("presenter mode shows its buttons while the mouse moves, and they lead on and out") {
    Program program;
    program.press(Key::p);
    program.frame(3);
    CHECK(program.look_for("leave") == nullptr);
    program.mouse_to(650, 300);
    program.mouse_to(700, 300);
    program.frame();
    program.check_steps({{"forward", 1}, {"back", 0}});
    CHECK(idle_seconds(program.state) < presenter_buttons_seconds + 1);

    program.frame(40, 0.1f);  // the mouse rests
    CHECK(program.look_for("leave") == nullptr);
    program.mouse_to(600, 36);
    program.frame();
    program.click("leave");
    CHECK_FALSE(program.state.presenter);
}

TEST_CASE("a new edit ends what could be redone") {
    Program program;
    set_element(program.state, {Slot::Q, 0, 0}, 2);
    undo(program.state);
    REQUIRE(program.state.redo.size() == 1);
    set_element(program.state, {Slot::Q, 0, 0}, 3);
    CHECK(program.state.redo.empty());
    redo(program.state);
    CHECK(program.state.problem->Q(0, 0) == 3);
    undo(program.state);
    CHECK(program.state.problem->Q(0, 0) == 1);
}

TEST_CASE("row by row, the formula follows the newest row") {
    Program program;
    program.go_to_step(15);
    program.press("alt+right");
    CHECK(program.state.cursor == Cursor{16, 1});
    CHECK(program.state.explanation.target == CellRef{Slot::l, 0, 0});
    program.press("alt+right");
    CHECK(program.state.cursor == Cursor{16, 2});
    program.press(Key::down);
    CHECK(program.state.explanation.target == CellRef{Slot::l, 1, 0});
}

TEST_CASE("an example that is changed says so, and no longer what to watch") {
    Program program;
    const std::string title = program.state.problem->title;
    REQUIRE_FALSE(program.state.problem->watch.empty());
    program.press(Key::i);
    program.click("Br/more");
    CHECK(program.state.problem->Br == 3);
    CHECK(program.state.problem->title == title + " (changed)");
    CHECK(program.shows(title + " *"));  // where the header has no room for the word
    CHECK(program.state.problem->watch.empty());
}

TEST_CASE("the rows of a ragged block bound the choice of the row") {
    Problem p = example("ragged-7x5");
    p.Br = 100;
    Program program(p);
    program.go_to_step(5);
    for (int n = 0; n < 30; ++n) program.press(Key::down);
    CHECK(program.state.row == p.N() - 1);
    program.press(Key::up);
    CHECK(program.state.row == p.N() - 2);
}

TEST_CASE("the list of examples takes the arrow keys, Enter and Escape while it is open") {
    Program program;
    program.click("example");
    REQUIRE(program.state.menu_open);
    const int row = program.state.row, step = program.step();
    program.press("down down space");
    CHECK(program.state.menu_at == 2);
    CHECK(program.state.row == row);
    CHECK_FALSE(program.state.player.playing);
    program.press(Key::escape);
    program.frame(2);
    CHECK_FALSE(program.state.menu_open);
    CHECK(program.step() == step);
    CHECK(program.state.problem->name == "worked-4x4");

    program.click("example");
    program.press("down enter");
    program.frame(2);
    CHECK_FALSE(program.state.menu_open);
    CHECK(program.state.problem->name == program.state.examples[1].name);
    program.press(Key::right);
    CHECK(program.step() == 1);
}

TEST_CASE(
    "the first step says where the walk leads and, where all of the pseudocode has room, what to watch") {
    Program program(example("worked-4x4"), {1920, 1080});
    program.check_shows({"softmax", "Watch:"});
    program.press(Key::right);
    program.frame();
    CHECK_FALSE(program.shows("Watch:"));
}

TEST_CASE("pseudocode that does not fit says how many lines stand above and below") {
    Program program(example("worked-4x4"), {1600, 900});
    program.go_to_step(14, 3);
    const std::vector<ShownCode> shown = shown_code(*program.state.lesson, *program.state.problem);
    std::size_t lines = 0, left_out = 0;
    for (const Item& item : program.items()) {
        if (item.kind != ItemKind::text || !item.visible) continue;
        if (item.text.starts_with("… "))
            left_out += static_cast<std::size_t>(std::atoi(item.text.substr(std::strlen("… ")).c_str()));
        else
            lines +=
                std::ranges::any_of(shown, [&](const ShownCode& code) { return code.text == item.text; });
    }
    CHECK(left_out > 0);
    CHECK(lines + left_out == shown.size());
}

namespace {

// The worked example as every lesson walks it, in presenter mode; look(program) at some of its steps.
template <class Look> void every_lesson(Program& program, Look look) {
    program.state.presenter = true;
    for (const Lesson& lesson : lessons()) {
        program.show_lesson(lesson.id);
        for (int k = 0; k < program.state.trace->size(); k += 3) {
            program.go_to_step(k, 3);
            look(lesson, k);
        }
    }
}

}  // namespace

TEST_CASE("P leads into presenter mode from every page and back, and a period blanks the screen") {
    Program program;
    for (const Chapter& chapter : chapters()) {
        open_chapter(program.state, chapter);
        program.settle();
        program.press(Key::p);
        CHECK(program.state.presenter);
        program.frame(2);
        CHECK_FALSE(program.items().empty());
        program.press(Key::p);
        CHECK_FALSE(program.state.presenter);
    }
    open_chapter(program.state, chapters()[0]);
    program.press(Key::p);
    const int step = program.step();
    program.press(Key::period);
    CHECK(program.state.blank);
    CHECK_FALSE(program.shows(" / "));
    program.press(Key::page_down);  // any key brings the page back, and does nothing else
    CHECK_FALSE(program.state.blank);
    CHECK(program.step() == step);
    CHECK(program.shows(" / "));
    program.check_steps({{"pagedown", step + 1}, {"pageup", step}});
}

TEST_CASE("the spotlight leaves in the dark what the step does not touch, and can be switched off") {
    Program program;
    program.state.presenter = true;
    program.go_to_step(10);  // K and V of the second block come from HBM
    program.frame(2);
    const auto faint = [&](std::string_view text) {
        const Item* item = nullptr;
        for (const Item& one : program.items())
            if (one.kind == ItemKind::text && one.text.starts_with(text) && one.panel == "HBM") item = &one;
        REQUIRE(item);
        return item->faint;
    };
    CHECK(faint("Q"));
    CHECK(faint("L"));
    CHECK_FALSE(faint("K"));
    program.state.settings.spotlight = false;
    program.frame(2);
    CHECK_FALSE(faint("Q"));
    program.state.settings.spotlight = true;
    program.go_to_step(16);
    CHECK(light_on(program.state, Slot::l) == 1);
    CHECK(light_on(program.state, Slot::Qi) < .6f);
    program.state.settings.motion = true;
    program.state.step_age = 0;  // P̃ was there the step before, ℓ comes into the light
    CHECK(light_on(program.state, Slot::P) == 1);
    CHECK(light_on(program.state, Slot::l) < .6f);
    program.state.settings.motion = false;
    CHECK(light_on(program.state, Slot::l) == 1);
}

// A number of the sentence that the formula has with more decimals has them there, too.
static std::string with_decimals_of(const Explanation& e, std::string words) {
    for (const Span& span : e.numbers) {
        if (span.face != Span::Face::number || contains(span.text, "×")) continue;
        const std::size_t from = span.text.find_first_of("0123456789");
        if (from == std::string::npos) continue;
        const std::string fine = span.text.substr(from, span.text.find_last_of("0123456789") + 1 - from);
        const std::size_t point = fine.find('.');
        for (int fewer = 1; point != std::string::npos && fewer <= 3; ++fewer) {
            const int decimals = static_cast<int>(fine.size() - point) - 1 - fewer;
            if (decimals < 1) break;
            const std::string coarse = format_fixed(read_shown(fine).value, decimals);
            for (const char* end : {" ", ",", ":", ".", ";"})
                words = replaced(words, " " + coarse + end, " " + fine + end);
        }
    }
    return words;
}

TEST_CASE("subtitles say every step in two lines that lie over nothing") {
    const std::pair<Screen, Problem> shown[] = {{{1280, 720}, causal(example("worked-4x4"))},
                                                {{1920, 1080}, causal(example("worked-4x4"))},
                                                {{1280, 720}, example("gradients-4x4")}};
    for (const auto& [screen, problem] : shown) {
        Program program(problem, screen);
        program.state.settings.subtitles = true;
        every_lesson(program, [&](const Lesson& lesson, int k) {
            std::string lines;
            for (const Item& item : program.items())
                if (item.kind == ItemKind::text) lines += " " + item.text;
            for (std::size_t at = 0; (at = lines.find("\u00A0", at)) != std::string::npos;)
                lines.replace(at, std::string_view("\u00A0").size(), " ");
            // A slide has one precision, which may be fewer digits than those of the settings.
            const AppState& state = program.state;
            bool said = false;
            for (int digits = number_style().digits; digits >= fewest_digits && !said; --digits) {
                const PlainNumbers restored;
                set_number_style({digits});
                const Explanation e = explain(*state.trace, k, state.explanation.target);
                std::string words = spoken(*state.trace, k, e);
                for (std::size_t at = 0; (at = words.find("\u00A0", at)) != std::string::npos;)
                    words.replace(at, std::string_view("\u00A0").size(), " ");
                said = contains(lines + " ", " " + words + " ") ||
                       contains(lines + " ", " " + with_decimals_of(e, words + " "));
            }
            CHECK_MESSAGE(said, lesson.id, " ", k, lines);
            check_frame(program);
        });
    }
    Program program;
    program.state.presenter = true;
    program.go_to_step(13, 2);
    CHECK(program.shows("found a larger score"));
    program.state.settings.subtitles = false;
    program.frame();
    CHECK_FALSE(program.shows("found a larger score"));
}

TEST_CASE("in a bright room every text of the presenter pages has a contrast of 7") {
    Program program(causal(example("worked-4x4")), {1280, 720});
    program.state.settings.theme = ThemeId::light;
    program.state.settings.spotlight = false;  // what lies in the dark is not to be read
    const auto check_page = [&] {
        for (const Item& item : program.items()) {
            if (item.kind != ItemKind::text || item.faint || item.fg == 0) continue;
            const float ratio = contrast(item.fg, item.bg);
            if (ratio < 6.99f) FAIL_CHECK(program.where(), ": ", item.text, ": ", ratio);
        }
    };
    for (const bool subtitles : {false, true}) {
        program.state.settings.subtitles = subtitles;
        every_lesson(program, [&](const Lesson&, int) { check_page(); });
    }
    program.state.page = Page::memory;
    program.frame(3);
    check_page();
}

TEST_CASE("a projector that cannot show black still tells the states of cells apart") {
    for (const Palette palette : {Palette::usual, Palette::safe}) {
        const Theme t = bright_room(theme(ThemeId::light, palette));
        // Such a projector shows black a quarter of the way to white.
        const auto washed_out = [](ImU32 colour) { return mix(colour, IM_COL32(255, 255, 255, 255), .25f); };
        const auto apart = [&](ImU32 a, ImU32 b) { return contrast(washed_out(a), washed_out(b)); };
        for (int n = 1; n <= static_cast<int>(Role::O); ++n) {
            const Role role = static_cast<Role>(n);
            INFO("role ", n);
            CHECK(apart(ramp(t, role, 0), ramp(t, role, 1)) >= 1.15f);  // the smallest and the largest value
            CHECK(apart(ramp(t, role, 1), t.panel) >= 1.15f);           // a cell and the page
            CHECK(apart(ramp(t, role, 1), ramp(t, role, 1, true)) >= 1.08f);  // in this step or not
            CHECK(apart(t.focus, ramp(t, role, 1)) >= 2.5f);  // the outline of what is written
            CHECK(apart(hue(t, role), t.panel) >= 2.5f);      // the dashes round what is read
        }
        CHECK(apart(t.line2, t.panel) >= 1.5f);
        CHECK(apart(t.t1, t.panel) >= 3.5f);
    }
}

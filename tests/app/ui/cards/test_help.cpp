// The list of keys: complete, searchable, scrollable, legible. Whatever a key does stands in it.
#include "app/ui/cards/cards.h"
#include "app/ui/kit/focus.h"
#include "app/ui/shell/frame.h"
#include "app/ui/state/marks.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <sstream>

using namespace tilewalk::test;

namespace {

bool same(const KeyPress& a, const KeyPress& b) {
    return a.key == b.key && a.shift == b.shift && a.ctrl == b.ctrl && a.alt == b.alt;
}

bool documented(const KeyPress& press) {
    return std::ranges::any_of(shortcuts(), [&](const Shortcut& s) {
        return std::ranges::any_of(s.presses, [&](const KeyPress& known) { return same(known, press); });
    });
}

// Everything that a press could have changed, as text.
std::string marks(const AppState& s) {
    std::ostringstream out;
    out << s.trace->lesson().id << ' ' << s.cursor.step << ' ' << s.cursor.done << ' ' << s.row << ' '
        << s.col << ' ' << s.player.playing << ' ' << static_cast<int>(s.settings.theme) << ' '
        << s.settings.zoom << ' ' << s.settings.motion << ' ' << s.presenter << s.show_help << s.show_goto
        << s.show_settings << s.show_menu << s.blank << s.menu_open << s.show_problem << s.show_break
        << s.settings.pseudocode << ' ' << static_cast<int>(s.page) << ' ' << s.softmax.tab << s.softmax.line
        << ' ' << s.softmax.split << ' ' << s.timeline.loop.first << ' ' << s.timeline.loop.last << ' '
        << !!s.inspection << !!s.tour << !!s.quiz << !!s.glossary << !!s.saving << !!s.matrix_menu << ' '
        << s.memory.N << ' ' << s.scale.N << ' ' << s.compare.measure << ' ' << s.undo.size() << ' '
        << s.redo.size() << ' ' << s.problem->Br << ' ' << s.notice;
    if (s.marks) out << " marks " << s.marks->breakpoints.size() << s.marks->card << shows_before(s);
    return out.str();
}

/// What keys do in a walk that stands in its middle.
struct Middle {
    Program program{example("worked-4x4"), {1280, 720}};
    AppState state;
    std::map<int, std::string> known;  // by key and modifiers

    explicit Middle(const char* lesson) {
        program.show_lesson(lesson);
        program.state.settings.motion = false;
        program.go_to_step(12);
        program.state.notice.clear();
        state = program.state;
    }
    // With the same fonts at every size: only the state is looked at, and loading fonts takes long.
    void draw() {
        run_frame(1280, 720, 1.0f / 60, [&] { frame(program.state); });
    }
    // The state after the press as text; empty if the press did nothing.
    const std::string& after(const KeyPress& press) {
        const int id = static_cast<int>(press.key) * 8 + press.shift + 2 * press.ctrl + 4 * press.alt;
        const auto [at, is_new] = known.try_emplace(id);
        if (!is_new) return at->second;
        program.state = state;
        clear_focus();
        draw();
        const std::string before = marks(program.state);
        program.state.keys.push_back(press);
        draw();
        const std::string now = marks(program.state);
        if (now != before) at->second = now;
        return at->second;
    }
};

std::string spelled(const KeyPress& p) {
    return std::string(p.ctrl ? "Ctrl " : "") + (p.shift ? "Shift " : "") + (p.alt ? "Alt " : "") + "key " +
           std::to_string(static_cast<int>(p.key));
}

std::ptrdiff_t actions_shown(const Program& program) {
    return std::ranges::count_if(shortcuts(),
                                 [&](const Shortcut& s) { return program.look_for(s.action, "Help"); });
}

}  // namespace

TEST_CASE("whatever a key does is in the list, with every modifier") {
    const auto with = [](Key key, int modifiers) {
        return KeyPress{key, (modifiers & 1) != 0, (modifiers & 2) != 0, (modifiers & 4) != 0};
    };
    int did_something = 0;
    for (const char* lesson : {"flash-forward", "softmax-1pass"}) {
        Middle walk(lesson);
        for (int n = 0; n <= static_cast<int>(Key::z); ++n)
            for (int modifiers = 0; modifiers < 8; ++modifiers) {
                const auto key = static_cast<Key>(n);
                const KeyPress press = with(key, modifiers);
                const std::string& does = walk.after(press);
                did_something += !does.empty();
                // A modifier that changes nothing about a key needs no line of its own.
                bool known = does.empty() || documented(press);
                for (int fewer = 0; fewer < modifiers; ++fewer)
                    if ((fewer & modifiers) == fewer && documented(with(key, fewer)))
                        known = known || does == walk.after(with(key, fewer));
                if (!known) FAIL_CHECK("not in the list: ", spelled(press), " gives ", does);
            }
    }
    CHECK(did_something > 150);
}

TEST_CASE("every line means keys, and no two of a group the same") {
    std::set<std::string> actions;
    for (const Shortcut& s : shortcuts()) {
        CAPTURE(s.keys);
        CHECK_FALSE(s.presses.empty());
        CHECK(actions.insert(std::string(s.group) + s.action).second);
    }
    CHECK(shortcuts().size() > 40);
}

TEST_CASE("typing leaves what fits, the list scrolls, Escape closes it") {
    Program program(example("worked-4x4"), {1280, 720});
    program.press(Key::question);
    REQUIRE(program.state.show_help);
    const std::ptrdiff_t at_first = actions_shown(program);
    CHECK(at_first > 20);
    program.press(Key::end);
    CHECK(program.shows("where a fault begins; its step"));
    program.press(Key::home);
    program.wheel(-100);
    CHECK(program.shows("where a fault begins; its step"));
    program.type("bookmark");
    CHECK(actions_shown(program) == 2);
    CHECK(program.shows("go to bookmark"));
    program.type(" set");
    CHECK(actions_shown(program) == 1);
    program.type("zzz");
    CHECK(program.shows("No key has that."));
    for (int n = 0; n < 20; ++n) program.press(Key::backspace);
    CHECK(actions_shown(program) == at_first);
    CHECK(program.step() == 0);
    program.press(Key::escape);
    CHECK_FALSE(program.state.show_help);
    program.press(Key::f1);
    CHECK(program.state.show_help);
    CHECK_FALSE(program.state.presenter);
    program.type("p");  // a letter to find, not presenter mode
    CHECK_FALSE(program.state.presenter);
    program.press(Key::f1);
    CHECK_FALSE(program.state.show_help);
}

TEST_CASE("the list has room at every size; on a projector 27 px and more") {
    in_every_look([](Program& program) {
        program.press(Key::f1);
        for (const char* key : {"home", "pagedown", "pagedown", "end"}) {
            program.press(key);
            check_card(program, "Help", key);
        }
    });
}

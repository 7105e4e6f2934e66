#include "app/ui/kit/key.h"

#include <doctest/doctest.h>
#include <string>

using namespace tilewalk;
using namespace tilewalk::ui;

TEST_SUITE("key names") {
    TEST_CASE("every key can be named, and what prints names itself") {
        int named = 0;
        for (const char* name :
             {"left",  "right", "up",     "down", "home",      "end",    "pageup", "pagedown",
              "space", "enter", "escape", "tab",  "backspace", "delete", "plus",   "minus",
              "f1",    "f2",    "f5",     "f9",   "f10",       "f11"}) {
            CAPTURE(name);
            REQUIRE(press_named(name));
            ++named;
        }
        int printed = 0;
        for (int n = 0; n <= static_cast<int>(Key::z); ++n) {
            const Key key = static_cast<Key>(n);
            if (!printed_by(key) || key == Key::space || key == Key::plus || key == Key::minus) continue;
            const auto press = press_named(std::string(1, printed_by(key)));
            REQUIRE(press);
            CHECK(press->key == key);
            CHECK(key_printing(printed_by(key)) == key);
            ++printed;
        }
        CHECK(named + printed == static_cast<int>(Key::z) + 1);
    }

    TEST_CASE("modifiers stand before, in any order") {
        for (const char* name : {"ctrl+shift+tab", "shift+ctrl+tab"}) {
            const auto press = press_named(name);
            REQUIRE(press);
            CHECK(press->key == Key::tab);
            CHECK(press->shift);
            CHECK(press->ctrl);
            CHECK_FALSE(press->alt);
        }
        CHECK(press_named("alt+left")->alt);
        CHECK(press_named("ctrl++")->key == Key::plus);
        for (const char* name : {"", " ", "Q", "shift", "shift+", "ctrl+foo", "tab+ctrl", "é", "qq"})
            CHECK_MESSAGE(!press_named(name), std::string(name));
    }

    TEST_CASE("a text field keeps what is typed and what edits it") {
        for (const char* name :
             {"q", "left", "enter", "space", "ctrl+c", "ctrl+x", "ctrl+left", "ctrl+space", "."})
            CHECK_MESSAGE(!works_while_typing(*press_named(name)), std::string(name));
        for (const char* name : {"f1", "f11", "tab", "shift+tab", "ctrl+s", "ctrl+plus", "ctrl+0"})
            CHECK_MESSAGE(works_while_typing(*press_named(name)), std::string(name));
    }
}

// Dialogs: nothing below them reacts, and Escape closes the top one.
#include "app/ui/cards/cards.h"
#include "tests/app/ui/harness.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

struct Dialog {
    const char* name;
    void (*open)(AppState&);
    bool (*is_open)(const AppState&);
};
const Dialog dialogs[] = {{"palette", finder_card.open, finder_card.is_open},
                          {"save", save_card.open, save_card.is_open},
                          {"help", help_card.open, help_card.is_open},
                          {"settings", settings_card.open, settings_card.is_open},
                          {"glossary", glossary_card.open, glossary_card.is_open}};

}  // namespace

TEST_SUITE("dialogs") {

    TEST_CASE("no key and no pointer reaches the page below, and Escape closes it") {
        for (const Dialog& dialog : dialogs) {
            CAPTURE(dialog.name);
            Program program;
            program.go_to_step(11);
            const ThemeId theme = program.state.settings.theme;
            const Item next = program.find("forward", "Timeline");
            dialog.open(program.state);
            program.frame(3);
            REQUIRE(dialog.is_open(program.state));
            program.press("t");
            program.press("x");
            program.press("n");
            program.press({Key::right, true});
            program.press({Key::z, false, true});
            CHECK(program.step() == 11);
            CHECK(program.state.settings.theme == theme);
            CHECK_FALSE(program.state.show_break);
            // A button of the page, beside the card
            program.mouse_to(next);
            program.frame(2);
            program.mouse_down(), program.mouse_up();
            CHECK(program.step() == 11);
            CHECK(dialog.is_open(program.state));
            program.press(Key::escape);
            CHECK_FALSE(dialog.is_open(program.state));
            program.frame(2);
            program.mouse_down(), program.mouse_up();
            CHECK(program.step() == 12);
        }
    }

}  // TEST_SUITE

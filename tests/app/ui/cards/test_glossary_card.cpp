// The glossary on screen: opened at the step, found by typing, gone through by keys and mouse, readable.
#include "app/ui/cards/cards.h"
#include "app/ui/kit/fonts.h"
#include "core/class/glossary.h"
#include "tests/app/ui/layout_check.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

std::string shown_card(const Program& program) {
    return program.state.glossary ? program.state.glossary->card : "";
}

}  // namespace

TEST_CASE("K opens it at what the step is about") {
    Program program;
    for (const auto& [step, id] : {std::pair{0, "queries"},
                                   {1, "start-values"},
                                   {3, "scores"},
                                   {4, "tile-max"},
                                   {14, "correction"},
                                   {15, "unnormalised-weights"},
                                   {18, "normalisation"}}) {
        program.go_to_step(step);
        program.press(Key::k);
        CHECK(shown_card(program) == id);
        CHECK(program.shows(find_card(id)->term));
        CHECK(program.state.glossary->search.empty());  // the K that opened it is not typed into it
        program.press(Key::escape);
        CHECK_FALSE(program.state.glossary);
        CHECK(program.step() == step);
    }
}

TEST_CASE("typing finds a term; Enter shows what stands around it") {
    Program program;
    program.press(Key::k);
    program.frame(2);
    program.type("lse");
    CHECK(program.state.glossary->search == "lse");
    CHECK(shown_card(program) == "log-sum-exp");
    program.check_shows({"Dao 2023", "Algorithm 1, line 13"});
    program.press(Key::enter);
    CHECK(program.state.glossary->search.empty());
    CHECK(shown_card(program) == "log-sum-exp");
    program.press(Key::down);
    CHECK(shown_card(program) == "row-of-scores");
    program.press("up up");
    CHECK(shown_card(program) == "correction");
    program.press(Key::home);
    CHECK(shown_card(program) == glossary().front().id);
    program.press(Key::end);
    CHECK(shown_card(program) == glossary().back().id);
    program.type("qqq");
    CHECK(program.shows("No card has that."));
    for (int n = 0; n < 3; ++n) program.press(Key::backspace);
    CHECK_FALSE(program.shows("No card has that."));
    CHECK(program.step() == 0);
    CHECK_FALSE(program.state.quiz);
}

TEST_CASE("related terms and rows are clicked, the wheel moves the list") {
    Program program;
    open_glossary(program.state, "alpha");
    program.frame(3);
    CHECK(shown_card(program) == "correction");
    program.click("related rescaling", "Glossary");
    CHECK(shown_card(program) == "rescaling");
    program.press(Key::home);
    program.click("card values", "Glossary");
    CHECK(shown_card(program) == "values");
    program.wheel(-10);
    CHECK_FALSE(program.look_for("card values", "Glossary"));
    program.wheel(100);
    CHECK(program.look_for("card values", "Glossary"));
    program.click("close glossary", "Glossary");
    CHECK_FALSE(program.state.glossary);
}

TEST_CASE("every card has room at every size, in every theme") {
    for (const auto& [screen, presenter, theme] : {std::tuple{Screen{1024, 640}, false, ThemeId::contrast},
                                                   {Screen{1280, 720}, false, ThemeId::dark},
                                                   {Screen{1920, 1080}, false, ThemeId::light},
                                                   {Screen{1280, 720}, true, ThemeId::dark},
                                                   {Screen{1920, 1080}, true, ThemeId::contrast}}) {
        Program program(example("worked-4x4"), screen, presenter, theme);
        for (const GlossaryCard& card : glossary()) {
            open_glossary(program.state);
            program.state.glossary->card = card.id;
            program.frame(2);
            check_card(program, "Glossary", card.id);
            for (const Item& item : program.items())  // indices stand below their letters
                if (item.panel == "Glossary" && item.kind == ItemKind::text)
                    CHECK_MESSAGE(item.text.find("m_") == std::string::npos, item.text);
        }
    }
}

TEST_CASE("every character of every card is in the fonts") {
    const std::string_view glyphs = used_glyphs();
    for (const GlossaryCard& card : glossary())
        for (std::string_view rest : std::initializer_list<std::string_view>{
                 card.term, card.shape, card.text, card.from.source, card.from.place}) {
            while (!rest.empty()) {
                const std::string_view before = rest;
                const unsigned c = next_code_point(rest);
                const std::string_view letter = before.substr(0, before.size() - rest.size());
                const bool latin = c >= 0xA0 && c <= 0xFF;
                const bool known = latin || c == 0x0303 || glyphs.find(letter) != std::string_view::npos;
                CHECK_MESSAGE(known, std::string(letter), " in ", std::string(card.id));
            }
        }
}

// Pictures as vectors: valid, complete, and their text is text.
#include "app/render/offscreen.h"
#include "app/ui/cards/cards.h"
#include "app/ui/kit/vector_picture.h"
#include "tests/app/ui/harness.h"
#include "tests/app/ui/kit/xml_check.h"

#include <clocale>
#include <cmath>
#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

struct Recording {
    VectorPicture picture;
    Recording() { vector_picture = &picture; }
    ~Recording() { vector_picture = nullptr; }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
};

/// One frame of the program as SVG, together with the list of what it showed.
std::string drawn(Program& program) {
    Recording recorder;
    program.frame();
    order_layers(recorder.picture, *ImGui::GetDrawData());
    return to_svg(recorder.picture, program.screen.width, program.screen.height);
}

/// What is drawn on an empty page, in front and behind.
using Draw = std::function<void(const Canvas& front, const Canvas& behind)>;
std::string drawn(const Draw& draw) {
    Program program;
    Recording recorder;
    run_frame(400, 300, 1.0f / 60, [&] {
        draw(canvas_on(ImGui::GetForegroundDrawList()), canvas_on(ImGui::GetBackgroundDrawList()));
    });
    order_layers(recorder.picture, *ImGui::GetDrawData());
    return to_svg(recorder.picture, 400, 300);
}

struct Placed {
    std::string text;
    float x, y;  ///< left end of the baseline
};

// Over capitals the tilde is a letter of its own, placed by hand.
std::string with_combining_tildes(std::string text) {
    constexpr std::string_view small = "\u02DC", combining = "\u0303";
    for (std::size_t at = text.find(small); at != std::string::npos; at = text.find(small))
        text.replace(at, small.size(), combining);
    return text;
}

std::vector<Placed> texts_of(const Xml& xml) {
    std::vector<Placed> out;
    for (std::size_t n = 0; n < xml.elements.size(); ++n) {
        const XmlElement& e = xml.elements[n];
        if (e.name != "text") continue;
        const bool pieces = !e.attributes.contains("x");
        const XmlElement& first = pieces ? xml.elements.at(n + 1) : e;
        float x = first.number("x");
        if (const auto anchor = e.attributes.find("text-anchor"); anchor != e.attributes.end()) {
            const float width = e.attributes.contains("textLength") ? e.number("textLength") : 0;
            x -= anchor->second == "middle" ? width / 2 : width;
        }
        out.push_back({with_combining_tildes(e.text), x, first.number("y")});
    }
    return out;
}

bool blank(const std::string& text) { return text.find_first_not_of(' ') == std::string::npos; }

// A single letter says no width: it may stand a letter's half beside its left end.
bool stands_at(const Placed& text, const Item& item) {
    const float slack = 1.5f + (text.text.size() <= 4 ? item.max.x - item.min.x : 0);
    return std::abs(text.x - item.min.x) <= slack && text.y > item.min.y && text.y <= item.max.y + 1.5f;
}

// Every text that the frame noted is a text of the picture, at the same place.
void check_texts(Program& program) {
    const std::string svg = drawn(program);
    const Xml xml = read_xml(svg);
    REQUIRE_MESSAGE(xml.error.empty(), program.where(), ": ", xml.error);
    std::multimap<std::string, Placed> texts;
    for (const Placed& text : texts_of(xml)) texts.emplace(text.text, text);
    int seen = 0;
    for (const Item& item : program.items()) {
        if (item.kind != ItemKind::text || !item.visible || blank(item.text)) continue;
        const auto [from, to] = texts.equal_range(item.text);
        bool found = false;
        for (auto it = from; it != to; ++it) found |= stands_at(it->second, item);
        CHECK_MESSAGE(found, program.where(), ": no text \"", item.text, "\" at ", item.min.x, ", ",
                      item.min.y);
        ++seen;
    }
    CHECK_MESSAGE(seen > 1, program.where());
}

void check_both_modes(Program& program) {
    for (const bool presenter : {false, true}) {
        program.state.presenter = presenter;
        program.frame_unlisted();
        check_texts(program);
    }
    program.state.presenter = false;
}

}  // namespace

TEST_SUITE("vector picture") {

    TEST_CASE("the checker refuses what is not well-formed") {
        CHECK(read_xml("<a x=\"1\"><b/>t &lt; u</a>\n").error.empty());
        for (const char* bad : {"<a><b></a></b>", "<a", "<a x=1/>", "<a x=\"1\" x=\"2\"/>", "<a>&nbsp;</a>",
                                "<a/><b/>", "<a>1 > 0</a>", "<a x=\"<\"/>", "", "<a>\x01</a>", "<a/>text"})
            CHECK_MESSAGE(!read_xml(bad).error.empty(), std::string(bad));
    }

    TEST_CASE("every text of every lesson is in the picture") {
        for (const Lesson& lesson : lessons()) {
            Program program;
            REQUIRE_FALSE(refuse(lesson, *program.state.problem));
            program.show_lesson(lesson.id);
            const int last = program.state.trace->size() - 1;
            for (const int k : {last / 2, last}) {
                program.go_to_step(k);
                check_both_modes(program);
                if (!in_full) break;
            }
        }
    }

    TEST_CASE("every text of the pages, panels and cards is in the picture") {
        Program program(example("causal-8"));
        AppState& state = program.state;
        for (const Page page : {Page::memory, Page::scale, Page::inside, Page::compare}) {
            state.page = page;
            program.frame_unlisted();
            program.settle();
            check_both_modes(program);
        }
        state.page = Page::walk;
        state.show_problem = true;
        check_texts(program);
        state.show_problem = false, state.show_break = true;
        check_texts(program);
        state.show_help = true;
        program.frame_unlisted();
        check_texts(program);
        state.show_help = false, state.show_goto = true;
        program.frame_unlisted();
        check_texts(program);
    }

    TEST_CASE("what lies on top comes last, whatever was drawn first") {
        Program program;
        program.state.show_help = true;
        program.frame_unlisted();
        const std::string svg = drawn(program);
        const std::size_t below = svg.find(">Step</text>"), above = svg.find(">Keys</text>");
        REQUIRE(below != std::string::npos);
        REQUIRE(above != std::string::npos);
        CHECK(below < above);
    }

    TEST_CASE("layers lie as ImGui draws them, not as they were drawn into") {
        const std::string svg = drawn([](const Canvas& front, const Canvas& behind) {
            front.text(10, 50, "above");
            behind.text(10, 50, "below");
        });
        REQUIRE(contains(svg, ">below<"));
        CHECK(svg.find(">below<") < svg.find(">above<"));
    }

    TEST_CASE("a text field shows its text, cut at its edges") {
        Program program;
        open_save_card(program.state);
        fill_in(
            program.state.saving->path,
            "/a/very/long/path/that/goes/on/and/on/and/on/and/on/and/on/until/it/leaves/its/field/<&>.svg");
        program.frame(2);
        const std::string svg = drawn(program);
        const Xml xml = read_xml(svg);
        REQUIRE(xml.error.empty());
        const auto text = std::find_if(xml.elements.begin(), xml.elements.end(), [](const XmlElement& e) {
            return e.name == "text" && e.text.ends_with("its/field/<&>.svg");
        });
        REQUIRE(text != xml.elements.end());
        const XmlElement& parent = xml.elements[static_cast<std::size_t>(text->parent)];
        CHECK(parent.name == "g");
        CHECK(parent.attributes.contains("clip-path"));
    }

    TEST_CASE("shapes as they were drawn") {
        const std::string svg = drawn([](const Canvas& c, const Canvas&) {
            const ImU32 red = IM_COL32(255, 0, 0, 255);
            c.rect(10, 20, 30, 40, red, 5);
            c.rect(-20, 100, 40, 10, red);
            c.rect(1000, 0, 10, 10, red);
            c.rect(50, 50, 5, 5, IM_COL32(1, 2, 3, 0));
            c.faded(.5f).disc(100, 100, 7, red);
            c.dashed_line({0, 200}, {100, 200}, red, 1, {5, 4});
            c.line({0, 10.5f}, {20, 10.5f}, red);
            c.line({0, 12.5f}, {20, 12.5f}, red);
            c.rich(100, 150, {symbol("S", Role::none, true), sub("ij"), word(" < 1 & 2")}, 16);
        });
        CAPTURE(svg);
        const auto holds = [&](const char* part) { return contains(svg, part); };
        CHECK(read_xml(svg).error.empty());
        CHECK(holds("<rect x=\"10\" y=\"20\" width=\"30\" height=\"40\" rx=\"5\" fill=\"#ff0000\"/>"));
        CHECK(holds("<rect x=\"-20\" y=\"100\" width=\"40\" height=\"10\" fill=\"#ff0000\"/>"));
        CHECK(!holds("1000"));
        CHECK(!holds("#010203"));
        CHECK(holds("<circle cx=\"100\" cy=\"100\" r=\"7\" fill=\"#ff0000\" fill-opacity=\"0.5\"/>"));
        CHECK(holds("stroke-dasharray=\"5 3.64\""));
        CHECK(holds("<path d=\"M0 10.5H20M0 12.5H20\" fill=\"none\" stroke=\"#ff0000\"/>"));
        CHECK(holds(">S</tspan>"));
        CHECK(holds(">\u02DC</tspan>"));
        CHECK(holds(">ij</tspan>"));
        CHECK(holds("<text xml:space=\"preserve\"><tspan"));
        CHECK(holds(" &lt; 1 &amp; 2</tspan></text>"));
        CHECK(!holds("clipPath"));
    }

    TEST_CASE("the same frame, the same file; another step, another one; no locale") {
        Program program;
        program.go_to_step(10);
        const std::string first = svg_of_frame(program.state, 1280, 720);
        CHECK(first == svg_of_frame(program.state, 1280, 720));
        const char* comma = std::setlocale(LC_ALL, "de_DE.UTF-8");
        CHECK(first == svg_of_frame(program.state, 1280, 720));
        if (comma) std::setlocale(LC_ALL, "C");
        program.go_to_step(11);
        CHECK(first != svg_of_frame(program.state, 1280, 720));
        CHECK(vector_picture == nullptr);
        CHECK(svg_of_frame(program.state, 10, 10).empty());
        const std::string named = svg_of_frame(program.state, 1280, 720, "a-");
        CHECK_FALSE(contains(named, "url(#clip"));
        CHECK(first.size() < 400000);
    }

}  // TEST_SUITE

#include "app/render/offscreen.h"
#include "app/ui/kit/canvas.h"
#include "app/ui/kit/canvas_cell.h"
#include "app/ui/kit/vector_picture.h"
#include "tests/app/ui/harness.h"

#include <doctest/doctest.h>

using namespace tilewalk;
using namespace tilewalk::ui;

namespace {

constexpr ImU32 red = IM_COL32(255, 0, 0, 255);
const std::string twelve_words = test::repeated("word ", 11) + "word";

/// A context with fonts, and a canvas that covers the whole picture.
struct Paper {
    HeadlessContext context;
    float scale;
    explicit Paper(float s = 1) : scale(s) { load_fonts(s, false); }

    Image draw(int width, int height, const std::function<void(const Canvas&)>& with) const {
        run_frame(width, height, 0, [&] { with(canvas(ImGui::GetBackgroundDrawList())); });
        return picture_of_frame(width, height, IM_COL32_BLACK);
    }
    Canvas canvas(ImDrawList* list = nullptr) const { return test::canvas_on(list, ThemeId::dark, scale); }
};

bool lit(const Image& image, int x, int y) {
    const std::uint8_t* p = &image.rgba[4 * static_cast<std::size_t>(y * image.width + x)];
    return p[0] + p[1] + p[2] > 0;
}

struct Extent {
    int left = 1 << 20, top = 1 << 20, right = -1, bottom = -1, count = 0;
};
Extent extent(const Image& image) {
    Extent e;
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x)
            if (lit(image, x, y)) {
                e.left = std::min(e.left, x), e.right = std::max(e.right, x);
                e.top = std::min(e.top, y), e.bottom = std::max(e.bottom, y);
                ++e.count;
            }
    return e;
}

}  // namespace

TEST_CASE("edges lie on whole pixels at every scale") {
    for (float scale : {1.0f, 1.25f, 1.5f, 2.0f}) {
        CAPTURE(scale);
        const Paper paper(scale);
        const Image image =
            paper.draw(80, 60, [](const Canvas& c) { c.rect(5.3f, 4.1f, 20.4f, 11.7f, red); });
        const Extent e = extent(image);
        CHECK(e.count == (e.right - e.left + 1) * (e.bottom - e.top + 1));
    }
}

TEST_CASE("a thin frame is one full pixel wide on all four sides") {
    const Paper paper;
    for (float shift : {0.0f, 0.5f}) {
        CAPTURE(shift);
        const Image image =
            paper.draw(40, 30, [&](const Canvas& c) { c.frame(4 + shift, 4 + shift, 20, 12, red, 1); });
        const Extent e = extent(image);
        const int w = e.right - e.left + 1, h = e.bottom - e.top + 1;
        CHECK(e.count == 2 * w + 2 * (h - 2));
        for (int x : {e.left, e.right}) CHECK(image.rgba[4 * static_cast<std::size_t>(8 * 40 + x)] == 255);
    }
}

TEST_CASE("a dashed frame closes its corners and has gaps") {
    const Paper paper;
    const Image image = paper.draw(120, 80, [](const Canvas& c) {
        c.dashed_frame(10, 10, 90, 50, red, 2, {7, 4});
    });
    const Extent e = extent(image);
    for (int x : {e.left, e.left + 5, e.right - 5, e.right})
        for (int y : {e.top, e.bottom}) CHECK(lit(image, x, y));
    const int outline = 2 * (2 * (e.right - e.left + 1) + 2 * (e.bottom - e.top - 3));
    CHECK(e.count > outline / 2);
    CHECK(e.count < outline * 8 / 10);
}

TEST_CASE("a hatch stays inside its rectangle") {
    const Paper paper;
    const Image image = paper.draw(60, 60, [](const Canvas& c) { c.hatch(10, 20, 30, 16, red, 5); });
    const Extent e = extent(image);
    CHECK(e.left >= 9);
    CHECK(e.right <= 40);
    CHECK(e.top >= 19);
    CHECK(e.bottom <= 36);
    CHECK(e.count > 80);
}

TEST_CASE("shapes without extent or with a pitch of nothing do not hang") {
    const Paper paper;
    const Image image = paper.draw(20, 20, [](const Canvas& c) {
        c.hatch(0, 0, 10, 10, red, 0);
        c.hatch(0, 0, 1e9f, 10, red, 1);
        c.dashed_line({0, 0}, {10, 0}, red, 1, {0, 0});
        c.dashed_line({0, 0}, {1e9f, 0}, red, 1, {1, 0});
        c.arrow({{3, 3}}, ArrowStyle::active);
        c.arrow({{3, 3}, {3, 3}}, ArrowStyle::idle);
        c.bezier_arrow({1, 1}, {1, 1}, {1, 1}, {1, 1}, red);
        c.head({5, 5}, {0, 0}, red);
        c.rect(5, 5, -3, 2, red);
    });
    CHECK(image.width == 20);
}

TEST_CASE("an arrow ends at its tip, and a part of it earlier") {
    const Paper paper;
    auto reach = [&](float progress) {
        return extent(paper.draw(120, 40,
                                 [&](const Canvas& c) {
                                     c.arrow({{10, 20}, {100, 20}}, ArrowStyle::active, red, progress);
                                 }))
            .right;
    };
    CHECK(reach(1) >= 98);
    CHECK(reach(1) <= 101);
    CHECK(reach(.5f) == doctest::Approx(55).epsilon(.04));
}

TEST_CASE("text is centred on its capitals") {
    for (float scale : {1.0f, 2.0f}) {
        const Paper paper(scale);
        const int side = static_cast<int>(60 * scale);
        for (Face face : {Face::regular, Face::semibold, Face::mono}) {
            const Extent e = extent(paper.draw(
                side, side, [&](const Canvas& c) { c.text(30, 30, "H", 15, red, face, Align::center); }));
            CHECK(std::abs(e.top + e.bottom + 1 - side) <= 2);
            CHECK(std::abs(e.left + e.right + 1 - side) <= 3);
        }
    }
}

TEST_CASE("alignment moves text by its width") {
    const Paper paper;
    auto left_edge = [&](float x, Align align) {
        return extent(
                   paper.draw(200, 40,
                              [&](const Canvas& c) { c.text(x, 20, "12345", 15, red, Face::mono, align); }))
            .left;
    };
    CHECK(left_edge(20, Align::left) == left_edge(65, Align::right));
    CHECK(std::abs(left_edge(20, Align::left) - left_edge(42.5f, Align::center)) <= 1);
}

TEST_CASE("a tilde is drawn above its letter") {
    const Paper paper;
    auto top = [&](const Line& line) {
        return extent(paper.draw(60, 60, [&](const Canvas& c) { c.rich(20, 30, line, 18); })).top;
    };
    CHECK(top({symbol("P", Role::S, true)}) < top({symbol("P", Role::S)}));
    CHECK(top({symbol("m", Role::m, true)}) < top({symbol("m", Role::m)}));
}

TEST_CASE("the width of styled pieces is the sum of their parts, and what drawing returns") {
    const Paper paper;
    const Line line = {symbol("ℓ", Role::l), word(" = "), number("0.368", Role::alpha), symbol("K", Role::K),
                       sub("1", Role::K)};
    float sum = 0, returned = 0;
    paper.draw(300, 40, [&](const Canvas& c) {
        for (const Span& span : line) sum += rich_width(c, {span}, 18);
        returned = c.rich(10, 20, line, 18);
    });
    CHECK(returned == doctest::Approx(sum));
    CHECK(rich_width(paper.canvas(), {symbol("P", Role::S, true)}, 18) ==
          doctest::Approx(rich_width(paper.canvas(), {symbol("P", Role::S)}, 18)));
    CHECK(rich_width(paper.canvas(), {sub("0")}, 22) < rich_width(paper.canvas(), {word("0")}, 22));
    CHECK(rich_width(paper.canvas(), {}, 18) == 0);
}

TEST_CASE("paragraphs break into lines that fit, and end in an ellipsis where they are cut") {
    const Paper paper;
    ItemRegistry list;
    item_registry = &list;
    float full = 0, cut = 0;
    paper.draw(400, 400, [&](const Canvas& c) {
        full = c.paragraph(10, 10, 120, twelve_words, 15);
        cut = c.paragraph(10, 200, 120, twelve_words, 15, 0, 2);
    });
    item_registry = nullptr;
    CHECK(full == doctest::Approx(paragraph_height(120, twelve_words, 15)));
    CHECK(full > 3 * cut / 2);
    CHECK(cut == doctest::Approx(2 * 15 * 1.45f));
    for (const Item& item : list.items) CHECK(item.max.x <= 10 + 120 + 1);
    CHECK(list.items.back().text.ends_with("…"));
}

TEST_CASE("a paragraph breaks neither beside a sign nor between a number and its unit") {
    const Paper paper;
    const auto lines_of = [&](std::string_view text, float w) {
        ItemRegistry list;
        item_registry = &list;
        paper.draw(900, 400, [&](const Canvas& c) { c.paragraph(10, 10, w, text, 15); });
        item_registry = nullptr;
        std::vector<std::string> lines;
        for (const Item& item : list.items) lines.push_back(item.text);
        return lines;
    };
    const std::string blocks = "the key blocks stream past: 2 rows × 4 columns × 4 bytes.";
    const auto fits = [](std::string_view text) { return text_width(Face::regular, 15, text) + 2; };
    CHECK(lines_of(blocks, fits("the key blocks stream past: 2 rows ×")) ==
          std::vector<std::string>{"the key blocks stream past:", "2 rows × 4 columns × 4 bytes."});
    CHECK(lines_of("and keeps 1 MiB of L instead", fits("and keeps 1")) ==
          std::vector<std::string>{"and keeps", "1 MiB of L", "instead"});
    CHECK(lines_of("agrees with what key 0 contains", fits("agrees with what key")) ==
          std::vector<std::string>{"agrees with what", "key 0 contains"});
    // Where nothing else is left, a formula breaks as it can.
    CHECK(lines_of("1 + 2 + 3 + 4 + 5 + 6", fits("1 + 2 +")).size() > 2);
}

TEST_CASE("lines of even width are not more of them, and end closer to each other") {
    const Paper paper;
    const std::string text =
        "Queries 0 and 1 come on chip once and stay there while all key blocks stream past";
    const float w = text_width(Face::regular, 15, text) - 40, even = even_width(w, text, 15);
    CHECK(even < .7f * w);
    CHECK(paragraph_height(even, text, 15) == paragraph_height(w, text, 15));
    CHECK(even_width(2 * w, text, 15) == 2 * w);
}

TEST_CASE("words without a space and odd bytes still break") {
    const Paper paper;
    CHECK(paragraph_height(40, std::string(200, 'x'), 15) > 15 * 1.45f * 20);
    CHECK(paragraph_height(0, "ab", 15) == doctest::Approx(2 * 15 * 1.45f));
    CHECK(paragraph_height(40, "", 15) == 0);
    CHECK(paragraph_height(40, "\xFF\xFE\n\n\x80", 15) > 0);
}

TEST_CASE("long formulas break at spaces only") {
    const Paper paper;
    Line line;
    for (int k = 0; k < 8; ++k) {
        line.push_back(number("1.000", Role::S));
        line.push_back(word(" + "));
    }
    const Canvas c = paper.canvas();
    const float one_line = rich_paragraph_height(c, 1e6f, line, 16);
    CHECK(rich_paragraph_height(c, 200, line, 16) > one_line);
    CHECK(rich_paragraph_height(c, 200, line, 16, 2) == doctest::Approx(2 * one_line));
    CHECK(rich_paragraph_height(c, 1, {symbol("P", Role::S), sub("0", Role::S)}, 16) ==
          doctest::Approx(one_line));
}

TEST_CASE("arithmetic breaks between its terms, in brackets only where a term is too long for a line") {
    const Paper paper;
    const Line line = {number("0.368"), word(" × "), number("1.368"), word(" + "), word("("),
                       number("1.000"), word(" + "), number("0.135"), word(")")};
    const auto lines_of = [&](float w) {
        ItemRegistry list;
        item_registry = &list;
        paper.draw(900, 400, [&](const Canvas& c) { c.rich_paragraph(10, 10, w, line, 16); });
        item_registry = nullptr;
        std::vector<std::string> lines;
        float at = -1;
        for (const Item& item : list.items) {
            if (item.min.y > at + 5) lines.emplace_back();
            at = item.min.y;
            lines.back() += item.text;
        }
        for (std::string& one : lines)
            while (one.ends_with(' ')) one.pop_back();
        return lines;
    };
    const Canvas c = paper.canvas();
    const auto room = [&](std::ptrdiff_t spans) {
        return rich_width(c, Line(line.begin(), line.begin() + spans), 16) + 2;
    };
    CHECK(lines_of(room(7)) == std::vector<std::string>{"0.368 × 1.368", "+ (1.000 + 0.135)"});
    CHECK(lines_of(room(2)) == std::vector<std::string>{"0.368", "× 1.368", "+ (1.000", "+ 0.135)"});
}

TEST_CASE("a product of letters stays together where a line is broken") {
    const Paper paper;
    const Line line{symbol("P", Role::S), sub("j", Role::S), word(" "), symbol("dP", Role::S), word(" − "),
                    symbol("P", Role::S), sub("j", Role::S), word(" "), symbol("D", Role::D)};
    ItemRegistry list;
    item_registry = &list;
    const float w = rich_width(paper.canvas(), Line(line.begin(), line.begin() + 7), 16) + 2;
    paper.draw(900, 400, [&](const Canvas& c) { c.rich_paragraph(10, 10, w, line, 16); });
    item_registry = nullptr;
    REQUIRE(list.items.size() == 2);
    CHECK(list.items[1].text == "− Pj D");
}

TEST_CASE(
    "an index is smaller than its letter, at every size, and hangs no lower than a letter with a tail") {
    for (const bool presenter : {false, true}) {
        const HeadlessContext context;
        load_fonts(1, presenter);
        const float least = presenter ? 27 : 13;
        for (const float size : {least, least + 1, least + 3, least * 1.33f}) {
            VectorPicture picture;
            vector_picture = &picture;
            run_frame(200, 100, 0, [&] {
                Canvas c = test::canvas_on(ImGui::GetForegroundDrawList());
                c.min_text = least;
                c.rich(10, 40, {symbol("O", Role::O), sub("0", Role::O)}, size);
            });
            vector_picture = nullptr;
            REQUIRE(picture.shapes.size() == 1);
            const auto& runs = picture.shapes[0].runs;
            REQUIRE(runs.size() == 2);
            CHECK(runs[1].em <= .8f * runs[0].em);
            CHECK(runs[1].em >= .65f * runs[0].em);
            CHECK(runs[1].at.y - runs[0].at.y <= .26f * runs[0].em);
        }
    }
}

TEST_CASE("each state of a cell looks different, in grey too") {
    const Paper paper;
    std::vector<CellLook> looks(8);
    for (CellLook& look : looks) look.role = Role::l, look.t = .5f, look.text = "1.639";
    looks[1].state = CellState::read;
    looks[2].state = CellState::written;
    looks[3].state = CellState::written, looks[3].before = "1.368";
    looks[4].state = CellState::discarded;
    looks[5].state = CellState::pending;
    looks[6].masked = true;
    looks[7].nan = true;
    std::vector<std::vector<int>> pictures;
    for (const CellLook& look : looks) {
        const Image image = paper.draw(80, 80, [&](const Canvas& c) { cell(c, 10, 10, 54, 54, look); });
        std::vector<int> grey;
        for (std::size_t k = 0; k < image.rgba.size(); k += 4)
            grey.push_back(image.rgba[k] * 2 + image.rgba[k + 1] * 7 + image.rgba[k + 2]);
        for (const auto& other : pictures) CHECK(other != grey);
        pictures.push_back(grey);
    }
}

TEST_CASE("fading makes everything paler") {
    const Paper paper;
    const Image image = paper.draw(20, 20, [](const Canvas& c) { c.faded(.5f).rect(0, 0, 20, 20, red); });
    CHECK(image.rgba[0] == 128);
}

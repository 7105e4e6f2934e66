#include "app/render/offscreen.h"
#include "app/ui/kit/fonts.h"
#include "app/ui/kit/imgui_compat.h"
#include "cuda/host/gpu.h"

#include <doctest/doctest.h>
#include <limits>

using namespace tilewalk;
using namespace tilewalk::ui;

namespace {

Face face_at(int index) { return static_cast<Face>(index); }

std::string glyphs_that_miss(Face face) {
    std::string missing;
    std::string_view rest = used_glyphs();
    while (!rest.empty()) {
        const std::string_view before = rest;
        const unsigned code_point = next_code_point(rest);
        if (!has_glyph(font(face, 15), code_point)) missing += before.substr(0, before.size() - rest.size());
    }
    return missing;
}

}  // namespace

TEST_CASE("every face has every character that the program draws") {
    const HeadlessContext context;
    for (bool presenter : {false, true}) {
        load_fonts(1, presenter);
        REQUIRE(font_problem() == "");
        for (int face = 0; face < face_count; ++face) {
            CAPTURE(face);
            CHECK(glyphs_that_miss(face_at(face)) == "");
        }
    }
}

TEST_CASE(
    "every character of the kernels' text, which the page Inside shows, is one that the program draws") {
    const auto drawn = [](std::string_view letter) {
        return used_glyphs().find(letter) != std::string_view::npos;
    };
    int letters = 0;
    for (const EmbeddedFile& file : gpu::kernel_sources())
        for (std::string_view rest = file.text; !rest.empty();) {
            const std::string_view before = rest;
            constexpr unsigned tilde = 0x303;  // which the canvas draws above the letter
            const unsigned code_point = next_code_point(rest);
            if (code_point < ' ' || code_point == tilde) continue;
            const std::string_view letter = before.substr(0, before.size() - rest.size());
            if (!drawn(letter)) FAIL_CHECK(file.name, ": ", letter);
            ++letters;
        }
    CHECK(letters > 100000);
}

TEST_CASE("fonts are built once per scale and mode") {
    const HeadlessContext context;
    CHECK(load_fonts(1, false));
    CHECK_FALSE(load_fonts(1, false));
    CHECK(load_fonts(1.5f, false));
    CHECK(load_fonts(1.5f, true));
    CHECK_FALSE(load_fonts(1.5f, true));
    CHECK(font_scale() == 1.5f);
}

TEST_CASE("a second context gets fonts of its own") {
    for (int round = 0; round < 3; ++round) {
        const HeadlessContext context;
        CHECK(load_fonts(1, false));
        const ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
        CHECK(atlas.Fonts.contains(font(Face::mono, 15)));
    }
}

TEST_CASE("scales that make no sense are bounded") {
    const HeadlessContext context;
    load_fonts(std::numeric_limits<float>::quiet_NaN(), false);
    CHECK(font_scale() == 1);
    load_fonts(-3, false);
    CHECK(font_scale() == .5f);
}

TEST_CASE("the nearest baked size is taken, and nothing is under 27 in presenter mode") {
    const HeadlessContext context;
    load_fonts(1, false);
    CHECK(baked_em(Face::regular, 15) == 15);
    CHECK(baked_em(Face::semibold, 23) == 22);
    CHECK(baked_em(Face::regular, 3) == 13);
    load_fonts(1, true);
    for (int face = 0; face < face_count; ++face) CHECK(baked_em(face_at(face), 13) == 27);
}

TEST_CASE("text is as wide as the em size promises") {
    const HeadlessContext context;
    load_fonts(1, false);
    // DejaVu Sans Mono advances 0.602 em per character, rounded to whole pixels.
    CHECK(text_width(Face::mono, 15, "12345") == doctest::Approx(45));
    CHECK(text_width(Face::mono, 15, "") == 0);
    CHECK(text_width(Face::mono, 15, "P\u0303") == doctest::Approx(9));
    // Inter's H is 0.744 em wide.
    CHECK(text_width(Face::regular, 20, "HHHH") == doctest::Approx(4 * 20 * .744).epsilon(.02));
    const float once = text_width(Face::semibold, 15, "Row sum");
    load_fonts(2, false);
    CHECK(text_width(Face::semibold, 15, "Row sum") == doctest::Approx(once).epsilon(.02));
}

TEST_CASE("code points are read, and bytes that are none do not hang") {
    auto all = [](std::string_view text) {
        std::vector<unsigned> points;
        while (!text.empty()) points.push_back(next_code_point(text));
        return points;
    };
    CHECK(all("aé∞") == std::vector<unsigned>{'a', 0xE9, 0x221E});
    CHECK(all("\xFF\x80") == std::vector<unsigned>{0xFFFD, 0xFFFD});
    CHECK(all("\xE2\x88") == std::vector<unsigned>{0xFFFD, 0xFFFD});
    CHECK(all("\xE2z") == std::vector<unsigned>{0xFFFD, 'z'});
    CHECK(all("\xF0\x9F\x98\x80!") == std::vector<unsigned>{0xFFFD, '!'});
}

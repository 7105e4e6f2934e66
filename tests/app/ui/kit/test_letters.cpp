// Letters of a new size while frames go on.
#include "app/cli/session.h"
#include "app/render/offscreen.h"
#include "app/ui/kit/letters.h"
#include "app/ui/shell/frame.h"
#include "core/lessons/table.h"
#include "tests/app/ui/harness.h"

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>

using namespace tilewalk;
using namespace tilewalk::ui;
using namespace tilewalk::test;

namespace {

// A texture that is kept as it comes, to be held against the atlas.
struct Kept : LetterTexture {
    int width = 0, height = 0, puts = 0, begins = 0, finishes = 0;
    std::vector<unsigned char> alpha;

    void begin(int w, int h) override {
        width = w, height = h, ++begins, puts = 0;
        alpha.assign(static_cast<std::size_t>(w) * static_cast<std::size_t>(h), 0);
    }
    void put(int x, int y, int w, int h, const unsigned char* piece) override {
        ++puts;
        for (int row = 0; row < h; ++row)
            std::copy_n(piece + row * w, w, alpha.begin() + (y + row) * width + x);
    }
    void finish() override { ++finishes; }
};

Image picture_at(AppState& state, int width, int height) {
    for (int n = 0; n < 3; ++n) run_frame(width, height, 1, [&] { frame(state); });
    return picture_of_frame(width, height, theme(state.settings.theme).bg);
}

// One size a frame: the slowest that baking can be.
Typefaces one_more(float scale, bool presenter, LetterTexture* texture = nullptr) {
    return load_letters(scale, presenter, {}, 0, texture);
}

}  // namespace

TEST_CASE("letters of a new size: frames go on with others, laid out as they will be, until all are baked") {
    const HeadlessContext context;
    load_fonts(1, false);
    const float width_before = text_width(Face::regular, 15, "Row sum"), height_before = font_scale();
    CHECK(height_before == 1);
    Kept texture;
    int frames = 0;
    for (Typefaces now = Typefaces::standing_in; now == Typefaces::standing_in; ++frames) {
        now = one_more(2, false, &texture);
        CHECK(font_scale() == 2);
        CHECK(baked_em(Face::semibold, 22) == 22);
        CHECK(font(Face::regular, 15)->FontSize == doctest::Approx(30 * 1.21f));
        CHECK(text_width(Face::regular, 15, "Row sum") == doctest::Approx(width_before).epsilon(.03));
        run_frame(640, 480, 1, [] {
            ImGui::PushFont(font(Face::mono, 15));
            ImGui::TextUnformatted("1.25");
            ImGui::PopFont();
        });
        CHECK(ImGui::GetDrawData()->TotalVtxCount > 0);
        REQUIRE(frames < 1000);
    }
    CHECK(frames > 40);
    CHECK(one_more(2, false, &texture) == Typefaces::ready);
    CHECK(ImGui::GetIO().Fonts->Fonts.contains(font(Face::regular, 15)));
    CHECK(texture.begins == 1);
    CHECK(texture.finishes == 1);
    const ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    REQUIRE(texture.width == atlas.TexWidth);
    REQUIRE(texture.height == atlas.TexHeight);
    // White pixel and lines are written when their size is baked, so nothing is missing.
    CHECK(std::equal(texture.alpha.begin(), texture.alpha.end(), atlas.TexPixelsAlpha8));
}

TEST_CASE("letters that were baked one size a frame are those that are baked at once, to the pixel") {
    AppState state = good(make_state(&default_lesson(), example("worked-4x4"), Settings{}));
    for (const bool presenter : {false, true}) {
        state.presenter = presenter;
        Image at_once, bit_by_bit;
        {
            const HeadlessContext context;
            load_page_fonts(state, 1280, 720);
            at_once = picture_at(state, 1280, 720);
        }
        const HeadlessContext context;
        load_fonts(1.5f, !presenter);
        int frames = 0;
        while (load_page_letters(state, 1280, 720, 0, nullptr) != Typefaces::ready) REQUIRE(++frames < 1000);
        bit_by_bit = picture_at(state, 1280, 720);
        REQUIRE(at_once.rgba.size() == bit_by_bit.rgba.size());
        std::size_t different = 0;
        for (std::size_t n = 0; n < at_once.rgba.size(); ++n)
            different += std::abs(at_once.rgba[n] - bit_by_bit.rgba[n]) > 1;
        CHECK(different == 0);
    }
}

TEST_CASE("letters: what is asked for changes while they are baked") {
    const HeadlessContext context;
    load_fonts(1, false);
    ImFont* const before = font(Face::regular, 15);
    for (int n = 0; n < 5; ++n) CHECK(one_more(2, false) == Typefaces::standing_in);
    // As a window's border is drawn: every frame another size
    for (int n = 0; n < 20; ++n) {
        CHECK(one_more(1.1f + .01f * static_cast<float>(n), n % 2 != 0) == Typefaces::standing_in);
        run_frame(640, 480, 1, [] { ImGui::TextUnformatted("other"); });
    }
    // What is there is there at once.
    CHECK(one_more(1, false) == Typefaces::ready);
    CHECK(font(Face::regular, 15) == before);
    run_frame(640, 480, 1, [] { ImGui::TextUnformatted("as before"); });
    // A picture waits for no frame.
    CHECK(one_more(2, true) == Typefaces::standing_in);
    CHECK(load_fonts(2, true));
    CHECK(one_more(2, true) == Typefaces::ready);
    // A lost texture is begun anew.
    CHECK(one_more(1, false) == Typefaces::standing_in);
    restart_letters();
    CHECK(font_scale() == 2);
    CHECK(one_more(2, true) == Typefaces::ready);
}

TEST_CASE("letters: a second context in the middle of it, with letters of its own") {
    const HeadlessContext context;
    load_fonts(1, false);
    CHECK(one_more(2, false) == Typefaces::standing_in);
    {
        const DrawingApart apart;
        CHECK(load_fonts(3, true));
        run_frame(640, 480, 1, [] { ImGui::TextUnformatted("elsewhere"); });
    }
    CHECK(font_scale() == 2);
    run_frame(640, 480, 1, [] { ImGui::TextUnformatted("here"); });
    Typefaces now = Typefaces::standing_in;
    for (int n = 0; n < 1000 && now == Typefaces::standing_in; ++n) now = one_more(2, false);
    CHECK(now == Typefaces::fresh);
}

TEST_CASE("letters: a context that has none yet") {
    {
        const HeadlessContext gone;
        load_fonts(1, false);
        CHECK(one_more(2, false) == Typefaces::standing_in);
    }
    const HeadlessContext context;
    Typefaces now = Typefaces::standing_in;
    int frames = 0;
    for (; frames < 1000 && now == Typefaces::standing_in; ++frames) now = one_more(1, false);
    CHECK(now == Typefaces::fresh);
    CHECK(frames > 40);
    run_frame(640, 480, 1, [] { ImGui::TextUnformatted("there"); });
}

#include "app/render/offscreen.h"
#include "app/render/raster.h"
#include "app/ui/kit/imgui_compat.h"
#include "tests/app/ui/png_reader.h"

#include <array>
#include <cmath>
#include <doctest/doctest.h>

using namespace tilewalk;

namespace {

constexpr ImU32 black = IM_COL32_BLACK, white = IM_COL32_WHITE, red = IM_COL32(255, 0, 0, 255);

/// Draws into the background list of a frame that holds nothing else.
Image drawn(int width, int height, const std::function<void(ImDrawList&)>& draw) {
    const HeadlessContext context;
    ui::atlas_pixels(*ImGui::GetIO().Fonts);
    run_frame(width, height, 0, [&] { draw(*ImGui::GetBackgroundDrawList()); });
    return picture_of_frame(width, height, black);
}

ImU32 at(const Image& image, int x, int y) {
    const std::uint8_t* p = &image.rgba[4 * static_cast<std::size_t>(y * image.width + x)];
    return IM_COL32(p[0], p[1], p[2], p[3]);
}

int count(const Image& image, ImU32 colour) {
    int n = 0;
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) n += at(image, x, y) == colour;
    return n;
}

struct Corner {
    float x, y;
    ImU32 colour;
};

/// Triangles exactly as given, without ImGui's soft edges.
void bare_triangles(ImDrawList& list, const std::vector<Corner>& corners) {
    const ImVec2 plain = ImGui::GetFontTexUvWhitePixel();
    list.PrimReserve(static_cast<int>(corners.size()), static_cast<int>(corners.size()));
    for (const Corner& c : corners) list.PrimVtx({c.x, c.y}, plain, c.colour);
}

}  // namespace

TEST_CASE("a solid rectangle covers exactly its pixels") {
    const Image image = drawn(32, 16, [](ImDrawList& list) { list.AddRectFilled({3, 4}, {10, 9}, red); });
    CHECK(count(image, red) == 7 * 5);
    CHECK(at(image, 3, 4) == red);
    CHECK(at(image, 9, 8) == red);
    CHECK(at(image, 10, 8) == black);
    CHECK(at(image, 2, 4) == black);
}

TEST_CASE("a pixel belongs to the side of an edge that its middle lies on") {
    // 3.5 … 6.5: the middle 3.5 is on a left edge and belongs, 6.5 on a right edge and does not.
    const Image image = drawn(16, 16, [](ImDrawList& list) {
        list.AddRectFilled({3.5f, 2}, {6.5f, 3}, red);
    });
    CHECK(at(image, 3, 2) == red);
    CHECK(at(image, 5, 2) == red);
    CHECK(at(image, 6, 2) == black);
}

TEST_CASE("a triangle covers half of its square") {
    const Image image = drawn(64, 64, [](ImDrawList& list) {
        bare_triangles(list, {{0, 0, red}, {64, 0, red}, {0, 64, red}});
    });
    CHECK(at(image, 0, 0) == red);
    CHECK(at(image, 63, 63) == black);
    CHECK(count(image, red) == 64 * 63 / 2);  // middles strictly inside: x + y ≤ 62
}

TEST_CASE("triangles that share an edge cover each pixel once, whatever their direction") {
    const ImU32 half = IM_COL32(255, 255, 255, 128);
    const std::vector<Corner> fan = {{1, 1, half},   {30, 7, half},  {17, 13, half}, {30, 7, half},
                                     {25, 29, half}, {17, 13, half}, {17, 13, half}, {3, 27, half},
                                     {25, 29, half}, {1, 1, half},   {17, 13, half}, {3, 27, half}};
    const Image image = drawn(32, 32, [&](ImDrawList& list) { bare_triangles(list, fan); });
    const int once = count(image, IM_COL32(128, 128, 128, 255)), none = count(image, black);
    CHECK(once > 300);
    CHECK(once + none == 32 * 32);
}

TEST_CASE("drawing stays inside the clip rectangle") {
    const Image image = drawn(32, 32, [](ImDrawList& list) {
        list.PushClipRect({8, 8}, {16, 12});
        list.AddRectFilled({0, 0}, {32, 32}, red);
        bare_triangles(list, {{-90, -90, white}, {900, 10, white}, {-50, 700, white}});
        list.PopClipRect();
    });
    CHECK(count(image, white) == 8 * 4);
    CHECK(count(image, black) == 32 * 32 - 8 * 4);
}

TEST_CASE("alpha mixes with what lies below") {
    const Image image = drawn(8, 8, [](ImDrawList& list) {
        list.AddRectFilled({0, 0}, {8, 8}, IM_COL32(0, 0, 200, 255));
        list.AddRectFilled({0, 0}, {4, 8}, IM_COL32(255, 100, 0, 51));  // one fifth
        list.AddRectFilled({4, 0}, {8, 8}, IM_COL32(255, 100, 0, 0));
    });
    CHECK(at(image, 1, 1) == IM_COL32(51, 20, 160, 255));
    CHECK(at(image, 5, 1) == IM_COL32(0, 0, 200, 255));
}

TEST_CASE("colours run evenly between corners") {
    const Image image = drawn(256, 4, [](ImDrawList& list) {
        list.AddRectFilledMultiColor({0, 0}, {256, 4}, black, white, white, black);
    });
    for (int x = 0; x < 256; ++x) {
        const int grey = static_cast<int>(at(image, x, 2) & 255u);
        CHECK(std::abs(grey - x) <= 1);
    }
}

TEST_CASE("texture is read between texels") {
    const std::array<std::uint8_t, 4> texels = {0, 255, 0, 255};
    const HeadlessContext context;
    ui::atlas_pixels(*ImGui::GetIO().Fonts);
    run_frame(8, 8, 0, [] {
        // Two texels over eight pixels: their middles lie at pixels 2 and 6.
        ImDrawList& list = *ImGui::GetBackgroundDrawList();
        list.PrimReserve(6, 4);
        list.PrimRectUV({0, 0}, {8, 8}, {0, 0}, {1, 1}, IM_COL32_WHITE);
    });
    const Image image = rasterise(*ImGui::GetDrawData(), {texels.data(), 2, 2}, 8, 8, black);
    const int expected[] = {0, 0, 32, 96, 159, 223, 255, 255};
    for (int x = 0; x < 8; ++x) {
        CAPTURE(x);
        CHECK(std::abs(static_cast<int>(at(image, x, 3) & 255u) - expected[x]) <= 1);
    }
}

TEST_CASE("hostile geometry is survived") {
    const float inf = INFINITY, nan = NAN;
    const Image image = drawn(16, 16, [&](ImDrawList& list) {
        bare_triangles(list, {{nan, 0, red}, {5, inf, red}, {-inf, nan, red}});
        bare_triangles(list, {{1e30f, -1e30f, red}, {-1e30f, 1e30f, red}, {3, 3, red}});
        bare_triangles(list, {{4, 4, red}, {4, 4, red}, {4, 4, red}});
    });
    CHECK(image.width == 16);
}

TEST_CASE("images without pixels or texture") {
    ImDrawData nothing;
    CHECK(rasterise(nothing, {}, 0, 5, black).rgba.empty());
    CHECK(rasterise(nothing, {}, -4, 5, black).rgba.empty());
    CHECK(count(rasterise(nothing, {}, 4, 4, red), red) == 16);
}

TEST_CASE("PNG there and back") {
    Image image{3, 2, {}};
    for (int k = 0; k < 6; ++k)
        image.rgba.insert(image.rgba.end(),
                          {static_cast<std::uint8_t>(40 * k), 7, static_cast<std::uint8_t>(k), 255});
    const std::string bytes = encode_png(image);
    CHECK(bytes.substr(0, 8) == "\x89PNG\r\n\x1A\n");
    const Result<Image> back = test::decode_png(bytes);
    REQUIRE(back);
    CHECK(*back == image);
    CHECK(encode_png({}).empty());
    CHECK_FALSE(test::decode_png("not a picture"));
    CHECK(test::decode_png(bytes.substr(0, 30)).error.find("PNG") != std::string::npos);
}

// Draws Dear ImGui's output on the CPU: no display, no OpenGL, the same bytes for the same frame.
#pragma once

#include <cstdint>
#include <imgui.h>
#include <string>
#include <vector>

namespace tilewalk {

/// Rows from the top, 4 bytes per pixel (R, G, B, A).
struct Image {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgba;
    bool operator==(const Image&) const = default;
};

/// Coverage texture, one byte per texel, that the draw data's texture coordinates refer to.
struct CoverageTexture {
    const std::uint8_t* texels = nullptr;
    int width = 0, height = 0;
};

/// Fills a width × height image with `background` and draws `data` into it. Every command is taken to use
/// `texture`; callbacks are passed over.
Image rasterise(const ImDrawData& data, const CoverageTexture& texture, int width, int height,
                ImU32 background);

/// The rows from `first` up to `end` of it alone, into an image of the whole size.
void rasterise_rows(const ImDrawData& data, const CoverageTexture& texture, Image& image, ImU32 background,
                    int first, int end);

/// The bytes of an RGB PNG file (alpha is dropped). Empty for an empty image.
std::string encode_png(const Image& image);

}  // namespace tilewalk

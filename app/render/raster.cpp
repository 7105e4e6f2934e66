#include "app/render/raster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace tilewalk {
namespace {

// Positions are snapped to 1/256 px; coverage is then decided in integers, so neighbours share no pixel and
// leave no gap, and the result does not depend on the machine's rounding.
constexpr int sub_bits = 8;
constexpr std::int64_t one = 1 << sub_bits, half = one / 2;
constexpr float farthest = 32000.0f;

struct Vertex {
    std::int64_t x, y;  ///< in 1/256 px
    float u, v;         ///< in texels, 0 at the texel's middle
    ImU32 colour;
};
/// Pixels x0 ≤ x < x1, y0 ≤ y < y1.
struct Box {
    int x0, y0, x1, y1;
};
struct Target {
    Image& image;
    const CoverageTexture& texture;
    int first, end;  ///< rows
    std::uint8_t* at(int x, int y) const {
        const auto w = static_cast<std::size_t>(image.width);
        return &image.rgba[4 * (static_cast<std::size_t>(y) * w + static_cast<std::size_t>(x))];
    }
};

std::int64_t fixed(float v) {
    if (!(v > -farthest)) v = -farthest;  // NaN too
    return std::llround(std::min(v, farthest) * static_cast<float>(one));
}
/// The first pixel whose middle lies at or right of x; also the end of a span that stops at x.
int first_pixel(std::int64_t x) { return static_cast<int>((x - half + one - 1) >> sub_bits); }

// ---- Blending

/// x / 255 to the nearest, without a division; exact for 0 … 65025.
unsigned div255(unsigned x) {
    x += 128;
    return (x + (x >> 8)) >> 8;
}

void blend(std::uint8_t* p, unsigned r, unsigned g, unsigned b, unsigned alpha) {
    const unsigned rest = 255 - alpha;
    p[0] = static_cast<std::uint8_t>(div255(r * alpha + p[0] * rest));
    p[1] = static_cast<std::uint8_t>(div255(g * alpha + p[1] * rest));
    p[2] = static_cast<std::uint8_t>(div255(b * alpha + p[2] * rest));
    p[3] = static_cast<std::uint8_t>(alpha + div255(p[3] * rest));
}

unsigned red(ImU32 c) { return (c >> IM_COL32_R_SHIFT) & 255u; }
unsigned green(ImU32 c) { return (c >> IM_COL32_G_SHIFT) & 255u; }
unsigned blue(ImU32 c) { return (c >> IM_COL32_B_SHIFT) & 255u; }
unsigned alpha_of(ImU32 c) { return (c >> IM_COL32_A_SHIFT) & 255u; }

void fill_span(const Target& target, int x0, int x1, int y, ImU32 colour, unsigned alpha) {
    if (x0 >= x1 || alpha == 0) return;
    std::uint8_t* p = target.at(x0, y);
    const unsigned r = red(colour), g = green(colour), b = blue(colour);
    if (alpha == 255) {
        const std::uint8_t pixel[4] = {static_cast<std::uint8_t>(r), static_cast<std::uint8_t>(g),
                                       static_cast<std::uint8_t>(b), 255};
        for (int x = x0; x < x1; ++x, p += 4) std::memcpy(p, pixel, 4);
        return;
    }
    for (int x = x0; x < x1; ++x, p += 4) blend(p, r, g, b, alpha);
}

// ---- Texture

unsigned texel(const CoverageTexture& texture, int x, int y) {
    x = std::clamp(x, 0, texture.width - 1);
    y = std::clamp(y, 0, texture.height - 1);
    return texture.texels[static_cast<std::size_t>(y) * static_cast<std::size_t>(texture.width) +
                          static_cast<std::size_t>(x)];
}

struct Tap {
    int at;
    unsigned part;  ///< of the next texel, in 1/256
};
Tap tap(float place) {
    const float limited = std::clamp(place, -1e6f, 1e6f);
    const auto steps = static_cast<std::int64_t>(std::floor(limited * 256.0f + .5f));
    return {static_cast<int>(steps >> 8), static_cast<unsigned>(steps & 255)};
}

/// Bilinear, 0 … 255.
unsigned sample(const CoverageTexture& texture, Tap u, Tap v) {
    const unsigned top =
        texel(texture, u.at, v.at) * (256 - u.part) + texel(texture, u.at + 1, v.at) * u.part;
    if (v.part == 0) return (top + 128) >> 8;
    const unsigned low =
        texel(texture, u.at, v.at + 1) * (256 - u.part) + texel(texture, u.at + 1, v.at + 1) * u.part;
    return (top * (256 - v.part) + low * v.part + (1u << 15)) >> 16;
}

// ---- Axis-aligned rectangles: most of what an interface consists of

struct Quad {
    std::int64_t x0, y0, x1, y1;
    float u0, v0, u1, v1;
    ImU32 colour;
};

void draw_textured(const Target& target, const Quad& quad, Box box) {
    const auto width = static_cast<float>(quad.x1 - quad.x0), height = static_cast<float>(quad.y1 - quad.y0);
    const float du = (quad.u1 - quad.u0) / width, dv = (quad.v1 - quad.v0) / height;
    const unsigned r = red(quad.colour), g = green(quad.colour), b = blue(quad.colour),
                   a = alpha_of(quad.colour);
    for (int y = box.y0; y < box.y1; ++y) {
        const Tap v = tap(quad.v0 + static_cast<float>(y * one + half - quad.y0) * dv);
        std::uint8_t* p = target.at(box.x0, y);
        for (int x = box.x0; x < box.x1; ++x, p += 4) {
            const Tap u = tap(quad.u0 + static_cast<float>(x * one + half - quad.x0) * du);
            const unsigned cover = sample(target.texture, u, v);
            if (cover > 0) blend(p, r, g, b, div255(cover * a));
        }
    }
}

void draw_quad(const Target& target, const Quad& quad, Box clip) {
    const Box box = {std::max(clip.x0, first_pixel(quad.x0)), std::max(clip.y0, first_pixel(quad.y0)),
                     std::min(clip.x1, first_pixel(quad.x1)), std::min(clip.y1, first_pixel(quad.y1))};
    if (box.x0 >= box.x1 || box.y0 >= box.y1) return;
    if (quad.u0 != quad.u1 || quad.v0 != quad.v1) return draw_textured(target, quad, box);
    const unsigned cover = sample(target.texture, tap(quad.u0), tap(quad.v0));
    const unsigned alpha = div255(cover * alpha_of(quad.colour));
    for (int y = box.y0; y < box.y1; ++y) fill_span(target, box.x0, box.x1, y, quad.colour, alpha);
}

/// Corners in the order that ImGui writes rectangles in: 0 1 2, 0 2 3, clockwise from the top left.
bool as_quad(const Vertex& a, const Vertex& b, const Vertex& c, const Vertex& d, Quad& out) {
    if (a.colour != b.colour || a.colour != c.colour || a.colour != d.colour) return false;
    if (a.y != b.y || c.y != d.y || a.x != d.x || b.x != c.x || b.x <= a.x || d.y <= a.y) return false;
    if (a.u != d.u || b.u != c.u || a.v != b.v || c.v != d.v) return false;
    out = {a.x, a.y, c.x, c.y, a.u, a.v, c.u, c.v, a.colour};
    return true;
}

// ---- Triangles

/// w(x, y) = a·x + b·y + c at pixel middles, ≥ 0 inside. The top-left rule is part of c.
struct Edge {
    std::int64_t a, b, c;
};

Edge edge(const Vertex& p, const Vertex& q) {
    const std::int64_t dx = q.x - p.x, dy = q.y - p.y;
    const bool owns_its_pixels = dy < 0 || (dy == 0 && dx > 0);  // left or top edge
    const std::int64_t at_origin = dx * (half - p.y) - dy * (half - p.x);
    return {-dy * one, dx * one, at_origin - (owns_its_pixels ? 0 : 1)};
}

std::int64_t floor_div(std::int64_t n, std::int64_t d) {  // d > 0
    return n >= 0 ? n / d : -((-n + d - 1) / d);
}

/// Narrows x0 … x1 to the pixels of row y on the inner side of the edge.
void narrow(const Edge& e, int y, int& x0, int& x1) {
    const std::int64_t at_row = e.b * y + e.c;
    if (e.a > 0)
        x0 = static_cast<int>(std::max<std::int64_t>(x0, -floor_div(at_row, e.a)));
    else if (e.a < 0)
        x1 = static_cast<int>(std::min<std::int64_t>(x1, floor_div(at_row, -e.a) + 1));
    else if (at_row < 0)
        x1 = x0;
}

/// A value that is linear over the triangle, at pixel middles.
struct Plane {
    float at_origin, dx, dy;
    float at(int x, int y) const {
        return at_origin + dx * static_cast<float>(x) + dy * static_cast<float>(y);
    }
};

struct Triangle {
    std::array<Vertex, 3> v;
    double area;  ///< twice, in px²
};

/// Anchored at the triangle's first corner to keep the arithmetic small.
struct Painter {
    Plane u, v, r, g, b, a;
    int x0, y0;
};

Plane plane(const Triangle& t, int x0, int y0, double f0, double f1, double f2) {
    auto px = [](std::int64_t fixed_px) { return static_cast<double>(fixed_px) / static_cast<double>(one); };
    const double x1 = px(t.v[1].x - t.v[0].x), y1 = px(t.v[1].y - t.v[0].y);
    const double x2 = px(t.v[2].x - t.v[0].x), y2 = px(t.v[2].y - t.v[0].y);
    const double dx = ((f1 - f0) * y2 - (f2 - f0) * y1) / t.area;
    const double dy = ((f2 - f0) * x1 - (f1 - f0) * x2) / t.area;
    const double origin = f0 + dx * (x0 + .5 - px(t.v[0].x)) + dy * (y0 + .5 - px(t.v[0].y));
    return {static_cast<float>(origin), static_cast<float>(dx), static_cast<float>(dy)};
}

Painter painter(const Triangle& t) {
    const int x0 = static_cast<int>(t.v[0].x >> sub_bits), y0 = static_cast<int>(t.v[0].y >> sub_bits);
    auto of = [&](auto value) { return plane(t, x0, y0, value(t.v[0]), value(t.v[1]), value(t.v[2])); };
    return {of([](const Vertex& p) { return p.u; }),
            of([](const Vertex& p) { return p.v; }),
            of([](const Vertex& p) { return red(p.colour); }),
            of([](const Vertex& p) { return green(p.colour); }),
            of([](const Vertex& p) { return blue(p.colour); }),
            of([](const Vertex& p) { return alpha_of(p.colour); }),
            x0,
            y0};
}

unsigned byte(float value) { return static_cast<unsigned>(std::clamp(value + .5f, 0.0f, 255.0f)); }

void paint_span(const Target& target, const Painter& paint, bool textured, unsigned cover, int x0, int x1,
                int y) {
    std::uint8_t* p = target.at(x0, y);
    for (int x = x0; x < x1; ++x, p += 4) {
        const int lx = x - paint.x0, ly = y - paint.y0;
        if (textured) cover = sample(target.texture, tap(paint.u.at(lx, ly)), tap(paint.v.at(lx, ly)));
        const unsigned alpha = div255(cover * byte(paint.a.at(lx, ly)));
        if (alpha == 0) continue;
        blend(p, byte(paint.r.at(lx, ly)), byte(paint.g.at(lx, ly)), byte(paint.b.at(lx, ly)), alpha);
    }
}

void draw_triangle(const Target& target, Triangle t, Box clip) {
    const std::int64_t area =
        (t.v[1].x - t.v[0].x) * (t.v[2].y - t.v[0].y) - (t.v[1].y - t.v[0].y) * (t.v[2].x - t.v[0].x);
    if (area == 0) return;
    if (area < 0) std::swap(t.v[1], t.v[2]);
    t.area = static_cast<double>(std::abs(area)) / static_cast<double>(one * one);
    const auto [top, bottom] = std::minmax({t.v[0].y, t.v[1].y, t.v[2].y});
    const auto [left, right] = std::minmax({t.v[0].x, t.v[1].x, t.v[2].x});
    const Box box = {std::max(clip.x0, first_pixel(left)), std::max(clip.y0, first_pixel(top)),
                     std::min(clip.x1, first_pixel(right) + 1), std::min(clip.y1, first_pixel(bottom) + 1)};
    if (box.x0 >= box.x1 || box.y0 >= box.y1) return;

    const Edge edges[3] = {edge(t.v[0], t.v[1]), edge(t.v[1], t.v[2]), edge(t.v[2], t.v[0])};
    const bool textured =
        t.v[0].u != t.v[1].u || t.v[0].u != t.v[2].u || t.v[0].v != t.v[1].v || t.v[0].v != t.v[2].v;
    const bool one_colour = t.v[0].colour == t.v[1].colour && t.v[0].colour == t.v[2].colour;
    const unsigned cover = textured ? 255 : sample(target.texture, tap(t.v[0].u), tap(t.v[0].v));
    const bool flat = !textured && one_colour;
    const unsigned alpha = div255(cover * alpha_of(t.v[0].colour));
    const Painter paint = flat ? Painter{} : painter(t);
    for (int y = box.y0; y < box.y1; ++y) {
        int x0 = box.x0, x1 = box.x1;
        for (const Edge& e : edges) narrow(e, y, x0, x1);
        if (x0 >= x1) continue;
        if (flat)
            fill_span(target, x0, x1, y, t.v[0].colour, alpha);
        else
            paint_span(target, paint, textured, cover, x0, x1, y);
    }
}

// ---- Commands

/// Display coordinates to pixels and texture coordinates to texels.
struct Mapping {
    float x0, y0, sx, sy, tw, th;
    Vertex operator()(const ImDrawVert& v) const {
        return {fixed((v.pos.x - x0) * sx), fixed((v.pos.y - y0) * sy), v.uv.x * tw - .5f, v.uv.y * th - .5f,
                v.col};
    }
};

Box clip_box(const ImVec4& clip, const Mapping& map, const Target& target) {
    auto limit = [](float v, int least, int top) {
        return static_cast<int>(v > static_cast<float>(least) ? std::min(v, static_cast<float>(top))
                                                              : static_cast<float>(least));
    };
    const int width = target.image.width;
    return {limit((clip.x - map.x0) * map.sx, 0, width),
            limit((clip.y - map.y0) * map.sy, target.first, target.end),
            limit((clip.z - map.x0) * map.sx, 0, width),
            limit((clip.w - map.y0) * map.sy, target.first, target.end)};
}

void draw_command(const Target& target, const ImDrawList& list, const ImDrawCmd& command,
                  const Mapping& map) {
    const Box clip = clip_box(command.ClipRect, map, target);
    if (clip.x0 >= clip.x1 || clip.y0 >= clip.y1) return;
    const ImDrawIdx* index = list.IdxBuffer.Data + command.IdxOffset;
    const ImDrawVert* vertices = list.VtxBuffer.Data + command.VtxOffset;
    for (unsigned e = 0; e + 2 < command.ElemCount; e += 3, index += 3) {
        const Vertex a = map(vertices[index[0]]), b = map(vertices[index[1]]), c = map(vertices[index[2]]);
        const bool maybe_quad = e + 5 < command.ElemCount && index[3] == index[0] && index[4] == index[2];
        Quad quad;
        if (maybe_quad && as_quad(a, b, c, map(vertices[index[5]]), quad)) {
            draw_quad(target, quad, clip);
            e += 3, index += 3;
        } else {
            draw_triangle(target, {{a, b, c}, 0}, clip);
        }
    }
}

}  // namespace

Image rasterise(const ImDrawData& data, const CoverageTexture& texture, int width, int height,
                ImU32 background) {
    Image image{std::max(width, 0), std::max(height, 0), {}};
    image.rgba.resize(4 * static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height));
    rasterise_rows(data, texture, image, background, 0, image.height);
    return image;
}

void rasterise_rows(const ImDrawData& data, const CoverageTexture& texture, Image& image, ImU32 background,
                    int first, int end) {
    const Target target{image, texture, std::max(first, 0), std::min(end, image.height)};
    for (int y = target.first; y < target.end; ++y) fill_span(target, 0, image.width, y, background, 255);
    if (!texture.texels || texture.width <= 0 || texture.height <= 0) return;

    const Mapping map = {data.DisplayPos.x,
                         data.DisplayPos.y,
                         data.FramebufferScale.x,
                         data.FramebufferScale.y,
                         static_cast<float>(texture.width),
                         static_cast<float>(texture.height)};
    for (int n = 0; n < data.CmdListsCount; ++n) {
        const ImDrawList& list = *data.CmdLists[n];
        for (const ImDrawCmd& command : list.CmdBuffer)
            if (!command.UserCallback) draw_command(target, list, command, map);
    }
}

}  // namespace tilewalk

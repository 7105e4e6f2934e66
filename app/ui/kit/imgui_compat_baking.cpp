#include "app/ui/kit/imgui_compat_baking.h"

#include "app/ui/kit/imgui_compat.h"
#include "app/ui/kit/letters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace tilewalk::ui {

void set_default_font(ImFont* font) { ImGui::GetIO().FontDefault = font; }

#if IMGUI_VERSION_NUM >= 19200

const bool bakes_on_demand = true;

struct FontBaking::Piece {};
std::unique_ptr<ImFont> stand_in(const ImFont&, float) { return nullptr; }
FontBaking::FontBaking(std::vector<FontSize>, float, Add) : column_(0) {}
FontBaking::~FontBaking() = default;
bool FontBaking::step(LetterTexture*) { return false; }
bool FontBaking::is_long_step() const { return false; }
std::vector<FontBaking::Baked> FontBaking::install(ImFontAtlas&, LetterTexture*) { return {}; }

#else

const bool bakes_on_demand = false;

std::unique_ptr<ImFont> stand_in(const ImFont& font, float ratio) {
    auto out = std::make_unique<ImFont>(font);
    for (ImFontGlyph& glyph : out->Glyphs)
        for (float* length : {&glyph.AdvanceX, &glyph.X0, &glyph.Y0, &glyph.X1, &glyph.Y1}) *length *= ratio;
    for (float& advance : out->IndexAdvanceX) advance *= ratio;
    for (float* length : {&out->FontSize, &out->Ascent, &out->Descent, &out->FallbackAdvanceX})
        *length *= ratio;
    out->FallbackGlyph = out->FindGlyphNoFallback(out->FallbackChar);
    return out;
}

// ---- Baking

/// One size in an atlas of its own, and where it lies in the whole.
struct FontBaking::Piece {
    FontSize size;
    std::unique_ptr<ImFontAtlas> atlas;
    ImFont* font = nullptr;
    int width = 0, height = 0, x = 0, y = 0;
};

namespace {

// Letters of one size fill a column of some hundred px; a letter must not be wider than that.
int column_for(float largest_px) { return largest_px <= 100 ? 512 : 2048; }

}  // namespace

FontBaking::FontBaking(std::vector<FontSize> sizes, float largest_px, Add add)
    : sizes_(std::move(sizes)), column_(column_for(largest_px)), add_(std::move(add)) {}

FontBaking::~FontBaking() {
    if (pixels_) IM_FREE(pixels_);
}

bool FontBaking::step(LetterTexture* texture) {
    if (baked_ < sizes_.size()) {
        bake(sizes_[baked_++]);
        return true;
    }
    if (pieces_.empty()) return false;
    if (!pixels_) {
        arrange();
        if (texture) texture->begin(width_, height_);
        return true;
    }
    if (put_ == pieces_.size()) {
        clear_gaps();
        return false;
    }
    put(pieces_[put_++], texture);
    return true;
}

bool FontBaking::is_long_step() const { return baked_ == sizes_.size() && !pieces_.empty() && !pixels_; }

// The first one also has what lines are drawn with.
void FontBaking::bake(const FontSize& size) {
    Piece piece{size, std::make_unique<ImFontAtlas>()};
    piece.atlas->Flags |= ImFontAtlasFlags_NoMouseCursors | ImFontAtlasFlags_NoPowerOfTwoHeight;
    if (!pieces_.empty()) piece.atlas->Flags |= ImFontAtlasFlags_NoBakedLines;
    piece.atlas->TexDesiredWidth = column_;
    piece.font = add_(*piece.atlas, size);
    if (!piece.font) return;
    const AtlasPixels baked = atlas_pixels(*piece.atlas);
    piece.width = baked.width, piece.height = baked.height;
    pieces_.push_back(std::move(piece));
}

// Columns of about the height of all of them together; the next piece goes into the shortest.
void FontBaking::arrange() {
    double area = 0;
    for (const Piece& piece : pieces_) area += static_cast<double>(piece.width) * piece.height;
    int columns = 1;
    while (columns * column_ < std::sqrt(area) && columns * column_ < 4096) columns *= 2;
    std::vector<int> heights(static_cast<std::size_t>(columns), 0);
    for (Piece& piece : pieces_) {
        const auto shortest = std::ranges::min_element(heights);
        piece.x = static_cast<int>(shortest - heights.begin()) * column_, piece.y = *shortest;
        *shortest += piece.height;
    }
    width_ = columns * column_, height_ = *std::ranges::max_element(heights);
    // Filled piece by piece: to clear it all takes longer than a frame where it is large.
    pixels_ = static_cast<unsigned char*>(
        IM_ALLOC(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_)));
    gaps_ = std::move(heights);
}

unsigned char* FontBaking::row(int x, int y) const {
    return pixels_ + static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + x;
}

// What lies below a column's last piece.
void FontBaking::clear_gaps() {
    int x = 0;
    for (const int from : std::exchange(gaps_, {})) {
        for (int y = from; y < height_; ++y) std::memset(row(x, y), 0, static_cast<std::size_t>(column_));
        x += column_;
    }
}

void FontBaking::put(Piece& piece, LetterTexture* texture) {
    const ImFontAtlas& from = *piece.atlas;
    for (int y = 0; y < piece.height; ++y)
        std::memcpy(row(piece.x, piece.y + y),
                    from.TexPixelsAlpha8 +
                        static_cast<std::size_t>(y) * static_cast<std::size_t>(piece.width),
                    static_cast<std::size_t>(piece.width));
    if (texture) texture->put(piece.x, piece.y, piece.width, piece.height, from.TexPixelsAlpha8);
    // Half px come in what lines are drawn with.
    const auto whole = [](float place, int own, int offset, int all) {
        return (std::round(2 * place * static_cast<float>(own)) / 2 + static_cast<float>(offset)) *
               (1.0f / static_cast<float>(all));
    };
    const auto u = [&](float& place) { place = whole(place, piece.width, piece.x, width_); };
    const auto v = [&](float& place) { place = whole(place, piece.height, piece.y, height_); };
    for (ImFontGlyph& glyph : piece.font->Glyphs) u(glyph.U0), v(glyph.V0), u(glyph.U1), v(glyph.V1);
    if (&piece != pieces_.data()) return;
    u(piece.atlas->TexUvWhitePixel.x), v(piece.atlas->TexUvWhitePixel.y);
    for (ImVec4& line : piece.atlas->TexUvLines) u(line.x), v(line.y), u(line.z), v(line.w);
}

std::vector<FontBaking::Baked> FontBaking::install(ImFontAtlas& atlas, LetterTexture* texture) {
    std::vector<Baked> out;
    atlas.Clear();
    if (pieces_.empty()) return out;
    atlas.Flags = pieces_[0].atlas->Flags;
    atlas.TexPixelsAlpha8 = std::exchange(pixels_, nullptr);
    atlas.TexWidth = width_, atlas.TexHeight = height_;
    atlas.TexUvScale = {1.0f / static_cast<float>(width_), 1.0f / static_cast<float>(height_)};
    atlas.TexUvWhitePixel = pieces_[0].atlas->TexUvWhitePixel;
    std::ranges::copy(pieces_[0].atlas->TexUvLines, std::begin(atlas.TexUvLines));
    for (Piece& piece : pieces_) {
        piece.font->ContainerAtlas = &atlas;
        piece.font->ConfigData = nullptr, piece.font->ConfigDataCount = 0;
        atlas.Fonts.push_back(piece.font);
        piece.atlas->Fonts.clear();  // they have another owner now
        out.push_back({piece.size, piece.font});
    }
    atlas.TexReady = true;
    pieces_.clear();
    if (texture) texture->finish();
    return out;
}

#endif

}  // namespace tilewalk::ui

// Fonts that are baked one by one and put together into one atlas, and fonts that stand in for others. From
// Dear ImGui 1.92 on the library bakes a letter when it is first drawn, and none of this is needed.
#pragma once

#include "app/ui/kit/fonts.h"

#include <functional>
#include <memory>
#include <vector>

namespace tilewalk::ui {

class LetterTexture;

extern const bool bakes_on_demand;

/// A font of another size with the letters of this one, which must outlive it.
std::unique_ptr<ImFont> stand_in(const ImFont& font, float ratio);
/// What ImGui draws with of its own accord in the current context; null: the first of the atlas.
void set_default_font(ImFont* font);

class FontBaking {
public:
    /// Adds a size to an atlas; null where there is no file for it.
    using Add = std::function<ImFont*(ImFontAtlas& atlas, const FontSize& size)>;
    struct Baked {
        FontSize size;
        ImFont* font;
    };

    FontBaking(std::vector<FontSize> sizes, float largest_px, Add add);
    ~FontBaking();
    FontBaking(const FontBaking&) = delete;
    FontBaking& operator=(const FontBaking&) = delete;

    /// Bakes one size, or puts one into its place of the whole; false: that is done.
    bool step(LetterTexture* texture);
    /// The next step takes longer than the others: it asks for the memory of the whole and its texture.
    bool is_long_step() const;
    /// Into an atlas, in place of what it had.
    std::vector<Baked> install(ImFontAtlas& atlas, LetterTexture* texture);

private:
    struct Piece;
    void bake(const FontSize& size);
    void arrange();
    void put(Piece& piece, LetterTexture* texture);
    void clear_gaps();
    unsigned char* row(int x, int y) const;

    std::vector<FontSize> sizes_;
    int column_;  ///< px, in which pieces lie below each other
    Add add_;
    std::vector<Piece> pieces_;
    std::size_t baked_ = 0, put_ = 0;
    int width_ = 0, height_ = 0;
    std::vector<int> gaps_;            ///< where each column ends
    unsigned char* pixels_ = nullptr;  ///< ImGui's memory
};

}  // namespace tilewalk::ui

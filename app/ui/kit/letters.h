// Letters of a new size, baked a bit in each frame.
#pragma once

#include "app/ui/kit/fonts.h"

namespace tilewalk::ui {

/// Where baked letters go beside the atlas, piece by piece: a texture that takes the place of the one that is
/// drawn with once it is whole.
class LetterTexture {
public:
    LetterTexture() = default;
    LetterTexture(const LetterTexture&) = delete;
    LetterTexture& operator=(const LetterTexture&) = delete;
    virtual ~LetterTexture() = default;

    virtual void begin(int width, int height) = 0;
    virtual void put(int x, int y, int width, int height, const unsigned char* alpha) = 0;
    virtual void finish() = 0;
};

enum class Typefaces {
    ready,        ///< they were there
    fresh,        ///< they are there since this call
    standing_in,  ///< those of another size are drawn smaller or larger, or there are none yet
};

/// What a frame has for them.
constexpr double letters_seconds = 0.004;

/// load_fonts() for a frame that does not wait: it bakes for so many seconds, and one size at least. Until
/// all are there everything is measured and drawn as if they were, with those that the atlas has, scaled. In
/// a context without any there is nothing to draw with before it returns `fresh`. Without `texture` the
/// letters are in the atlas alone. No thread: ImGui's memory knows one only, and a browser has none.
Typefaces load_letters(float scale, bool presenter, const std::vector<FontSize>& more, double seconds,
                       LetterTexture* texture = nullptr);
/// What is under way begins anew: its texture is lost.
void restart_letters();

}  // namespace tilewalk::ui

// Typefaces. Every size that the program uses is baked; a face is never scaled.
#pragma once

#include <imgui.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::ui {

enum class Face { regular, medium, semibold, italic, semibold_italic, mono, mono_bold };
constexpr int face_count = 7;

/// A size to bake, in logical px.
struct FontSize {
    Face face;
    float em;
    bool index = false;  ///< of sub- and superscripts alone, which are smaller than any text
    bool operator==(const FontSize&) const = default;
};
/// Those of the normal view, or of presenter mode, so many times as large.
std::vector<FontSize> font_sizes(bool presenter, float factor);

/// Builds the font atlas of the current ImGui context for `scale` device px per logical px. `presenter` bakes
/// the sizes of presenter mode (27 and more) in place of the usual ones; `more` come on top. True if the
/// atlas was rebuilt, so that the window must upload its texture anew; false if it already was as asked. Call
/// between frames.
bool load_fonts(float scale, bool presenter, const std::vector<FontSize>& more = {});
/// While it lives, load_fonts() builds other fonts, for a second context; then the old ones are back.
class FontsAside {
public:
    FontsAside();
    ~FontsAside();
    FontsAside(const FontsAside&) = delete;
    FontsAside& operator=(const FontsAside&) = delete;
    /// Those of the other context until it is called again, so that work can pause.
    void swap();

private:
    struct Kept;
    std::unique_ptr<Kept> kept_;
};

/// The bytes of a face's file and of the one that fills its gaps, which stay; empty where there is none.
struct FontFiles {
    std::string_view own, gaps;
};
FontFiles font_files(Face face);

/// Why letters may look wrong: a sentence that names the missing font files, or nothing.
const std::string& font_problem();
/// The scale that fonts are loaded for.
float font_scale();

/// Typefaces are looked for at so many times the size that is asked for, and measured in px of the smaller
/// drawing; see Enlarged (canvas.h). Returns the growth until now.
float set_type_growth(float growth);
float type_growth();
/// What is drawn grows for the back row: more than the page that it stands on, which may itself be drawn
/// smaller, so many times as large. Returns that until now.
bool far_type();
float set_page_growth(float growth);

/// The baked font nearest to `em` logical px. Draw it at its own size (`baked_em`).
ImFont* font(Face face, float em, bool index = false);
/// The em size, in logical px, of what `font(face, em)` returns.
float baked_em(Face face, float em, bool index = false);
/// Width in logical px of UTF-8 text; a combining tilde takes no room.
float text_width(Face face, float em, std::string_view text, bool index = false);

/// Every character that the program draws of its own accord, as UTF-8. Each face has each of them.
std::string_view used_glyphs();
/// The next code point of UTF-8 text (U+FFFD for bytes that are none) and moves `rest` behind it.
unsigned next_code_point(std::string_view& rest);

}  // namespace tilewalk::ui

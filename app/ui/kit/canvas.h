// The drawing kit: shapes, text and small furniture in logical px. All lengths are multiplied by the scale
// and snapped to device pixels inside, so that lines and edges stay crisp at every scale.
#pragma once

#include "app/ui/kit/fonts.h"
#include "app/ui/kit/layout.h"
#include "app/ui/kit/theme.h"
#include "core/base/words.h"
#include "core/walk/explain.h"

#include <imgui.h>
#include <initializer_list>
#include <span>
#include <string_view>

namespace tilewalk::ui {

struct Dash {
    float on = 5, off = 4;
};
enum class Align { left, center, right };
/// The left edge of what is so wide and aligned to x.
constexpr float aligned(float x, float width, Align align) {
    return align == Align::left ? x : align == Align::center ? x - width / 2 : x - width;
}
/// idle: 1.4 quiet; future: the same, dashed; active: 3, in the hue; link: 2, into a written cell.
enum class ArrowStyle { idle, future, active, link };

/// A colour of 0 stands for the theme's t1 (text) or for the natural choice that the function names.
struct Canvas {
    ImDrawList* dl = nullptr;
    const Theme* theme = nullptr;
    float s = 1;                   ///< device px per logical px
    float x0 = 0, y0 = 0;          ///< device px of the logical origin
    float opacity = 1;             ///< multiplies the alpha of everything
    float min_text = size::small;  ///< the least text (27 in presenter mode); sub- and superscripts follow it

    /// The same canvas with its origin moved by (dx, dy) logical px.
    Canvas moved(float dx, float dy) const;
    Canvas faded(float factor) const;
    /// The colour as it is drawn: paler by the opacity.
    ImU32 tint(ImU32 colour) const {
        return opacity < 1 ? with_alpha(colour, alpha_of(colour) * opacity) : colour;
    }
    /// The same canvas, drawing into the current ImGui window or popup.
    Canvas in_window() const;
    ImVec2 device(float x, float y) const { return {x0 + x * s, y0 + y * s}; }
    /// Logical position of the mouse; far outside when there is none.
    Point mouse() const;

    // Shapes (canvas.cpp)
    void rect(float x, float y, float w, float h, ImU32 fill, float radius = 0) const;
    /// Outline centred on the edges of the rectangle; 1 px lines lie on half pixels.
    void frame(float x, float y, float w, float h, ImU32 colour, float width = 1, float radius = 0) const;
    void dashed_frame(float x, float y, float w, float h, ImU32 colour, float width = 1,
                      Dash dash = {}) const;
    void line(Point a, Point b, ImU32 colour, float width = 1) const;
    void dashed_line(Point a, Point b, ImU32 colour, float width = 1, Dash dash = {}) const;
    /// Lines at 45°, `pitch` apart along x, clipped to the rectangle.
    /// What does not count in the end: an old value, or a sum that still grows.
    void hatch(float x, float y, float w, float h, ImU32 colour, float pitch = 7, float width = 1) const;
    /// Where nothing is: masked, skipped, a worker that waits, what does not fit.
    void crossed(float x, float y, float w, float h, ImU32 colour, float pitch = 9, float width = 1) const;
    /// The place of what is still to come.
    void to_come(float x, float y, float w, float h) const;
    /// In the frame of that place: another worker has done it by now, and it is told later.
    void meanwhile(float x, float y, float w, float h, float radius) const;
    void polygon(std::span<const Point> corners, ImU32 fill) const;  ///< convex
    void polygon(std::initializer_list<Point> corners, ImU32 fill) const;
    void polyline(std::span<const Point> points, ImU32 colour, float width, bool closed = false) const;
    void disc(float x, float y, float radius, ImU32 fill) const;
    void ring(float x, float y, float radius, ImU32 colour, float width = 1) const;
    /// The soft frame round what this step wrote: 4 px outside, focus colour at 17 %.
    void halo(float x, float y, float w, float h, float radius = radius::cell) const;
    /// Filled triangle in the bottom right corner.
    void corner(float x, float y, float w, float h, float side, ImU32 fill) const;

    // Arrows (canvas.cpp). `progress` 0 … 1 draws that part of the way only.
    void cross(float x, float y, float reach, ImU32 colour, float width) const;  ///< ×
    void head(Point tip, Point direction, ImU32 colour, float size = 7) const;
    void arrow(std::span<const Point> points, ArrowStyle style, ImU32 colour = 0, float progress = 1) const;
    void arrow(std::initializer_list<Point> points, ArrowStyle style, ImU32 colour = 0,
               float progress = 1) const;
    void bezier_arrow(Point a, Point b, Point c, Point d, ImU32 colour, float width = 2,
                      float head_size = 9) const;

    // Text (canvas_text.cpp). y is the optical middle of the line. Returns the width in logical px.
    float text(float x, float y, std::string_view text, float size = size::body, ImU32 colour = 0,
               Face face = Face::regular, Align align = Align::left) const;
    float text(float x, float y, std::string_view words, float size, ImU32 colour, Align align) const {
        return text(x, y, words, size, colour, Face::regular, align);
    }
    /// As `text`, cut with "…" where it would be wider than `room`.
    float text_within(float x, float y, float room, std::string_view text, float size = size::body,
                      ImU32 colour = 0, Face face = Face::regular, Align align = Align::left) const;
    float text_within(float x, float y, float room, std::string_view words, float size, ImU32 colour,
                      Align align) const {
        return text_within(x, y, room, words, size, colour, Face::regular, align);
    }
    /// Styled pieces: a role gives the hue; else words take `colour` (0: t2), numbers and results t1.
    float rich(float x, float y, const Line& line, float size = size::formula, Align align = Align::left,
               ImU32 colour = 0) const;
    /// Words broken into lines of at most `w`; y is the top. Returns the height. `max_lines` 0: as many as it
    /// takes, otherwise the last line ends in "…" if words are left.
    float paragraph(float x, float y, float w, std::string_view text, float size = size::lead,
                    ImU32 colour = 0, int max_lines = 0, Face face = Face::regular,
                    float line_height = 1.45f) const;
    /// The same for styled pieces, broken at spaces.
    float rich_paragraph(float x, float y, float w, const Line& line, float size = size::formula,
                         int max_lines = 0, ImU32 colour = 0, float line_height = 1.6f) const;

    // Furniture (canvas_parts.cpp)
    void panel(float x, float y, float w, float h, std::string_view title = {},
               std::string_view subtitle = {}) const;
    /// What `panel` writes at its top.
    void title(float x, float y, float w, std::string_view title, std::string_view subtitle = {}) const;
    void well(float x, float y, float w, float h, float radius = radius::panel) const;
    /// Rounded label. Returns its width. `fill` 0: raised, `colour` 0: t2.
    float pill(float x, float y, std::string_view text, float size = size::small, ImU32 fill = 0,
               ImU32 colour = 0, Align align = Align::left) const;
    /// Label that lies on an arrow: symbol, then a note. Returns its width.
    float chip(float x, float y, const Line& symbol, std::string_view note, Align align = Align::left) const;
    float key_cap(float x, float y, std::string_view key) const;
    /// Part of a whole, 0 … 1; y is the top.
    void progress(float x, float y, float w, float h, float part, ImU32 fill = 0) const;
};

/// While it lives, what is drawn with `c` for the normal view stands on the page at `origin`, so many times
/// as large, letters too. All that is drawn meanwhile must be drawn with `c`.
struct Enlarged {
    Enlarged(const Canvas& page, Point origin, float factor);
    ~Enlarged();
    Enlarged(const Enlarged&) = delete;
    Enlarged& operator=(const Enlarged&) = delete;
    Canvas c;

private:
    float growth_before;
};

/// Widths in logical px of what Canvas draws.
float rich_width(const Canvas& canvas, const Line& line, float size = size::formula);
float paragraph_height(float w, std::string_view text, float size = size::lead, int max_lines = 0,
                       Face face = Face::regular, float line_height = 1.45f);
/// The width, at most `w`, at which the lines of a paragraph end about even and are not more of them.
float even_width(float w, std::string_view text, float size, int max_lines = 0, Face face = Face::regular);
float rich_paragraph_height(const Canvas& canvas, float w, const Line& line, float size = size::formula,
                            int max_lines = 0, float line_height = 1.6f);
/// The largest of these sizes, in falling order, at which the line needs no second row; else the last.
float fitting_size(const Canvas& canvas, const Line& line, float w, std::initializer_list<float> sizes);
float pill_width(std::string_view text, float size = size::small);
float chip_width(const Canvas& canvas, const Line& symbol, std::string_view note);
float key_cap_width(std::string_view key);

// Short spellings of styled pieces.
Span word(std::string text, Role role = Role::none);
Span strong(std::string text, Role role = Role::none);
Span symbol(std::string letter, Role role, bool tilde = false);
Span number(std::string text, Role role = Role::none, bool result = false);
Span sub(std::string text, Role role = Role::none);
Span super(std::string text, Role role = Role::none);

/// Words, styled pieces and whole lines, one after another.
inline void append(Line& line, const Span& piece) { line.push_back(piece); }
inline void append(Line& line, const std::string& words) { line.push_back(word(words)); }
inline void append(Line& line, const Line& more) { line.insert(line.end(), more.begin(), more.end()); }
template <class... Part> Line pieces(const Part&... parts) {
    Line line;
    (append(line, parts), ...);
    return line;
}

}  // namespace tilewalk::ui

// The icons, drawn as shapes: no icon font.
#include "app/ui/kit/items.h"

#include <array>
#include <cmath>

namespace tilewalk::ui {
namespace {

void bent_arrow(const Canvas& c, float x, float y, ImU32 colour, float side) {
    // An arc over the middle whose end points back down: undo to the left, redo mirrored.
    const std::array<Point, 5> arc = {
        {{x + 6 * side, y + 6}, {x + 6 * side, y}, {x + 3 * side, y - 3}, {x, y - 3}, {x - 3 * side, y - 3}}};
    c.polyline(arc, colour, 1.6f);
    c.head({x - 8 * side, y - 3}, {-side, 0}, colour, 6);
}

void screen(const Canvas& c, float x, float y, ImU32 colour) {
    c.frame(x - 9, y - 7, 18, 12, colour, 1.5f, 2);
    c.rect(x - 1, y + 5, 2, 4, colour);
    c.rect(x - 5, y + 8, 10, 2, colour);
}

void half_disc(const Canvas& c, float x, float y, ImU32 colour) {
    c.ring(x, y, 6.5f, colour, 1.5f);
    std::array<Point, 17> half;
    for (std::size_t k = 0; k < half.size(); ++k) {
        const float angle = (px(k) / 16 - .5f) * 3.14159f;
        half[k] = {x + 6.5f * std::cos(angle), y + 6.5f * std::sin(angle)};
    }
    c.polygon(half, colour);
}

void folder(const Canvas& c, float x, float y, ImU32 colour) {
    const std::array<Point, 6> outline = {{{x - 8, y + 6},
                                           {x - 8, y - 6},
                                           {x - 2.5f, y - 6},
                                           {x - .5f, y - 3.5f},
                                           {x + 8, y - 3.5f},
                                           {x + 8, y + 6}}};
    c.polyline(outline, colour, 1.5f, true);
}

void save(const Canvas& c, float x, float y, ImU32 colour) {
    c.rect(x - .8f, y - 8, 1.6f, 9, colour);
    c.head({x, y + 4}, {0, 1}, colour, 7);
    const std::array<Point, 4> tray = {{{x - 7, y + 3}, {x - 7, y + 7}, {x + 7, y + 7}, {x + 7, y + 3}}};
    c.polyline(tray, colour, 1.6f);
}

void play_icon(const Canvas& c, Icon icon, float x, float y, ImU32 colour) {
    switch (icon) {
    case Icon::first:
        c.rect(x - 8, y - 7, 3, 14, colour);
        c.polygon({{x + 7, y - 7}, {x + 7, y + 7}, {x - 4, y}}, colour);
        break;
    case Icon::back: c.polygon({{x + 4, y - 7}, {x + 4, y + 7}, {x - 7, y}}, colour); break;
    case Icon::play: c.polygon({{x - 6, y - 9}, {x + 9, y}, {x - 6, y + 9}}, colour); break;
    case Icon::pause:
        c.rect(x - 7, y - 8, 5, 16, colour, 1);
        c.rect(x + 2, y - 8, 5, 16, colour, 1);
        break;
    case Icon::forward: c.polygon({{x - 4, y - 7}, {x + 7, y}, {x - 4, y + 7}}, colour); break;
    case Icon::last:
        c.rect(x + 5, y - 7, 3, 14, colour);
        c.polygon({{x - 7, y - 7}, {x + 4, y}, {x - 7, y + 7}}, colour);
        break;
    default: break;
    }
}

}  // namespace

void draw_icon(const Canvas& c, Icon icon, float x, float y, ImU32 colour) {
    switch (icon) {
    case Icon::plus: c.rect(x - 1, y - 6, 2, 12, colour); [[fallthrough]];
    case Icon::minus: c.rect(x - 6, y - 1, 12, 2, colour); break;
    case Icon::theme: half_disc(c, x, y, colour); break;
    case Icon::screen: screen(c, x, y, colour); break;
    case Icon::close: c.cross(x, y, 5, colour, 1.8f); break;
    case Icon::open: folder(c, x, y, colour); break;
    case Icon::save: save(c, x, y, colour); break;
    case Icon::undo: bent_arrow(c, x, y, colour, 1); break;
    case Icon::redo: bent_arrow(c, x, y, colour, -1); break;
    case Icon::menu:
        for (float row : {-6.0f, 0.0f, 6.0f}) c.rect(x - 8, y + row - 1, 16, 2, colour, 1);
        break;
    case Icon::help: c.text(x, y, "?", size::formula, colour, Face::semibold, Align::center); break;
    default: play_icon(c, icon, x, y, colour); break;
    }
}

}  // namespace tilewalk::ui

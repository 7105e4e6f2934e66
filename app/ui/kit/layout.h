// Where the panels of the normal view lie, in logical px.
#pragma once

#include "app/ui/kit/measures.h"

namespace tilewalk::ui {

/// A count as a length.
template <class T> constexpr float px(T n) { return static_cast<float>(n); }

struct Point {
    float x = 0, y = 0;
};

struct Rect {
    float x = 0, y = 0, w = 0, h = 0;
    float right() const { return x + w; }
    float bottom() const { return y + h; }
    float middle() const { return y + h / 2; }
    bool contains(Point p) const { return p.x >= x && p.x < right() && p.y >= y && p.y < bottom(); }

    // As a panel: where what it holds begins and ends, and the middle of its title
    float inner_x() const { return x + space::pad; }
    float inner_right() const { return right() - space::pad; }
    float inner_w() const { return w - 2 * space::pad; }
    float title_y() const { return y + space::title; }
};

struct Layout {
    float W = 0, H = 0;
    Rect header, hbm, sram, side, timeline, meters;
    Rect main;           ///< hbm and sram together, for lessons that divide it otherwise
    bool tight = false;  ///< below 1440 × 800: smaller lens, formula and pseudocode behind tabs
};
Layout layout_for(float W, float H);

}  // namespace tilewalk::ui

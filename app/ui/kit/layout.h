// Where the panels of the normal view lie, in logical px.
#pragma once

namespace tilewalk::ui {

struct Rect {
    float x = 0, y = 0, w = 0, h = 0;
    float right() const { return x + w; }
    float bottom() const { return y + h; }
    float middle() const { return y + h / 2; }
};

struct Layout {
    float W = 0, H = 0;
    Rect header, hbm, sram, side, timeline, meters;
    Rect main;           ///< hbm and sram together, for lessons that divide it otherwise
    bool tight = false;  ///< below 1440 × 800: smaller lens, formula and pseudocode behind tabs
};
Layout layout_for(float W, float H);

}  // namespace tilewalk::ui

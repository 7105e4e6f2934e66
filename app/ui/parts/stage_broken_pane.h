// One of the two panes of a broken step (stage_broken.cpp): its bar and its result.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/parts/stage_broken.h"

#include <cmath>
#include <string>

namespace tilewalk::ui::panes {

constexpr float bar_w = 112;      // of the bar of the value
constexpr float end_w = 246;      // of the column that shows the result
constexpr float foot_h = 60;      // value and difference
constexpr float edge = 20;        // from the border of a pane to what it holds
constexpr float value_size = 36;  // of the number at the foot

/// Bars of both panes to one scale, standing on one line.
struct Bars {
    double up = 0, down = 0;
    float y = 0, h = 0;
    float length(double v) const {
        return up + down > 0 ? h * static_cast<float>(std::abs(v) / (up + down)) : 0.0f;
    }
    float zero() const { return y + length(up) + (up + down > 0 ? 0 : h); }
    float at(double v) const { return v < 0 ? zero() + length(v) : zero() - length(v); }
};

struct Pane {
    const Canvas& c;
    const BrokenStep& step;
    const StageSide& side;
    bool broken, rounded;
    bool moves;  // it computes nothing: its numbers are bytes
    Rect a;
    Bars bars;
    const char* kind;  // "Broken", "Rounded", "Saving"

    float x() const { return a.x + edge; }
    float right() const { return a.right() - edge; }
    float end_x() const { return right() - end_w; }
    float foot_y() const { return a.bottom() - foot_h; }
    float label_x() const { return x() + bar_w + 16; }
    float label_w() const { return end_x() - 12 - label_x(); }
    const Theme& theme() const { return *c.theme; }
    bool harmless() const { return broken && step.harmless(); }
    bool faulty() const { return broken && !rounded && !harmless(); }
    ImU32 alarm() const { return faulty() ? theme().danger : theme().t1; }
    bool has_line() const {
        return !rounded && std::isfinite(step.truth.value) && std::isfinite(step.broken.value) &&
               bars.up + bars.down > 0;
    }
    float line_y() const { return bars.at(step.truth.value); }
};

/// A number as one of the two panes has it; of rounded ones the digits that differ are marked.
struct Shown {
    std::string text;
    std::size_t same = 0;
    bool marked = false;
};
Shown shown(const Pane& pane, double truth, double broken);
struct NumberLook {
    float size;
    ImU32 colour;
    Align align = Align::left;
    float room = end_w;
    bool bold = false;
};
float draw_shown(const Canvas& canvas, float x, float y, const Shown& number, const NumberLook& look);

/// Text that the dashed line may not cross.
void clear_ground(const Canvas& canvas, float x, float y, float w, float h);
/// ℓ[0], as `cell_text` of what step `made` wrote.
Line named(const Trace& trace, const CellRef& cell, int made);
/// Its number at the end, if that is wrong, in the colour of what is wrong.
float draw_alarming(const Pane& pane, float x, float y, const Line& line, float size, bool wrong);

/// The value as a bar from its parts, the true height as a line across both panes, and the labels beside it.
void draw_value(const Pane& pane);
/// The result as an element of the matrix that the lesson is after, how far it is off, and which rows are.
void draw_end(const Pane& pane);
void draw_map(const Pane& pane);

}  // namespace tilewalk::ui::panes

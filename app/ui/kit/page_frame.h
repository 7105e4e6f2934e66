// The frame of every page, with a walk or without: the header, the same margins, a column at the right, and
// what stands at the foot. From page to page nothing of it moves.
#pragma once

#include "app/ui/kit/layout.h"

namespace tilewalk::ui {

constexpr float header_height = 52;
/// From the top of the column at the right to the middle of its title.
constexpr float side_title = 28;
/// The buttons that begin and end a run, at the left of a bar.
namespace run_button {
constexpr float w = 116, h = 40, gap = 8;
}

/// What stands at the foot of a page.
enum class Foot {
    none,
    bar,       ///< a line of fields and buttons
    timeline,  ///< the steps of a walk
    band       ///< pictures, or what the warps do
};

struct PageFrame {
    Rect header;
    Rect strip;  ///< where a page has one: a line as high as a title with controls, above its body
    Rect body;   ///< from the header, or the strip, down to the foot
    Rect side;   ///< the column at the right of the body
    Rect main;   ///< the body without it
    Rect foot;   ///< as wide as the body
};
/// For a page of this size. `more`: what the foot has in height beyond the usual.
PageFrame page_frame(float W, float H, Foot foot, bool strip = false, float more = 0);
/// For what lies below the header.
PageFrame page_frame_below(const Rect& header, Foot foot, bool strip = false, float more = 0);

}  // namespace tilewalk::ui

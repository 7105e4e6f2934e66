// The algorithm of the lesson with its current line.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "core/walk/lesson.h"

namespace tilewalk::ui {

struct AppState;

/// A line with the numbers of the problem: "Tr−1" becomes the last block, and a scale of 1 is left out.
struct ShownCode {
    int line;  ///< in the lesson's whole code, from 0
    int indent;
    std::string text;
};
/// The lines that this problem has: without a mask, none about it.
std::vector<ShownCode> shown_code(const Lesson& lesson, const Problem& problem);

/// From the top of the area, in a panel of this height; returns where it ends.
float pseudocode(const Canvas& canvas, const AppState& state, const Rect& area, float panel_h);
/// Room that it takes with every line, as low as they may be.
float least_pseudocode_height(const AppState& state);
/// At the foot of a panel, from y at most; nothing where it has no room.
void pseudocode_below(const Canvas& canvas, const AppState& state, const Rect& panel, float y);

}  // namespace tilewalk::ui

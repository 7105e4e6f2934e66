// True beside broken, on the stage of presenter mode: the cell of the step to one scale, and what it leads
// to.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/state/broken_stage.h"

namespace tilewalk::ui {

/// The panes need this height.
constexpr float least_broken_stage = 352;
void broken_stage(const Canvas& canvas, const AppState& state, const BrokenStep& step, const Rect& area);
/// "Fault: correction left out", "Rounded: bf16 kernel", and what X does, in at most `room`.
void fault_name(const Canvas& canvas, const AppState& state, float x, float y, float room,
                bool harmless = false);
/// What the fault does here, in a line or two.
float broken_line_height(const AppState& state, const std::string& sentence, float w, bool harmless);
void broken_line(const Canvas& canvas, const AppState& state, const std::string& sentence, const Rect& area,
                 bool harmless);

}  // namespace tilewalk::ui

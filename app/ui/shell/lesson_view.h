// Which view draws which lesson. The frame of the program (header, explanation, timeline, meters, the page of
// presenter mode) is the same for all; a lesson's view draws the matrices.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"

namespace tilewalk::ui {

struct LessonView {
    /// Everything between the header and the timeline, left of the side panel (`layout.main`).
    void (*main)(const Canvas&, AppState&, const Layout&);
    /// The middle of the presenter page, 27 px and more: `strip` is free at the left (for HBM) if
    /// `presenter_strip` asks for it, `body` lies between title and formula.
    void (*presenter)(const Canvas&, AppState&, const Rect& strip, const Rect& body);
    bool presenter_strip = false;
};

const LessonView& lesson_view(const Lesson& lesson);

// The tiled forward pass: hbm.cpp, sram.cpp, lens.cpp
void forward_main(const Canvas& canvas, AppState& state, const Layout& layout);
void forward_presenter(const Canvas& canvas, AppState& state, const Rect& strip, const Rect& body);

// One row of softmax in three, two and one passes: softmax*.cpp
void softmax_main(const Canvas& canvas, AppState& state, const Layout& layout);
void softmax_presenter(const Canvas& canvas, AppState& state, const Rect& strip, const Rect& body);

}  // namespace tilewalk::ui

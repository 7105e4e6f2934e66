// Which view draws which lesson, and which page. The frame of the program (header, explanation, timeline,
// meters, the page of presenter mode) is the same for all lessons; a lesson's view draws the matrices.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"
#include "core/class/tour.h"

namespace tilewalk::ui {

struct LessonView {
    /// Everything between the header and the timeline, left of the side panel (`layout.main`).
    void (*main)(const Canvas&, AppState&, const Layout&);
    /// The middle of the presenter page, 27 px and more: `strip` is free at the left (for HBM) if
    /// `presenter_strip` asks for it, `body` lies between title and formula.
    void (*presenter)(const Canvas&, AppState&, const Rect& strip, const Rect& body);
    bool presenter_strip = false;
    std::vector<std::string> panels;  ///< that `main` shows
    /// What `main` has at the right of the title of SRAM takes so much from its edge on; null: nothing.
    float (*title_taken)(const AppState&, const Rect& sram) = nullptr;
    /// A small map of its own in the head of the presenter page, up to its right edge; returns what it takes.
    float (*head_map)(const Canvas&, const AppState&, float right) = nullptr;
    /// `presenter` has room for this step's matrices with all digits of the settings; null: wherever it can.
    bool (*has_all_digits)(const AppState&, float width, float height) = nullptr;
};

const LessonView& lesson_view(const Lesson& lesson);

/// A page without a walk: it draws everything below the header, and has keys and a clock of its own.
struct PageView {
    Page page;
    void (*view)(const Canvas&, AppState&, const Rect& area);
    void (*presenter)(const Canvas&, AppState&, float W, float H);
    bool (*answer_key)(AppState&, const KeyPress&);
    void (*pass_time)(AppState&, float seconds);
    double (*idle_seconds)(const AppState&);
    std::vector<std::string> panels;  ///< beside the header
};

/// Null for a walk.
const PageView* page_view(Page page);

/// What a stop of a tour may point at.
TourNames tour_names();

}  // namespace tilewalk::ui

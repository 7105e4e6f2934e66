#include "app/ui/shell/lesson_view.h"

#include "app/ui/chapters/backward/backward.h"
#include "app/ui/chapters/compare/compare.h"
#include "app/ui/chapters/dense/dense.h"
#include "app/ui/chapters/forward/forward.h"
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/chapters/memory/memory.h"
#include "app/ui/chapters/merge/merge.h"
#include "app/ui/chapters/scale/scale.h"
#include "app/ui/chapters/softmax/parts.h"
#include "app/ui/chapters/start/start.h"
#include "app/ui/parts/stage.h"
#include "app/ui/state/chapters.h"
#include "core/lessons/table.h"

#include <algorithm>
#include <iterator>

namespace tilewalk::ui {

static void forward_main(const Canvas& c, AppState& state, const Layout& layout) {
    hbm_view(c, state, layout.hbm);
    sram_view(c, state, layout.sram, layout.tight);
}

// All of it, by buttons and titles.
static float whole_title(const AppState&, const Rect& sram) { return sram.w; }

// HBM stands at the left of the stage
static LessonView with_strip(LessonView view) {
    view.has_all_digits = strip_stage_has_all_digits;
    return view;
}

// A picture more does not compile until it has its place here and its row below.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
static std::size_t place_of(Picture picture) {
    switch (picture) {
    case Picture::attention:
    case Picture::dense_backward:
    case Picture::training:
    case Picture::softmax:
    case Picture::forward:
    case Picture::forward_v1:
    case Picture::flash_backward:
    case Picture::merge:
    case Picture::split_kv:
    case Picture::ring:
    case Picture::cascade:
    case Picture::count: break;
    }
    return static_cast<std::size_t>(picture);
}
#pragma GCC diagnostic pop

const LessonView& lesson_view(const Lesson& lesson) {
    static const LessonView dense{dense_main, dense_presenter,     false, {"Matrices", "Lens"}, nullptr,
                                  nullptr,    stage_has_all_digits};
    static const LessonView views[] = {
        dense,  // Picture::attention
        dense,  // Picture::dense_backward
        dense,  // Picture::training
        // Picture::softmax
        {softmax_main, softmax_presenter, false, {"Row", "Three passes", "Two passes", "Running values"}},
        with_strip({forward_main,
                    forward_presenter,
                    true,
                    {"HBM", "SRAM", "Lens", "Proof", "Map"}}),                      // Picture::forward
        with_strip({v1_main, forward_presenter, true, {"HBM", "SRAM", "Beside"}}),  // Picture::forward_v1
        with_strip({backward_main,
                    backward_presenter,
                    true,
                    {"HBM", "SRAM", "Lens"},
                    order_switch_taken}),  // Picture::flash_backward
        {merge_main,
         merge_presenter,
         false,
         {"Parts", "Lens", "Trees", "Same result?"},
         whole_title,
         nullptr,
         merge_has_all_digits},  // Picture::merge
        {split_main,
         split_presenter,
         false,
         {"HBM", "Workers", "SRAM", "Lens"},
         whole_title,
         nullptr,
         split_has_all_digits},  // Picture::split_kv
        {ring_main,
         ring_presenter,
         false,
         {"Ring", "Rounds", "Balance", "SRAM"},
         whole_title,
         ring_map,
         stage_has_all_digits},  // Picture::ring
        {cascade_main,
         cascade_presenter,
         false,
         {"HBM", "Prefix", "Pages", "SRAM", "Lens"},
         whole_title,
         nullptr,
         cascade_has_all_digits},  // Picture::cascade
    };
    static_assert(std::size(views) == static_cast<std::size_t>(Picture::count));
    return views[place_of(lesson.picture)];
}

const PageView* page_view(Page page) {
    static const PageView pages[] = {
        {Page::memory,
         memory_view,
         memory_presenter,
         answer_memory_key,
         pass_memory_time,
         memory_idle_seconds,
         {"Sizes", "Hierarchy", "Traffic", "Roofline", "Tile height", "KV cache", "Scores"}},
        {Page::scale,
         scale_view,
         scale_presenter,
         answer_scale_key,
         [](AppState& s, float) { refresh_scale(s); },
         scale_idle_seconds,
         {"Devices", "Sizes", "Ladder", "Times", "Time", "Memory", "Run"}},
        {Page::compare,
         compare_view,
         compare_presenter,
         answer_compare_key,
         [](AppState& s, float) { refresh_compare(s); },
         compare_idle_seconds,
         {"Run", "Verdict", "Differences", "Row statistics"}},
        {Page::inside,
         inside_view,
         inside_presenter,
         answer_inside_key,
         refresh_inside,
         inside_idle_seconds,
         {"Source", "Registers", "Memory", "Step", "Warps", "Crossing", "Numbers", "Fault"}},
        {Page::start,
         start_view,
         start_presenter,
         answer_start_key,
         pass_start_time,
         start_idle_seconds,
         {"Algorithm", "Moments", "New here", "Continue", "Open"}}};
    const auto found = std::ranges::find(pages, page, &PageView::page);
    return found == std::end(pages) ? nullptr : found;
}

TourNames tour_names() {
    TourNames out;
    for (const Lesson& lesson : lessons()) {
        auto& panels = out.panels[lesson.id] = lesson_view(lesson).panels;
        panels.insert(panels.end(), {"Header", "Explanation", "Timeline", "Meters", "Problem", "Break it"});
        // The third form is the lesson's own, or FlashAttention's.
        if (lesson.picture == Picture::softmax)
            panels.push_back(form_title(
                &lesson == &softmax_lesson(SoftmaxForm::dense) ? SoftmaxForm::dense : SoftmaxForm::one_pass));
    }
    out.buttons = {"menu",    "help",  "presenter", "theme", "problem", "break",
                   "example", "first", "back",      "play",  "forward", "last"};
    for (const Chapter& chapter : chapters()) {
        out.buttons.push_back(chapter.id);
        if (chapter.page == Page::walk) continue;
        const std::string name = page_names[static_cast<std::size_t>(chapter.page)];
        out.pages.push_back(name);
        out.panels[name] = page_view(chapter.page)->panels;
        out.panels[name].push_back("Header");
    }
    for (const gpu::TraceableKernel& kernel : gpu::traceable_kernels())
        out.kernels[kernel.name] = kernel.types;
    return out;
}

}  // namespace tilewalk::ui

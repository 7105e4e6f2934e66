#include "app/ui/shell/lesson_view.h"

#include "app/ui/chapters/backward/backward.h"
#include "app/ui/chapters/compare/compare.h"
#include "app/ui/chapters/dense/dense.h"
#include "app/ui/chapters/forward/forward.h"
#include "app/ui/chapters/memory/memory.h"
#include "app/ui/chapters/scale/scale.h"
#include "app/ui/chapters/softmax/parts.h"

#include <algorithm>
#include <iterator>

namespace tilewalk::ui {

static void forward_main(const Canvas& c, AppState& state, const Layout& layout) {
    hbm_view(c, state, layout.hbm);
    sram_view(c, state, layout.sram, layout.tight);
}

const LessonView& lesson_view(const Lesson& lesson) {
    static constexpr LessonView dense{dense_main, dense_presenter, false};
    static constexpr LessonView views[] = {
        dense,                                      // Picture::attention
        dense,                                      // Picture::dense_backward
        dense,                                      // Picture::training
        {softmax_main, softmax_presenter, false},   // Picture::softmax
        {forward_main, forward_presenter, true},    // Picture::forward
        {v1_main, forward_presenter, true},         // Picture::forward_v1
        {backward_main, backward_presenter, true},  // Picture::flash_backward
    };
    static_assert(std::size(views) == picture_count);
    return views[static_cast<std::size_t>(lesson.picture)];
}

const PageView* page_view(Page page) {
    static constexpr PageView pages[] = {{Page::memory, memory_view, memory_presenter, answer_memory_key,
                                          pass_memory_time, memory_idle_seconds},
                                         {Page::scale, scale_view, scale_presenter, answer_scale_key,
                                          [](AppState& s, float) { refresh_scale(s); }, scale_idle_seconds},
                                         {Page::compare, compare_view, compare_presenter, answer_compare_key,
                                          [](AppState& s, float) { refresh_compare(s); },
                                          compare_idle_seconds}};
    const auto found = std::ranges::find(pages, page, &PageView::page);
    return found == std::end(pages) ? nullptr : found;
}

}  // namespace tilewalk::ui

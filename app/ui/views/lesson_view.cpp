#include "app/ui/views/lesson_view.h"

#include "app/ui/views/views.h"

#include <string_view>

namespace tilewalk::ui {

void forward_main(const Canvas& c, AppState& state, const Layout& layout) {
    hbm_view(c, state, layout.hbm);
    sram_view(c, state, layout.sram, layout.tight);
}

const LessonView& lesson_view(const Lesson&) {
    static const LessonView forward{forward_main, forward_presenter, true};
    return forward;
}

}  // namespace tilewalk::ui

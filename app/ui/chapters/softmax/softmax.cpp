// The softmax lessons: the row of x and V, the three algorithms side by side, and what they carry along.
#include "app/ui/chapters/softmax/parts.h"
#include "app/ui/kit/items.h"
#include "app/ui/shell/lesson_view.h"

#include <algorithm>

namespace tilewalk::ui {

void softmax_main(const Canvas& c, AppState& state, const Layout& layout) {
    follow_component(state);
    const Rect& a = layout.main;
    const float gap = a.h < 450 ? 8.0f : 12.0f;
    const float top = std::clamp(a.h * .165f, 76.0f, 112.0f);
    const float middle = std::clamp(a.h * .36f, 148.0f, 280.0f);
    softmax_row_panel(c, state, {a.x, a.y, a.w, top});
    const float w = (a.w - 2 * gap) / 3, y = a.y + top + gap;
    for (int passes = 3; passes >= 1; --passes)
        softmax_pass_panel(c, state, softmax_walk(state, passes),
                           {a.x + static_cast<float>(3 - passes) * (w + gap), y, w, middle});
    const float below = y + middle + gap;
    softmax_bottom_panel(c, state, {a.x, below, a.w, a.bottom() - below});
}

}  // namespace tilewalk::ui

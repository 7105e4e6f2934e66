// Presenter mode of the tiled backward pass.
#include "app/ui/parts/presenter.h"
#include "app/ui/chapters/backward/backward.h"
#include "app/ui/chapters/forward/hbm_parts.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage.h"
#include "app/ui/state/quiz.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

std::vector<StripPlace> hbm_strip(const Canvas& c, const AppState& state, const Rect& a) {
    std::vector<StripPlace> moved;
    const Panel panel(c, "HBM", a);
    strip_head(c, a);
    constexpr Slot slots[2][3] = {{Slot::Q, Slot::K, Slot::V}, {Slot::dQ, Slot::dK, Slot::dV}};
    const float cell = (a.w - 40 - 2 * 20) / 3;
    for (int row = 0; row < 2; ++row)
        for (int n = 0; n < 3; ++n) {
            const Rect area{a.x + space::far_pad + px(n) * (cell + 20), a.y + 106 + px(row) * 132, cell, 72};
            const Slot slot = slots[row][n];
            c.faded(light_on(state, slot)).rich(area.x - 2, area.y - 24, slot_symbol(slot), size::far_number);
            strip_blocks(c, state, slot, area, true);
            add_strip_places(moved, state, slot, area);
        }
    const Line names{symbol("P", Role::S), word("  "), symbol("dP", Role::S), word("  "),
                     symbol("dS", Role::S)};
    const Rect never = strip_foot(c, a, a.y + 336, names, a.x + 128);
    if (never.w > 0)
        ghost(c, *state.trace, state.cursor.step, never.x, never.y, never.w, never.h,
              hides_what_comes(state));
    return moved;
}

}  // namespace

void backward_presenter(const Canvas& c, AppState& state, const Rect& strip, const Rect& body) {
    std::vector<StripPlace> moved;
    if (strip.w > 0) moved = hbm_strip(c, state, strip);
    stage(c, state, body, {backward_look, backward_lens, strip.w == 0, std::move(moved)});
}

}  // namespace tilewalk::ui

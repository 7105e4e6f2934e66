// Presenter mode of the tiled backward pass.
#include "app/ui/parts/presenter.h"
#include "app/ui/chapters/backward/backward.h"
#include "app/ui/chapters/forward/hbm_parts.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/quiz.h"

namespace tilewalk::ui {

namespace {

std::vector<StripPlace> hbm_strip(const Canvas& c, const AppState& state, const Rect& a) {
    std::vector<StripPlace> moved;
    const Panel panel(c, "HBM", a);
    strip_head(c, a);
    const float cell = (a.w - 40 - 2 * 20) / 3, x0 = a.x + space::far_pad, narrow = 18;
    const float columns[] = {x0, x0 + cell + 20, x0 + 2 * (cell + 20)};
    const struct {
        Slot slot;
        int row;
        float x, w;
    } places[] = {{Slot::Q, 0, columns[0], cell},   {Slot::K, 0, columns[1], cell},
                  {Slot::V, 0, columns[2], cell},   {Slot::dQ, 1, columns[0], cell},
                  {Slot::dK, 1, columns[1], cell},  {Slot::dV, 1, columns[2], cell},
                  {Slot::O, 2, columns[0], cell},   {Slot::dO, 2, columns[1], cell},
                  {Slot::D, 2, columns[2], narrow}, {Slot::L, 2, columns[2] + cell - narrow, narrow}};
    // Lower where a card leaves less of the page.
    const float h = std::min(60.0f, (a.h - 102 - 2 * 46 - 12) / 3);
    for (const auto& [slot, row, x, w] : places) {
        const Rect area{x, a.y + 102 + px(row) * (h + 46), w, h};
        strip_name(c, state, slot, {x - 2, area.y - 22}, size::far_number);
        strip_blocks(c, state, slot, area, true);
        add_strip_places(moved, state, slot, area);
    }
    const Line names{symbol("P", Role::S), word("  "), symbol("dP", Role::S), word("  "),
                     symbol("dS", Role::S)};
    const Rect never = strip_foot(c, a, a.y + 388, names, a.x + 128);
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

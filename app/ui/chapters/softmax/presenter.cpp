// Presenter mode of the softmax lessons: the row large, the pass under way, and what it carries along.
#include "app/ui/parts/presenter.h"
#include "app/ui/chapters/softmax/parts.h"
#include "app/ui/kit/canvas_cell.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

void element(const Canvas& c, const AppState& state, const SoftmaxWalk& walk, Slot slot, int j,
             const Rect& a) {
    auto [ref, value, look] = softmax_element(state, walk, slot, j);
    look.size = size::far_number;
    std::string text = format_short(value);
    if (text_width(Face::mono, size::far_number, text) > a.w - 6) text = format_short(value, 3);
    if (text_width(Face::mono, size::far_number, text) <= a.w - 6) look.text = text;
    const Slot on_chip = slot == Slot::x ? Slot::S : Slot::Vj;
    const float light = look.dim ? light_of(state, false, false) : light_on(state, on_chip);
    cell(c.faded(light), a.x, a.y, a.w, a.h, look);
}

}  // namespace

void softmax_presenter(const Canvas& c, AppState& state, const Rect&, const Rect& a) {
    follow_component(state);
    const SoftmaxWalk walk = softmax_walk(state);
    note_part(c, {a.x - 8, a.y - 8, a.w + 16, a.h + 16}, form_title(walk.form));
    const float card_h = 84, head = 40, gap = 6, ch = std::min(58.0f, (a.h - card_h - head - gap - 26) / 2);
    const float side = 250, left = a.x + 46, room = a.w - 46 - side - 20;
    const ElementWindow view = window_around(walk.element(), walk.N(), static_cast<int>(room / 98));
    const float cw = std::min(128.0f, room / px(view.count));
    const float y1 = a.y + head, y2 = y1 + ch + gap;
    c.rich(left - 14, y1 + ch / 2, {symbol("x", Role::S)}, size::far_symbol, Align::right);
    c.rich(left - 14, y2 + ch / 2, {symbol("V", Role::V)}, size::far_symbol, Align::right);
    for (int n = 0; n < view.count; ++n) {
        const int j = view.first + n;
        const float x = left + px(n) * cw;
        const bool now = walk.element() == j + 1;
        if (now) c.rect(x, a.y - 2, cw, head + 2 * ch + gap + 8, c.theme->raised, radius::panel);
        c.text(x + cw / 2, a.y + head / 2, str(j + 1), size::far, now ? c.theme->t1 : c.theme->t2,
               now ? Face::semibold : Face::regular, Align::center);
        element(c, state, walk, Slot::x, j, {x + 3, y1, cw - 6, ch});
        element(c, state, walk, Slot::V, j, {x + 3, y2, cw - 6, ch});
    }
    const int pass = walk.step().phase + 1;
    c.text(a.right(), y1 + ch / 2, "pass " + str(pass) + " of " + str(walk.passes), size::far_text,
           c.theme->t1, Face::medium, Align::right);
    Line reads{strong(str(walk.reads())), word(" of "), strong(str(walk.passes * walk.N())), word(" reads")};
    c.rich(a.right(), y2 + ch / 2, reads, size::far_text, Align::right);
    const float w = (a.w - 2 * 20) / 3, y = a.bottom() - card_h;
    constexpr Slot slots[] = {Slot::m, Slot::l, Slot::Oi};
    for (int which = 0; which < 3; ++which) {
        const Rect area{a.x + px(which) * (w + 20), y, w, card_h};
        const SoftmaxCard card = softmax_card(state, walk, which);
        if (card.written) beam(c, state, {area.x + 4, area.y + 4, area.w - 8, area.h - 8});
        draw_card(c.faded(light_on(state, slots[which])), area, card, 36);
    }
}

}  // namespace tilewalk::ui

// Presenter mode of the tiled forward lessons.
#include "app/ui/parts/presenter.h"
#include "app/ui/chapters/forward/forward.h"
#include "app/ui/chapters/forward/hbm_parts.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/quiz.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

void mini(const Canvas& c, const AppState& state, Slot slot, const Rect& a, std::vector<StripPlace>& moved) {
    add_strip_places(moved, state, slot, a);
    note_part(c, a, std::string("strip ") + info(slot).name);
    strip_name(c, state, slot, {a.x, a.y - 26}, size::far_text);
    strip_blocks(c, state, slot, a, false);
}

// The N × N scores: tiles used, the one on chip, the rest.
void mini_ghost(const Canvas& c, const AppState& state, float x, float y, float side) {
    const Problem& p = *state.problem;
    const Theme& t = *c.theme;
    const ImU32 colour = hue(t, Role::S);
    const float w = side / px(p.N_kv()), h = side / px(p.N());
    const Step& now = step_now(state);
    for (int k = 0; k < state.trace->size(); ++k) {
        const Step& step = state.trace->step(k);
        if (step.op != Op::scores && step.op != Op::skip) continue;
        const float X = x + px(step.j * p.Bc) * w, Y = y + px(step.i * p.Br) * h;
        const float tw = px(std::min(p.Bc, p.N_kv() - step.j * p.Bc)) * w,
                    th = px(std::min(p.Br, p.N() - step.i * p.Br)) * h;
        const bool current = step.i == now.i && step.j == now.j, used = k < state.cursor.step && !current;
        const bool told = k <= state.cursor.step || !hides_what_comes(state);
        if (step.op == Op::skip && told) {  // no tile at all, rather than one that waits
            c.line({X + 3, Y + th - 3}, {X + tw - 3, Y + 3}, t.t3, 1.5f);
            if (current) c.frame(X, Y, tw, th, t.focus, 2.5f, 5);
            continue;
        }
        if (current && k <= state.cursor.step)
            c.rect(X + 1, Y + 1, tw - 2, th - 2, mix(t.panel, colour, .55f), radius::bar);
        if (used) c.rect(X + 1, Y + 1, tw - 2, th - 2, mix(t.panel, colour, .16f), radius::bar);
        if (used && tw > 12) c.hatch(X + 2, Y + 2, tw - 4, th - 4, mix(t.panel, colour, .4f), 7);
        if (!current && !used && tw > 6) c.frame(X + 1, Y + 1, tw - 2, th - 2, t.line2, 1, radius::bar);
        if (current) c.frame(X, Y, tw, th, colour, 2.5f, 5);
    }
}

std::vector<StripPlace> hbm_strip(const Canvas& c, const AppState& state, const Rect& a) {
    std::vector<StripPlace> moved;
    const Panel panel(c, "HBM", a);
    strip_head(c, a);
    // Lower where a card leaves less of the page.
    const float cell = (a.w - 40 - 28) / 2, h = std::min(80.0f, (a.h - 106 - 68 - 16) / 2), y1 = a.y + 106,
                y2 = y1 + h + 68;
    mini(c, state, Slot::K, {a.x + space::far_pad, y1, cell, h}, moved);
    mini(c, state, Slot::V, {a.x + 48 + cell, y1, cell, h}, moved);
    mini(c, state, Slot::Q, {a.x + space::far_pad, y2, cell, h}, moved);
    // The first version keeps m and ℓ in HBM, the second L.
    const bool first_version = state.trace->tiles(Slot::m_hbm) > 0;
    mini(c, state, Slot::O, {a.x + 48 + cell, y2, cell - (first_version ? 62.0f : 30.0f), h}, moved);
    if (first_version) mini(c, state, Slot::m_hbm, {a.right() - 70, y2, 18, h}, moved);
    mini(c, state, first_version ? Slot::l_hbm : Slot::L, {a.right() - 38, y2, 18, h}, moved);
    const Line names{symbol("S", Role::S), word("  "), symbol("P", Role::S)};
    const Rect never = strip_foot(c, a, a.y + 358, names, a.x + 126);
    if (never.w > 0) mini_ghost(c, state, never.x, never.y, never.w);
    return moved;
}

}  // namespace

void forward_presenter(const Canvas& c, AppState& state, const Rect& strip, const Rect& body) {
    std::vector<StripPlace> moved;
    if (strip.w > 0) moved = hbm_strip(c, state, strip);
    note_part(c, {body.x - 8, body.y + 4, body.w + 16, body.h + 4}, "SRAM");
    stage(c, state, body, {slot_look, lens_view, strip.w == 0, std::move(moved)});
}

}  // namespace tilewalk::ui

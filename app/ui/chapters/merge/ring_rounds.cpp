// Who has whose keys in which round.
#include "app/ui/chapters/merge/ring.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/parts/presenter.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

// Gradients come back in none of the rounds.
void draw_home(const Canvas& c, const Rect& a) {
    const float u = std::min(a.w, a.h) / 40, x = a.x + a.w / 2, y = a.middle();
    c.polygon({{x - 12 * u, y}, {x, y - 11 * u}, {x + 12 * u, y}}, c.theme->inv);
    c.rect(x - 8 * u, y - 1, 16 * u, 11 * u + 1, c.theme->inv);
    c.rect(x - 2.5f * u, y + 3 * u, 5 * u, 7 * u, c.theme->t1);
}

void round_cell(const Canvas& c, const RingNow& now, int rank, int round, const Rect& a) {
    const Theme& t = *c.theme;
    const int at = now.round_of(rank);
    // Gradients that come home end in the shard of their rank.
    const bool home = now.comes_home() && rank == now.rank && round == 0;
    const bool current = home || (round == at && rank == now.rank && !now.over()),
               empty = now.ring.scores(rank, round) == 0;
    if (round > at)
        c.to_come(a.x + 1, a.y + 1, a.w - 2, a.h - 2);
    else
        c.rect(a.x + 1, a.y + 1, a.w - 2, a.h - 2, current ? t.t1 : t.raised, radius::cell);
    if (round == at && !current) c.frame(a.x + 1.5f, a.y + 1.5f, a.w - 3, a.h - 3, t.line2, 1, radius::cell);
    if (empty && !current) c.crossed(a.x + 3, a.y + 3, a.w - 6, a.h - 6, t.line2);
    if (a.w < 15 || a.h < 15 || (empty && !current)) return;
    if (home) return draw_home(c, a);
    c.text(a.x + a.w / 2, a.middle(), str(round), size::small,
           current      ? t.inv
           : round > at ? t.t2
                        : t.t1,
           current ? Face::semibold : Face::regular, Align::center);
}

// Returns the height that it took.
float draw_rounds(const Canvas& c, const RingNow& now, const Rect& a, bool with_idle) {
    const Theme& t = *c.theme;
    const int R = now.ring.ranks;
    constexpr float head = 22, readable = 15;
    // Many ranks: their numbers alone, and no times, rather than cells without numbers.
    const bool many = (a.w - 52 - (with_idle ? 64.0f : 0.0f)) / px(R) < readable;
    const float names = many ? 18 : 52, idle_w = with_idle && !many ? 64.0f : 0.0f;
    const float cell =
        std::clamp(std::min((a.w - names - idle_w) / px(R), (a.h - head) / px(R)), 8.0f, 40.0f);
    const float x = a.x + names;
    for (int owner = 0; owner < R && cell >= 22; ++owner)
        c.rich(x + (px(owner) + .5f) * cell, a.y + 8, slot_symbol(Slot::K, owner), size::formula,
               Align::center);
    // What the numbers are, in the corner between ranks and keys
    if (cell < 22 && many) c.text(a.x, a.y + 8, "rank ↓   keys →", size::small, t.t3);
    if (cell >= 22 && !many) c.text(a.x, a.y + 8, "round", size::small, t.t3);
    if (idle_w > 0) c.text(a.right(), a.y + 8, "waits", size::small, t.t3, Align::right);
    for (int rank = 0; rank < R; ++rank) {
        const float y = a.y + head + px(rank) * cell;
        if (y + cell > a.bottom() + 1) break;
        const bool own = rank == now.rank, text = cell >= readable;
        if (text)
            c.text(a.x, y + cell / 2, many ? str(rank) : "rank " + str(rank), size::small, own ? t.t1 : t.t2,
                   own ? Face::semibold : Face::regular);
        for (int round = 0; round < R; ++round)
            round_cell(c, now, rank, round, {x + px(now.ring.owner(rank, round)) * cell, y, cell, cell});
        if (idle_w > 0 && text)
            c.text(a.right(), y + cell / 2, percent(1 - now.busy(rank)), size::small, own ? t.t1 : t.t2,
                   Face::mono, Align::right);
    }
    return head + px(R) * cell;
}

}  // namespace

void rounds_panel(const Canvas& c, const RingNow& now, const Rect& a) {
    const Panel panel(c, "Rounds", a, "Rounds", a.w > 270 ? "whose keys, when" : "");
    draw_rounds(c, now, {a.inner_x(), a.y + 42, a.inner_w(), a.h - 42 - 12}, true);
}

Rect draw_rounds_beside(const Canvas& c, const RingNow& now, const Rect& a) {
    const float cell = std::clamp(118 / px(now.ring.ranks), 15.0f, 40.0f), w = 52 + cell * px(now.ring.ranks),
                h = a.h / size::far_growth;
    note_part(c, {a.x, a.y, w * size::far_growth, a.h}, "Rounds");
    const Enlarged large(c, {a.x, a.y}, size::far_growth);
    const float grid_h = draw_rounds(large.c, now, {0, 0, w, h}, false);
    if (grid_h + 22 <= h) large.c.text(0, grid_h + 14, "number: the round", size::small, c.theme->t3);
    const float taken = std::max(w, 134.0f) * size::far_growth + 40;
    return {a.x + taken, a.y, a.w - taken, a.h};
}

}  // namespace tilewalk::ui

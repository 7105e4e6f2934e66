// The ring: who has whose keys at this tick and what is on its way; the rounds of all ranks; how busy they
// are with a causal mask, for each way to deal the sequence out; below, what the rank at hand has on chip.
#include "app/ui/chapters/merge/ring.h"
#include "app/ui/chapters/merge/merge.h"

#include "app/ui/parts/presenter.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/tour.h"

#include <algorithm>

namespace tilewalk::ui {

void ring_main(const Canvas& c, AppState& state, const Layout& layout) {
    const RingNow now(state);
    const Rect& a = layout.main;
    const float gap = a.h < 450 ? 8.0f : 12.0f, top = std::clamp(a.h * .47f, 190.0f, 330.0f);
    const float w = a.w - 2 * gap, ring_w = w * .38f, rounds_w = w * .29f;
    ring_panel(c, state, now, {a.x, a.y, ring_w, top});
    rounds_panel(c, now, {a.x + ring_w + gap, a.y, rounds_w, top});
    balance_panel(c, state, now, {a.x + ring_w + rounds_w + 2 * gap, a.y, w - ring_w - rounds_w, top});
    chip_panel(c, state, now, {a.x, a.y + top + gap, a.w, a.h - top - gap});
}

namespace {

// What a message, a load or the end of a rank is about is the whole ring; what a rank computes has the stage.
bool shows_ring(const AppState& state) {
    if (points_at(state, "Rounds") || points_at(state, "Balance") || points_at(state, "Ring")) return true;
    const Op op = op_now(state);
    if (op == Op::store && step_now(state).j >= 0) return false;  // two shares, as wide as the stage
    return !quiz_waits(state) && info(op).kind != OpKind::compute && op != Op::init;
}

// Who hands on what to whom, and what has arrived.
void draw_message(const Canvas& c, AppState& state, const RingNow& now, const Rect& a) {
    // High boxes have below their names what they hold, and need less width.
    const float ring_w = a.w * (a.h >= 174 ? .34f : .4f);
    const float sent = a.h >= 174 ? sent_h : 36;
    // Where a tour's card leaves too little for both, the ring: the card has the bytes.
    constexpr float least_ring = 82;
    const bool counts = a.h - sent - 14 >= least_ring;
    draw_ring(c, now, {a.x, a.y + 4, ring_w, a.h - (counts ? sent + 14 : 8)});
    if (counts) draw_sent(c, now, {a.x, a.bottom() - sent, ring_w, sent});
    draw_arriving(c, state, now, {a.x + ring_w + 24, a.y, a.w - ring_w - 24, a.h});
}

// What the step does besides, where the equation is one of several alike.
Line likewise(const AppState& state) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    if (stage_terms(trace, k).size() == stage_terms(trace, k, state.explanation).size()) return {};
    const Role meant = info(state.explanation.target.slot).role;
    const Op op = op_now(state);
    const bool values = meant == Role::V;
    if (!values && meant != Role::K) return {word("its other rows in the same way")};
    const int shard = step_now(state).j;
    const Line d = slot_symbol(values ? Slot::dK : Slot::dV, shard),
               share = slot_symbol(values ? Slot::dK_part : Slot::dV_part, shard);
    return op == Op::add_share ? pieces("in the same way  ", d, "  +  ", share, "  →  ", d)
                               : pieces(share, " goes with it");
}

}  // namespace

float ring_map(const Canvas& c, const AppState& state, float right) {
    if (shows_ring(state)) return 0;
    const RingNow now(state);
    const int R = now.ring.ranks;
    constexpr float side = 60, top = 10;
    const float cell = side / px(R), x = right - side;
    const bool numbered = cell >= size::far + 2;  // with the round in which a rank has these keys
    for (int rank = 0; rank < R; ++rank)
        for (int round = 0; round < R; ++round) {
            const Rect at{x + px(now.ring.owner(rank, round)) * cell, top + px(rank) * cell, cell, cell};
            const bool current = rank == now.rank && round == now.round_of(rank) && now.round < R;
            if (current)
                c.rect(at.x + 1, at.y + 1, cell - 2, cell - 2, c.theme->t1, radius::bar);
            else if (round <= now.round_of(rank))
                c.rect(at.x + 1, at.y + 1, cell - 2, cell - 2, numbered ? c.theme->raised : c.theme->line2,
                       radius::bar);
            else
                c.dashed_frame(at.x + 1.5f, at.y + 1.5f, cell - 3, cell - 3, c.theme->t3, 1.4f, {4, 3});
            if (numbered)
                c.text(at.x + cell / 2, at.middle(), str(round), size::far,
                       current ? c.theme->inv : c.theme->t1, Face::medium, Align::center);
        }
    note_part(c, {x, top, side, side}, "Rounds");
    const float name_w = c.rich(x - 12, 40, {symbol("K", Role::K)}, size::far_number, Align::right);
    return side + 12 + name_w + 20;
}

void ring_presenter(const Canvas& c, AppState& state, const Rect&, const Rect& a) {
    const RingNow now(state);
    const Op op = op_now(state);
    const bool message = (op == Op::exchange || op == Op::exchange_gradients) && !now.of_sink(now.k);
    const Rect rest = shows_ring(state) ? draw_rounds_beside(c, now, a) : a;
    const bool deals = points_at(state, "Balance");
    // The frames of cells reach beyond them, by less than this.
    constexpr float edge = 6, far_edge = edge * size::far_growth;
    note_part(c, {rest.x - far_edge, rest.y, rest.w + far_edge, rest.h},
              deals     ? "Balance"
              : message ? "Ring"
                        : "SRAM");
    if (deals || (message && shows_ring(state))) {
        const Enlarged large(c, {rest.x, rest.y}, size::far_growth);
        const Rect inner{0, 0, rest.w / size::far_growth - edge, rest.h / size::far_growth - edge};
        return deals ? draw_deals(large.c, now, {0, 4, inner.w, inner.h - 4})
                     : draw_message(large.c, state, now, inner);
    }
    const Line more = quiz_waits(state) ? Line{} : likewise(state);
    const float foot = more.empty() ? 0 : 34;
    c.rich(rest.x, rest.bottom() - 16, more, size::far, Align::left, c.theme->t2);
    const Rect body{rest.x, rest.y, rest.w, rest.h - foot};
    stage(c, state, body, {slot_look, has_ring_lens(op) ? ring_lens : nullptr, false});
}

}  // namespace tilewalk::ui

// The ring: who has whose keys at this tick and what is on its way; the rounds of all ranks; how busy they
// are with a causal mask, for each way to deal the sequence out; below, what the rank at hand has on chip.
#include "app/ui/chapters/merge/ring.h"
#include "app/ui/chapters/merge/merge.h"
#include "app/ui/chapters/merge/ring_chip.h"

#include "app/ui/parts/presenter.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage.h"
#include "app/ui/parts/stage_frame.h"
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
    constexpr float below_word = 4;
    const Rect arrives{a.x + ring_w + 24, a.y + below_word, a.w - ring_w - 24, a.h - below_word};
    draw_arriving(c, state, now, arrives);
    const FrameWords& words = frame_words(op_now(state));
    const auto word = [&](float x, const std::string& text) {
        c.text(x, a.y - frame_up / size::far_growth, text, size::small, c.theme->t3);
    };
    word(a.x, std::string(words.before) + " → " + words.operation);
    word(arrives.x, words.after);
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

// Whose keys the rank at hand has, round after round: "K 0 3 2 1", the round at hand marked.
float ring_map(const Canvas& c, const AppState& state, float right) {
    if (shows_ring(state)) return 0;
    const RingNow now(state);
    constexpr float cell = 40, top = 12, more_w = 28;
    constexpr int most = 6;
    const int R = now.ring.ranks, at = std::min(now.round_of(now.rank), R - 1);
    const ShownPart shown(R, at, most);
    const bool before = shown.first > 0, behind = shown.first + shown.count < R;
    const float w = cell * px(shown.count), x = right - w - (behind ? more_w : 0);
    for (int n = 0; n < shown.count; ++n) {
        const int round = shown.first + n;
        const Rect a{x + px(n) * cell + 2, top, cell - 4, cell};
        const bool current = round == now.round_of(now.rank);
        if (round > at)
            c.to_come(a.x, a.y, a.w, a.h);
        else
            c.rect(a.x, a.y, a.w, a.h, current ? c.theme->t1 : c.theme->raised, radius::cell);
        c.text(a.x + a.w / 2, a.middle(), str(now.ring.owner(now.rank, round)), size::far,
               current      ? c.theme->inv
               : round > at ? c.theme->t2
                            : c.theme->t1,
               Face::medium, Align::center);
    }
    if (behind) c.text(x + w + 2, top + cell / 2, "…", size::far, c.theme->t2);
    if (before) c.text(x - 2, top + cell / 2, "…", size::far, c.theme->t2, Align::right);
    note_part(c, {x, top, w, cell}, "Rounds");
    const float name = x - (before ? more_w + 8 : 12);
    const float name_w = c.rich(name, top + cell / 2, {symbol("K", Role::K)}, size::far_number, Align::right);
    return right - name + name_w + 20;
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

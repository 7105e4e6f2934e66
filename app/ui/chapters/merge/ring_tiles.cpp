// The tiles that a rank multiplies: its queries and what goes round; backward also what they add up.
#include "app/ui/chapters/merge/ring_chip.h"

#include "app/ui/parts/matrix.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

// Of S, P, dP and dS the one that the step has made, or needs.
Slot square_now(const RingNow& now) {
    const Op op = now.step().op;
    if (!now.backward || op < Op::recompute) return Slot::S;
    return op <= Op::dv ? Slot::Prob : op == Op::dp ? Slot::dP : Slot::dS;
}

}  // namespace

float OnChip::products(const Rect& a) {
    const float head = 28, gap = 22, between = 38, room = a.w - 2 * gap;
    const RingRows& all = now.ring.keys_of(owner());
    const int columns = static_cast<int>(room / 2),
              lines = static_cast<int>((a.h - head - between) / least_h());
    const ShownPart scores(all.rows(), chosen_key(), std::max(columns / 3, columns - 2 * d())),
        components(d(), chosen_component(), (columns - scores.count) / 2),
        rows(n(), chosen_query(), lines / 2), keys(all.rows(), chosen_key(), lines - rows.count);
    const float cw = std::clamp(room / px(2 * components.count + scores.count), 2.0f, 58.0f),
                ch = std::clamp((a.h - head - between) / px(rows.count + keys.count), 2.0f, 46.0f),
                wide = cw * px(components.count);
    const float y_Q = a.y + head, y_K = y_Q + ch * px(rows.count) + between, y_label = y_K - 21;
    const float x_S = a.x + wide + gap, x_V = x_S + cw * px(scores.count) + gap;
    const std::string own = shown_of(now.ring.queries_of(now.rank).positions, rows),
                      theirs = shown_of(all.positions, keys);
    const std::string which =
        scores.count < all.rows() ? "keys " + shown_of(all.positions, scores) : std::string();
    const Slot square = square_now(now);
    label(slot_symbol(Slot::Qi, now.rank), {own + " stay", own}, a.x, a.y + 8, wide + gap);
    label(slot_symbol(Slot::Kj, owner()), {theirs + " go round", theirs}, a.x, y_label, wide + gap);
    label(slot_symbol(square), {which}, x_S, a.y + 8, cw * px(scores.count) + gap);
    draw(square, 0, first_round, rows, scores, x_S, y_Q, cw, ch, "chip");
    draw(Slot::Qi, 0, first_rank, rows, components, a.x, y_Q, cw, ch, "chip");
    draw(Slot::Kj, 0, first_round, keys, components, a.x, y_K, cw, ch, "chip");
    if (now.backward) {
        label(slot_symbol(Slot::dOi, now.rank), {"stays, too", "stays"}, x_V, a.y + 8, wide);
        draw(Slot::dOi, 0, first_rank, rows, components, x_V, y_Q, cw, ch, "chip");
    }
    label(slot_symbol(Slot::Vj, owner()), columns_text(components, "go with them"), x_V, y_label, wide);
    draw(Slot::Vj, 0, first_round, keys, components, x_V, y_K, cw, ch, "chip");
    return x_V + wide - a.x;
}

void OnChip::gradients(const Rect& a) {
    const float head = 28, gap = 15, between = 38;
    const int all_keys = now.ring.keys_of(owner()).rows(),
              lines = static_cast<int>((a.h - head - between) / least_h());
    const ShownPart components(d(), chosen_component(), static_cast<int>(a.w / 4)),
        rows(n(), chosen_query(), lines / 2), keys(all_keys, chosen_key(), lines - rows.count), one(1, 0, 1);
    const float cw = std::clamp(
        std::min((a.w - 2 * gap) / px(2 + components.count), (a.w - 22) / px(2 * components.count)), 2.0f,
        58.0f);
    const float ch = std::clamp((a.h - head - between) / px(rows.count + keys.count), 2.0f, 46.0f);
    const float wide = cw * px(components.count), x_D = a.x + cw + gap, x_dQ = x_D + cw + gap,
                x_dV = a.x + wide + 22, y = a.y + head, y_share = y + ch * px(rows.count) + between;
    label(slot_symbol(Slot::Li, now.rank), {}, a.x, a.y + 8, cw + gap);
    label(slot_symbol(Slot::Di, now.rank), {}, x_D, a.y + 8, cw + gap);
    label(slot_symbol(Slot::dQi, now.rank), {"grows here"}, x_dQ, a.y + 8, wide);
    label(slot_symbol(Slot::dK_part, owner()), {"this rank's share", "share"}, a.x, y_share - 21, wide + 22);
    label(slot_symbol(Slot::dV_part, owner()), {"share"}, x_dV, y_share - 21, wide);
    draw(Slot::Li, 0, first_rank, rows, one, a.x, y, cw, ch, "sums");
    draw(Slot::Di, 0, first_rank, rows, one, x_D, y, cw, ch, "sums");
    draw(Slot::dQi, 0, first_rank, rows, components, x_dQ, y, cw, ch, "sums");
    draw(Slot::dKj, 0, first_round, keys, components, a.x, y_share, cw, ch, "shares");
    draw(Slot::dVj, 0, first_round, keys, components, x_dV, y_share, cw, ch, "shares");
}

}  // namespace tilewalk::ui

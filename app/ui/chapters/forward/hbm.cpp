// HBM of the tiled forward lessons: whole matrices, the tile in use, and the N × N matrices that never come.
#include "app/ui/chapters/forward/forward.h"
#include "app/ui/chapters/forward/hbm_parts.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

// Where the walk stands: the block on chip; −1: none of this round yet; beyond the last: all are used.
struct Position {
    int i, j;
};

Position position(const AppState& state) {
    const Step& step = step_now(state);
    const Problem& p = *state.problem;
    Position out{step.i, step.j};
    if (step.j < 0 && (step.op == Op::normalize || step.op == Op::store)) out.j = p.Tc();
    return out;
}

// m and ℓ in HBM (FlashAttention-1) need two columns, L one.
bool keeps_state_in_hbm(const AppState& state) { return state.trace->tiles(Slot::m_hbm) > 0; }

// The side of one of n cells. Two or three are larger: else they would leave most of the panel empty.
float largest_cell(const Rect& a, int n) {
    const float many = a.w > 320 ? 36.0f : a.w > 280 ? 30.0f : 26.0f;
    return std::max(many, std::min(52.0f, 92 / px(n)));
}

// Of cells of two matrices side by side.
struct Widths {
    float left, right;
};

// As wide as a cell has to be for a number; nothing where it is too low for one.
float number_width(const AppState& state, Slot slot, float height, int digits = 3) {
    if (height < least_numbered) return 0;
    return px(state.look[slot].letters_with(digits)) * size::mono * size::small + 5;
}

// Alike where the numbers of both, or of none, fit then; else one gives what it can spare.
Widths share(float room, float most, float left_needs, float right_needs) {
    const float each = std::min(most, room / 2);
    if (left_needs + right_needs > room) return {each, each};
    if (left_needs > each) return {left_needs, std::min(most, room - left_needs)};
    if (right_needs > each) return {std::min(most, room - right_needs), right_needs};
    return {each, each};
}

// Q, O and what is kept per query
void query_row(const Canvas& c, AppState& state, const Rect& a, float y, float qh, int current) {
    const Problem& p = *state.problem;
    const auto d = px(p.d());
    const float inner = a.inner_w(), left = a.inner_x();
    const bool two = keeps_state_in_hbm(state);
    const auto of_columns = [&](float w) { return two ? 2 * w + 8 : w; };
    const auto room_beside = [&](float w) { return (inner - 24 - of_columns(w)) / d; };
    // O shows results with more digits than Q has, so Q gets what its numbers need and O the rest. What is
    // kept of a row has all digits, as in the formula, where Q keeps its numbers beside it.
    constexpr float least_output = 12;
    const float need = std::max(18.0f, number_width(state, Slot::Q, qh));
    const float few = a.w > 230 ? (two ? 30.0f : 34.0f) : (two ? 18.0f : 26.0f),
                all = std::max(
                    few, number_width(state, two ? Slot::l_hbm : Slot::L, qh, number_style().digits) + 5);
    const float lw = room_beside(all) - need >= least_output ? all : few, room = room_beside(lw);
    const float qw = room - need >= least_output ? need : std::min(room / 2, largest_cell(a, p.d()));
    const float ow = std::min(34.0f, room - qw);
    const float x_O = left + d * qw + 12, x_L = x_O + d * ow + 12;
    thumb(c, state, {Slot::Q, true, p.N(), p.d(), p.Br, left, y, qw, qh, current});
    thumb(c, state, {Slot::O, false, p.N(), p.d(), p.Br, x_O, y, ow, qh, current});
    if (!two) return thumb(c, state, {Slot::L, false, p.N(), 1, p.Br, x_L, y, lw, qh, current});
    thumb(c, state, {Slot::m_hbm, false, p.N(), 1, p.Br, x_L, y, lw, qh, current});
    thumb(c, state, {Slot::l_hbm, false, p.N(), 1, p.Br, x_L + lw + 8, y, lw, qh, current});
}

Line never_here(float w) {
    return {symbol("S", Role::S), word(" and "), symbol("P", Role::S),
            word(w < 220 ? " stay on chip" : " never reach HBM")};
}

}  // namespace

void hbm_view(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "HBM", a, "HBM", hbm_subtitle(state, a));
    sink_in_title(c, state, a);
    const Problem& p = *state.problem;
    const Position at = position(state);
    const bool skipped = op_now(state) == Op::skip;
    const float inner = a.inner_w(), left = a.inner_x();
    float lower = a.h < 460 ? 132.0f : a.h < 560 ? 158.0f : 232.0f;  // the ghost section
    float zone = std::clamp((a.h - lower - 40 - 30 - 38 - 12) / 2, 40.0f, 150.0f);
    // Rows too low for numbers may be lower still: the map below tells tile from tile with what they leave.
    if (a.h < 460 && zone < 15 * px(std::max(p.N(), p.N_kv()))) zone = 56, lower = 166;

    const auto d = px(p.d());
    const float kh = std::min(largest_cell(a, p.N_kv()), zone / px(p.N_kv()));
    const auto [kw, vw] = share((inner - 18) / d, largest_cell(a, p.d()), number_width(state, Slot::K, kh),
                                number_width(state, Slot::V, kh));
    const float y1 = a.y + (a.h > from::high_hbm ? 82 : 72);
    thumb(c, state, {Slot::K, true, p.N_kv(), p.d(), p.Bc, left, y1, kw, kh, at.j, skipped});
    thumb(c, state, {Slot::V, true, p.N_kv(), p.d(), p.Bc, left + d * kw + 18, y1, vw, kh, at.j, skipped});

    const float qh = std::min(largest_cell(a, p.N()), zone / px(p.N()));
    const float y2 = y1 + std::min(zone, kh * px(p.N_kv())) + (a.h > from::high_hbm ? 54.0f : 42.0f);
    query_row(c, state, a, y2, qh, at.i);
    // What its hatching means, also where the caption below has no room.
    const float bottom = y2 + std::min(zone, qh * px(p.N()));
    const bool hatched = keeps_state_in_hbm(state) && still_growing(state, Slot::O);
    const float y3 = std::max(bottom + (hatched ? 30 : 20), a.bottom() - lower);
    if (hatched) draw_growing(c, a, bottom);
    ghost_section(c, state, a, y3, never_here(a.w),
                  keeps_state_in_hbm(state) ? "Hatched: O, m and ℓ come back for the next key block."
                                            : "Into HBM go only O and one number per query row, L.");
}

}  // namespace tilewalk::ui

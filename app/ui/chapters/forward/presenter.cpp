// Presenter mode of the tiled forward lessons: matrices that this step does not use shrink to their colours.
#include "app/ui/parts/presenter.h"
#include "app/ui/chapters/forward/connectors.h"
#include "app/ui/chapters/forward/forward.h"
#include "app/ui/chapters/forward/hbm_parts.h"
#include "app/ui/chapters/forward/sram_geometry.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

constexpr Slot row_slots[] = {Slot::Qi,    Slot::S, Slot::m_tile, Slot::m,
                              Slot::alpha, Slot::P, Slot::l,      Slot::Oi};

struct PresenterRow : Beds {
    std::array<int, slot_count> digits{};
    float total = 0;
};

// Kᵀ stands on the columns of S, V on those of O: a step that shows their numbers needs wide ones.
bool wanted(const AppState& state, Slot slot) {
    return touched_now(state, slot) || (slot == Slot::S && touched_now(state, Slot::Kj)) ||
           (slot == Slot::Oi && touched_now(state, Slot::Vj));
}

int letters(const AppState& state, Slot slot, int digits) {
    int most = std::max(2, touched_now(state, slot) ? state.look[slot].letters_with(digits) : 2);
    if (slot == Slot::S && touched_now(state, Slot::Kj))
        most = std::max(most, state.look[Slot::Kj].letters_with(digits));
    if (slot == Slot::Oi && touched_now(state, Slot::Vj))
        most = std::max(most, state.look[Slot::Vj].letters_with(digits));
    return most;
}

int columns_of(const Problem& p, Slot slot) {
    return slot == Slot::Qi || slot == Slot::Oi ? p.d()
           : slot == Slot::S || slot == Slot::P ? std::min(p.Bc, p.N_kv())
                                                : 1;
}

float gap_before(Slot slot) { return slot == Slot::Qi ? 0.0f : one_column(slot) ? 24.0f : 28.0f; }

// Strips of colour only; `slim` where this step needs all the room for its numbers.
PresenterRow strips(const AppState& state, const Rect& a, bool slim) {
    const Problem& p = *state.problem;
    const int Br = std::min(p.Br, p.N());
    PresenterRow row;
    for (Slot slot : row_slots) {
        const int cols = columns_of(p, slot);
        const bool narrow = slim && !wanted(state, slot);
        const float block =
            slot == Slot::S || slot == Slot::P ? (narrow ? 26.0f : 60.0f) : (narrow ? 40.0f : 112.0f);
        const float w =
            one_column(slot) ? (narrow ? 18.0f : 30.0f) : std::clamp(block / px(cols), .5f, 30.0f);
        row[slot] = {0, a.y, w, std::min(66.0f, a.h / px(Br)), Br, cols, false};
        row.total += gap_before(slot) + w * px(cols);
    }
    return row;
}

// Gives a matrix cells for numbers of so many digits, if they fit.
void widen(PresenterRow& row, const AppState& state, Slot slot, int digits, float room) {
    Bed& bed = row[slot];
    if (bed.numbers || bed.cols > 8 || bed.ch < from::far_row) return;
    const float w = far_cell(letters(state, slot, digits)), more = (w - bed.cw) * px(bed.cols);
    if (row.total + more > room) return;
    bed.cw = std::max(w, bed.cw);
    bed.numbers = true;
    row.digits[static_cast<std::size_t>(slot)] = digits;
    row.total += std::max(more, 0.0f);
}

// Columns of the step with four digits, then what it writes, then what it reads.
PresenterRow widened(const AppState& state, const Rect& a, bool slim) {
    PresenterRow row = strips(state, a, slim);
    for (int digits : digit_choices())
        for (Slot slot : row_slots)
            if (wanted(state, slot) && one_column(slot)) widen(row, state, slot, digits, a.w);
    for (bool written : {true, false})
        for (int digits : digit_choices())
            for (Slot slot : row_slots)
                if (wanted(state, slot) && written_now(state, slot) == written)
                    widen(row, state, slot, digits, a.w);
    return row;
}

PresenterRow row_of(const AppState& state, const Rect& a) {
    PresenterRow row = widened(state, a, false);
    for (Slot slot : row_slots)
        if (wanted(state, slot) && !row[slot].numbers) row = widened(state, a, true);
    // Q begins at the left and O ends at the right, at every step.
    const float spare = std::max(0.0f, a.w - row.total) / 7;
    float x = a.x;
    for (Slot slot : row_slots) {
        x += gap_before(slot) + (slot == Slot::Qi ? 0 : spare);
        row[slot].x = x;
        x = row[slot].right();
    }
    return row;
}

void draw(const Canvas& c, AppState& state, Slot slot, const Bed& bed, int digits) {
    MatrixLook look = slot_look(state, slot);
    look.transposed = slot == Slot::Kj;
    look.show_before = false;  // the old value would be too small to read
    if (look.state == CellState::written) beam(c, state, bed.area());
    far_matrix(c.faded(light_on(state, slot)), state, look, bed, std::max(digits, 3));
}

// The transfer of this step, if it is one.
void transfer(const Canvas& c, const AppState& state, const PresenterRow& row, const Bed& K, const Bed& V,
              float edge, float v_line) {
    const Bed &Q = row[Slot::Qi], &O = row[Slot::Oi];
    const auto move = [&](std::initializer_list<Point> way, Role role) {
        c.arrow(way, ArrowStyle::active, hue(*c.theme, role), transition(state));
    };
    const Point at_O{O.center(), O.bottom() + 8}, below_O{O.center(), O.bottom() + 34}, hbm{edge, below_O.y};
    switch (op_now(state)) {
    case Op::load_q: return move({{edge, Q.middle()}, {Q.x - 8, Q.middle()}}, Role::Q);
    case Op::load_kv:
        move({{edge, K.middle()}, {K.x - 8, K.middle()}}, Role::K);
        return move({{edge, v_line}, {V.center(), v_line}, {V.center(), V.y - 8}}, Role::V);
    case Op::load_state: return move({hbm, below_O, at_O}, Role::O);
    case Op::store:
    case Op::store_state: return move({at_O, below_O, hbm}, Role::O);
    default: return;
    }
}

void symbols(const Canvas& c, const AppState& state, const PresenterRow& row, const Bed& K, const Bed& V) {
    for (Slot slot : row_slots) {
        const bool block = slot == Slot::Qi || slot == Slot::Oi;
        c.faded(light_on(state, slot))
            .rich(row[slot].center(), row[slot].y - 30,
                  slot_symbol(slot, block ? block_on_chip(state, slot) : -1), size::far_symbol,
                  Align::center);
    }
    const Line k = transposed(slot_symbol(Slot::Kj, block_on_chip(state, Slot::Kj)));
    c.faded(light_on(state, Slot::Kj)).rich(K.right() + 20, K.middle(), k, size::far_symbol);
    c.faded(light_on(state, Slot::Vj))
        .rich(V.x - 22, V.middle(), slot_symbol(Slot::Vj, block_on_chip(state, Slot::Vj)), size::far_symbol,
              Align::right);
}

// From what is read to what is written, where they are neighbours
void flows(const Canvas& c, const AppState& state, const PresenterRow& row) {
    for (std::size_t n = 0; n + 1 < std::size(row_slots); ++n) {
        const Bed &from = row[row_slots[n]], &to = row[row_slots[n + 1]];
        const bool flow = touched_now(state, row_slots[n]) && !written_now(state, row_slots[n]) &&
                          written_now(state, row_slots[n + 1]);
        if (!flow || to.x - from.right() < 24) continue;
        for (int r = 0; r < std::min(from.rows, 4) && from.ch >= 30; ++r) {
            const float y = from.y + (px(r) + .5f) * from.ch;
            c.arrow({{from.right() + 6, y}, {to.x - 8, y}}, ArrowStyle::link);
        }
    }
    const Op op = op_now(state);
    const bool normalised =
        state.trace->tiles(Slot::l_hbm) > 0;  // FlashAttention-1: α is but one of the factors
    if (op == Op::row_sum || (op == Op::output && !normalised))
        alpha_curve(c, state, row[Slot::alpha], row[op == Op::row_sum ? Slot::l : Slot::Oi], 74, 30);
}

void sram_row(const Canvas& c, AppState& state, const Rect& a, float edge) {
    const Problem& p = *state.problem;
    const int Bc = std::min(p.Bc, p.N_kv());
    // Where K is read or loaded it gets rows for numbers, and the band moves down: then without a curve.
    const float top = touched_now(state, Slot::Kj) ? 218.0f : 178.0f;
    const PresenterRow row = row_of(state, {a.x, a.y + top, a.w, a.h - top});
    const Bed &S = row[Slot::S], &O = row[Slot::Oi];
    const float base = S.y - 60, room = base - a.y - 18;  // Kᵀ and V stand here, above the symbols
    const float k_ch = std::min(36.0f, room / px(p.d())), v_ch = std::min(36.0f, room / px(Bc));
    Bed K = standing(S, base, k_ch, p.d()), V = standing(O, base, v_ch, Bc);
    K.numbers = touched_now(state, Slot::Kj), V.numbers = touched_now(state, Slot::Vj);
    draw(c, state, Slot::Kj, K, 4);
    draw(c, state, Slot::Vj, V, 4);
    for (Slot slot : row_slots) draw(c, state, slot, row[slot], row.digits[static_cast<std::size_t>(slot)]);
    symbols(c, state, row, K, V);
    flows(c, state, row);
    transfer(c, state, row, K, V, edge, a.y + 4);
}

void mini(const Canvas& c, const AppState& state, Slot slot, const Rect& a) {
    note_part(c, a, std::string("strip ") + info(slot).name);
    c.faded(light_on(state, slot)).rich(a.x, a.y - 26, slot_symbol(slot), size::far_text);
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

void hbm_strip(const Canvas& c, const AppState& state, const Rect& a) {
    const Panel panel(c, "HBM", a);
    strip_head(c, a);
    const float cell = (a.w - 40 - 28) / 2;
    mini(c, state, Slot::K, {a.x + space::far_pad, a.y + 106, cell, 80});
    mini(c, state, Slot::V, {a.x + 48 + cell, a.y + 106, cell, 80});
    mini(c, state, Slot::Q, {a.x + space::far_pad, a.y + 254, cell, 80});
    mini(c, state, Slot::O, {a.x + 48 + cell, a.y + 254, cell - 30, 80});
    mini(c, state, Slot::L, {a.right() - 38, a.y + 254, 18, 80});
    const Line names{symbol("S", Role::S), word("  "), symbol("P", Role::S)};
    const Rect never = strip_foot(c, a, a.y + 358, names, a.x + 126);
    if (never.w > 0) mini_ghost(c, state, never.x, never.y, never.w);
}

}  // namespace

void forward_presenter(const Canvas& c, AppState& state, const Rect& strip, const Rect& body) {
    hbm_strip(c, state, strip);
    note_part(c, {body.x - 8, body.y + 4, body.w + 16, body.h + 4}, "SRAM");
    sram_row(c, state, {body.x + 4, body.y, body.w - 8, body.h}, strip.right());
}

}  // namespace tilewalk::ui

// Presenter mode of the tiled forward lessons: matrices that this step does not use shrink to their colours.
#include "app/ui/chapters/forward/connectors.h"
#include "app/ui/chapters/forward/sram_geometry.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/views.h"
#include "app/ui/shell/presenter.h"
#include "app/ui/shell/timeline.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

constexpr Slot row_slots[] = {Slot::Qi,    Slot::S, Slot::m_tile, Slot::m,
                              Slot::alpha, Slot::P, Slot::l,      Slot::Oi};

struct PresenterRow {
    std::array<Bed, slot_count> beds;
    std::array<int, slot_count> digits{};
    float total = 0;
    const Bed& operator[](Slot slot) const { return beds[static_cast<std::size_t>(slot)]; }
    Bed& operator[](Slot slot) { return beds[static_cast<std::size_t>(slot)]; }
};

// Kᵀ stands on the columns of S and V on those of O: a step that shows their numbers needs wide columns
// below.
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
        const float w = one_column(slot) ? (narrow ? 18.0f : 30.0f)
                                         : std::clamp(block / static_cast<float>(cols), .5f, 30.0f);
        row[slot] = {0, a.y, w, std::min(66.0f, a.h / static_cast<float>(Br)), Br, cols, false};
        row.total += gap_before(slot) + w * static_cast<float>(cols);
    }
    return row;
}

// Gives a matrix cells for numbers of so many digits, if they fit.
void widen(PresenterRow& row, const AppState& state, Slot slot, int digits, float room) {
    Bed& bed = row[slot];
    if (bed.numbers || bed.cols > 8 || bed.ch < 34) return;
    const float w = static_cast<float>(letters(state, slot, digits)) * .602f * 28 + 12,
                more = (w - bed.cw) * static_cast<float>(bed.cols);
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
    look.x = bed.x, look.y = bed.y, look.cw = bed.cw, look.ch = bed.ch;
    look.numbers = bed.numbers && bed.ch >= 34;
    look.digits = std::max(digits, 3);
    look.size = 28;
    look.show_before = false;  // the old value would be too small to read
    const bool rows_missing = look.rows_done < bed.rows;
    if (!rows_missing) look.before = nullptr;
    if (!look.value)
        look.region = {0, 0, look.transposed ? bed.cols : bed.rows, look.transposed ? bed.rows : bed.cols};
    if (look.state == CellState::written)
        beam(c, state, bed.x, bed.y, bed.cw * static_cast<float>(bed.cols),
             bed.ch * static_cast<float>(bed.rows));
    matrix(c.faded(light_on(state, slot)), state, look, "presenter");
}

// The transfer of this step, if it is one.
void transfer(const Canvas& c, const AppState& state, const PresenterRow& row, const Bed& K, const Bed& V,
              float edge, float v_line) {
    const Theme& t = *c.theme;
    const float progress = transition(state);
    const Bed &Q = row[Slot::Qi], &O = row[Slot::Oi];
    switch (state.trace->step(state.cursor.step).op) {
    case Op::load_q: {
        const float y = (Q.y + Q.bottom()) / 2;
        return c.arrow({{edge, y}, {Q.x - 8, y}}, ArrowStyle::active, hue(t, Role::Q), progress);
    }
    case Op::load_kv: {
        const float y = (K.y + K.bottom()) / 2;
        c.arrow({{edge, y}, {K.x - 8, y}}, ArrowStyle::active, hue(t, Role::K), progress);
        return c.arrow({{edge, v_line}, {V.center(), v_line}, {V.center(), V.y - 8}}, ArrowStyle::active,
                       hue(t, Role::V), progress);
    }
    case Op::load_state: {
        const float y = O.bottom() + 34;
        return c.arrow({{edge, y}, {O.center(), y}, {O.center(), O.bottom() + 8}}, ArrowStyle::active,
                       hue(t, Role::O), progress);
    }
    case Op::store:
    case Op::store_state: {
        const float y = O.bottom() + 34;
        return c.arrow({{O.center(), O.bottom() + 8}, {O.center(), y}, {edge, y}}, ArrowStyle::active,
                       hue(t, Role::O), progress);
    }
    default: return;
    }
}

void symbols(const Canvas& c, const AppState& state, const PresenterRow& row, const Bed& K, const Bed& V) {
    for (Slot slot : row_slots) {
        const bool block = slot == Slot::Qi || slot == Slot::Oi;
        c.faded(light_on(state, slot))
            .rich(row[slot].center(), row[slot].y - 30,
                  slot_symbol(slot, block ? block_on_chip(state, slot) : -1), 35, Align::center);
    }
    Line k = slot_symbol(Slot::Kj, block_on_chip(state, Slot::Kj));
    k.push_back({"T", Role::K, Span::Face::symbol, Span::Script::super});
    c.faded(light_on(state, Slot::Kj)).rich(K.right() + 20, (K.y + K.bottom()) / 2, k, 35);
    c.faded(light_on(state, Slot::Vj))
        .rich(V.x - 22, (V.y + V.bottom()) / 2, slot_symbol(Slot::Vj, block_on_chip(state, Slot::Vj)), 35,
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
            const float y = from.y + (static_cast<float>(r) + .5f) * from.ch;
            c.arrow({{from.right() + 6, y}, {to.x - 8, y}}, ArrowStyle::link);
        }
    }
    const Op op = state.trace->step(state.cursor.step).op;
    const bool normalised =
        state.trace->tiles(Slot::l_hbm) > 0;  // FlashAttention-1: α is but one of the factors
    if (op == Op::row_sum || (op == Op::output && !normalised))
        alpha_curve(c, state, row[Slot::alpha], row[op == Op::row_sum ? Slot::l : Slot::Oi], 74, 30);
}

void sram_row(const Canvas& c, AppState& state, const Rect& a, float edge) {
    const Problem& p = *state.problem;
    const int Bc = std::min(p.Bc, p.N_kv());
    // Where K is read or loaded it gets rows for numbers, and the band moves down; no curve runs below it
    // then.
    const float top = touched_now(state, Slot::Kj) ? 218.0f : 178.0f;
    const PresenterRow row = row_of(state, {a.x, a.y + top, a.w, a.h - top});
    const Bed &S = row[Slot::S], &O = row[Slot::Oi];
    const float base = S.y - 60, room = base - a.y - 18;  // Kᵀ and V stand here, above the symbols
    const float k_ch = std::min(36.0f, room / static_cast<float>(p.d())),
                v_ch = std::min(36.0f, room / static_cast<float>(Bc));
    const Bed K{
        S.x, base - k_ch * static_cast<float>(p.d()), S.cw, k_ch, p.d(), Bc, touched_now(state, Slot::Kj)};
    const Bed V{O.x,   base - v_ch * static_cast<float>(Bc), O.cw, v_ch, Bc,
                p.d(), touched_now(state, Slot::Vj)};
    draw(c, state, Slot::Kj, K, 4);
    draw(c, state, Slot::Vj, V, 4);
    for (Slot slot : row_slots) draw(c, state, slot, row[slot], row.digits[static_cast<std::size_t>(slot)]);
    symbols(c, state, row, K, V);
    flows(c, state, row);
    transfer(c, state, row, K, V, edge, a.y + 4);
}

// HBM as letters and tiles only.
void mini(const Canvas& page, const AppState& state, Slot slot, float x, float y, float w, float h) {
    const Canvas c = page.faded(light_on(state, slot));
    const Problem& p = *state.problem;
    const Theme& t = *c.theme;
    const bool query = slot == Slot::Q || slot == Slot::O || slot == Slot::L;
    note_part(c, {x, y, w, h}, std::string("strip ") + info(slot).name);
    const int rows = query ? p.N() : p.N_kv(), block = query ? p.Br : p.Bc;
    const Step& now = state.trace->step(state.cursor.step);
    const int current = query ? now.i : now.j;
    const ImU32 colour = hue(t, info(slot).role);
    c.rich(x, y - 26, slot_symbol(slot), 30);
    const float ch = h / static_cast<float>(rows);
    for (int row = 0, b = 0; row < rows; row += block, ++b) {
        const float Y = y + static_cast<float>(row) * ch,
                    tall = static_cast<float>(std::min(block, rows - row)) * ch;
        const bool there = static_cast<bool>(state.trace->live(slot, b, state.cursor.step));
        c.rect(x + 1, Y + 1, w - 2, std::max(tall - 2, 1.0f),
               !there ? t.well : mix(t.panel, colour, b == current ? .5f : .14f), 4);
        if (!there && tall > 6) c.frame(x + 1, Y + 1, w - 2, tall - 2, t.line, 1, 4);
        if (b == current && there)
            c.frame(x - 2, Y - 1, w + 4, tall + 2, mix(t.panel, colour, .75f), 2.5f, 6);
    }
}

// The N × N scores: tiles used, the one on chip, the rest.
void mini_ghost(const Canvas& c, const AppState& state, float x, float y, float side) {
    const Problem& p = *state.problem;
    const Theme& t = *c.theme;
    const ImU32 colour = hue(t, Role::S);
    const float w = side / static_cast<float>(p.N_kv()), h = side / static_cast<float>(p.N());
    const Step& now = state.trace->step(state.cursor.step);
    for (int k = 0; k < state.trace->size(); ++k) {
        const Step& step = state.trace->step(k);
        if (step.op != Op::scores && step.op != Op::skip) continue;
        const float X = x + static_cast<float>(step.j * p.Bc) * w,
                    Y = y + static_cast<float>(step.i * p.Br) * h;
        const float tw = static_cast<float>(std::min(p.Bc, p.N_kv() - step.j * p.Bc)) * w,
                    th = static_cast<float>(std::min(p.Br, p.N() - step.i * p.Br)) * h;
        const bool current = step.i == now.i && step.j == now.j, used = k < state.cursor.step && !current;
        const bool told = k <= state.cursor.step || !hides_what_comes(state);
        if (step.op == Op::skip && told) {  // no tile at all, rather than one that waits
            c.line({X + 3, Y + th - 3}, {X + tw - 3, Y + 3}, t.t3, 1.5f);
            if (current) c.frame(X, Y, tw, th, t.focus, 2.5f, 5);
            continue;
        }
        if (current && k <= state.cursor.step)
            c.rect(X + 1, Y + 1, tw - 2, th - 2, mix(t.panel, colour, .55f), 3);
        if (used) c.rect(X + 1, Y + 1, tw - 2, th - 2, mix(t.panel, colour, .16f), 3);
        if (used && tw > 12) c.hatch(X + 2, Y + 2, tw - 4, th - 4, mix(t.panel, colour, .4f), 7);
        if (!current && !used && tw > 6) c.frame(X + 1, Y + 1, tw - 2, th - 2, t.line2, 1, 3);
        if (current) c.frame(X, Y, tw, th, colour, 2.5f, 5);
    }
}

void hbm_strip(const Canvas& c, const AppState& state, const Rect& a) {
    begin_panel(c, "HBM", a.x, a.y, a.w, a.h);
    const float w = c.text(a.x + 20, a.y + 32, "HBM", 27, 0, Face::semibold);
    c.text(a.x + 32 + w, a.y + 32, "slow", 27, c.theme->t3);
    const float cell = (a.w - 40 - 28) / 2;
    mini(c, state, Slot::K, a.x + 20, a.y + 106, cell, 80);
    mini(c, state, Slot::V, a.x + 48 + cell, a.y + 106, cell, 80);
    mini(c, state, Slot::Q, a.x + 20, a.y + 254, cell, 80);
    mini(c, state, Slot::O, a.x + 48 + cell, a.y + 254, cell - 30, 80);
    mini(c, state, Slot::L, a.right() - 38, a.y + 254, 18, 80);
    const float y = a.y + 358;
    if (a.bottom() < y + 130) return end_panel(c);  // a card takes the room of the scores
    c.line({a.x + 20, y + .5f}, {a.right() - 20, y + .5f}, c.theme->line);
    const Line names{{"S", Role::S, Span::Face::symbol}, word("  "), {"P", Role::S, Span::Face::symbol}};
    c.rich(a.x + 20, y + 28, names, 30);
    mini_ghost(c, state, a.x + 20, y + 54, std::min(92.0f, a.bottom() - 16 - y - 54));
    c.text(a.x + 126, y + 74, "never", 27, c.theme->t2);
    c.text(a.x + 126, y + 106, "here", 27, c.theme->t2);
    end_panel(c);
}

}  // namespace

void forward_presenter(const Canvas& c, AppState& state, const Rect& strip, const Rect& body) {
    hbm_strip(c, state, strip);
    note_part(c, {body.x - 8, body.y + 4, body.w + 16, body.h + 4}, "SRAM");
    sram_row(c, state, {body.x + 4, body.y, body.w - 8, body.h}, strip.right());
}

}  // namespace tilewalk::ui

// HBM: the whole matrices, which tile of each is in use, and the N × N matrices that never get here.
#include "app/ui/items.h"
#include "app/ui/views/views.h"
#include "app/ui/widgets/matrix.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

enum class TileState { done, current, pending };

// Where the walk stands: the query block, and the key block on chip (−1: none of this query block yet).
struct Position {
    int i = 0, j = -1;
    bool transfer_q = false, transfer_kv = false, transfer_out = false, skipped = false;
};

Position position(const AppState& state) {
    const int k = state.cursor.step;
    const Step& step = state.trace->step(k);
    Position out{step.i, step.j, step.op == Op::load_q, step.op == Op::load_kv, step.op == Op::store};
    if (step.j < 0 && step.op != Op::load_q && step.op != Op::init) out.j = state.problem->Tc();
    out.skipped = step.op == Op::skip;
    return out;
}

// `current` −1 − j: the walk is at tile j, but the tile is skipped and stays where it is.
TileState order(int tile, int current) {
    if (current < -1 || (current == -1 && tile < 0))
        return tile < -1 - current ? TileState::done : TileState::pending;
    return tile < current ? TileState::done : tile == current ? TileState::current : TileState::pending;
}

struct Thumb {
    Slot slot;
    const Matrix* data;  // null: an output, drawn as far as it is stored
    int rows, cols;
    float x, y, cw, ch;
};

void outline(const Canvas& c, const Thumb& t, int first_row, int rows, TileState tile, bool transfer) {
    const bool written = !t.data && transfer;  // the store of an output: this step's white frame
    const Theme& th = *c.theme;
    const ImU32 colour = hue(th, info(t.slot).role);
    const float y = t.y + static_cast<float>(first_row) * t.ch, h = static_cast<float>(rows) * t.ch,
                w = static_cast<float>(t.cols) * t.cw;
    if (tile == TileState::current)
        c.frame(t.x - 2, y - .5f, w + 4, h + 1,
                written    ? th.focus
                : transfer ? colour
                           : mix(th.panel, colour, .62f),
                written ? 2.6f : 2.2f, 5);
    else if (tile == TileState::done)
        c.frame(t.x - 1, y + .5f, w + 2, h - 1, th.line2, 1.2f, 4);
    else
        c.dashed_frame(t.x - 1, y + .5f, w + 2, h - 1, th.t3, 1, {4, 4});
}

// A matrix of hundreds of rows as at most 64 × 64 samples.
void sampled_thumb(const Canvas& c, const AppState& state, const Thumb& t, int block) {
    const int row_step = ceil_div(t.rows, 64), col_step = ceil_div(t.cols, 64);
    const SlotLook& range = state.look[t.slot];
    c.rect(t.x, t.y, static_cast<float>(t.cols) * t.cw, static_cast<float>(t.rows) * t.ch, c.theme->well, 3);
    for (int r = 0; r < t.rows; r += row_step) {
        const Held held = state.trace->live(t.slot, r / block, state.cursor.step);
        for (int q = 0; held && q < t.cols; q += col_step) {
            const float place = range.place(held.value->data(r - held.value->region.row, q));
            const float w = t.cw * static_cast<float>(std::min(col_step, t.cols - q)),
                        h = t.ch * static_cast<float>(std::min(row_step, t.rows - r));
            c.rect(t.x + static_cast<float>(q) * t.cw, t.y + static_cast<float>(r) * t.ch, w, h,
                   mix(c.theme->panel, cividis(range.with_sign() ? place / 2 + .5f : place), .7f));
        }
    }
}

void thumb(const Canvas& c, AppState& state, const Thumb& t, int block, int current, bool transfer) {
    const int blocks = ceil_div(t.rows, block);
    // Outlines of single tiles would be noise when they are thinner than a few pixels.
    const bool outlines = static_cast<float>(std::min(block, t.rows)) * t.ch >= 7;
    c.rich(t.x - 2, t.y - 18, slot_symbol(t.slot), 16);
    const bool sampled = t.rows > 128;
    if (sampled) sampled_thumb(c, state, t, block);
    for (int b = 0; b < blocks && !sampled; ++b) {
        const int row = b * block, rows = std::min(block, t.rows - row);
        const Held held = state.trace->live(t.slot, b, state.cursor.step);
        MatrixLook look;
        look.slot = t.slot;
        look.value = held ? held.value : nullptr;
        look.region = {row, 0, rows, t.cols};
        look.x = t.x, look.y = t.y + static_cast<float>(row) * t.ch, look.cw = t.cw, look.ch = t.ch;
        look.dim = order(b, current) != TileState::current;
        look.bed = false;
        look.size = 13;
        look.digits = 3;
        look.least_digits = 2;
        look.numbers = t.ch >= 15;
        if (!t.data && transfer && b == current)
            c.faded(transition(state))
                .halo(t.x, look.y, static_cast<float>(t.cols) * t.cw, static_cast<float>(rows) * t.ch);
        if (held)
            matrix(c, state, look, ("hbm" + std::to_string(b)).c_str());
        else
            c.rect(t.x, look.y, static_cast<float>(t.cols) * t.cw, static_cast<float>(rows) * t.ch,
                   c.theme->well, 3);
    }
    // An output tile is pending until it is stored; an input tile is current while it is on chip.
    const auto tile_state = [&](int b) {
        if (t.data || (b == current && transfer)) return order(b, current);
        return state.trace->live(t.slot, b, state.cursor.step) ? TileState::done : TileState::pending;
    };
    if (!outlines && (current < 0 || current >= blocks || (!t.data && !transfer))) return;
    if (!outlines)
        return outline(c, t, current * block, std::min(block, t.rows - current * block), TileState::current,
                       transfer);
    for (int pass = 0; pass < 2; ++pass)  // the current tile's outline on top
        for (int b = 0; b < blocks; ++b)
            if ((tile_state(b) == TileState::current) == (pass == 1))
                outline(c, t, b * block, std::min(block, t.rows - b * block), tile_state(b), transfer);
}

// S and P of the whole problem: which tile is on chip now, which were, which are yet to come or skipped.
void ghost(const Canvas& c, const AppState& state, float x, float y, float w, float h) {
    const Problem& p = *state.problem;
    const Trace& trace = *state.trace;
    const Theme& th = *c.theme;
    const ImU32 colour = hue(th, Role::S);
    const float cell = std::min({w / static_cast<float>(p.N_kv()), h / static_cast<float>(p.N()), 30.0f});
    const int k = state.cursor.step;
    const Step& now = trace.step(k);
    const bool dense = static_cast<float>(std::min(p.Bc, p.N_kv())) * cell < 6;
    for (int s = 0; s < trace.size(); ++s) {
        const Step& step = trace.step(s);
        if (step.op != Op::load_kv && step.op != Op::skip) continue;
        const float X = x + static_cast<float>(step.j * p.Bc) * cell,
                    Y = y + static_cast<float>(step.i * p.Br) * cell;
        const float tw = static_cast<float>(std::min(p.Bc, p.N_kv() - step.j * p.Bc)) * cell;
        const float tall = static_cast<float>(std::min(p.Br, p.N() - step.i * p.Br)) * cell;
        const bool current = step.i == now.i && step.j == now.j && s <= k;
        if (step.op == Op::skip) {
            c.frame(X + 1, Y + 1, tw - 2, tall - 2, current ? th.focus : th.line, current ? 2 : 1, 3);
            c.line({X + 2, Y + tall - 2}, {X + tw - 2, Y + 2}, th.t3);
        } else if (current) {
            continue;  // drawn last, on top
        } else if (s < k) {
            c.rect(X + 1, Y + 1, tw - 2, tall - 2, mix(th.panel, colour, .14f), 3);
            if (!dense) c.hatch(X + 1, Y + 1, tw - 2, tall - 2, mix(th.panel, colour, .4f), 7);
            if (!dense) c.frame(X + 1, Y + 1, tw - 2, tall - 2, th.line2, 1, 3);
        } else if (!dense) {
            c.dashed_frame(X + 1, Y + 1, tw - 2, tall - 2, th.t3, 1, {4, 4});
        }
    }
    if (dense)
        c.frame(x, y, cell * static_cast<float>(p.N_kv()), cell * static_cast<float>(p.N()), th.line2, 1, 3);
    if (now.j < 0 || now.op == Op::skip) return;
    const float X = x + static_cast<float>(now.j * p.Bc) * cell,
                Y = y + static_cast<float>(now.i * p.Br) * cell;
    const int rows = std::min(p.Br, p.N() - now.i * p.Br), cols = std::min(p.Bc, p.N_kv() - now.j * p.Bc);
    // Until S is computed the tile is only a place.
    const bool there = now.op != Op::load_kv;
    for (int r = 0; there && r < rows && cell >= 5; ++r)
        for (int q = 0; q < cols; ++q)
            c.rect(X + static_cast<float>(q) * cell + 1, Y + static_cast<float>(r) * cell + 1, cell - 2,
                   cell - 2, mix(th.panel, colour, .5f), 3);
    const float tw = static_cast<float>(cols) * cell, tall = static_cast<float>(rows) * cell;
    if (there && cell < 5) c.rect(X, Y, tw, tall, mix(th.panel, colour, .5f), 2);
    c.frame(X - 1, Y - 1, tw + 2, tall + 2, colour, 2.4f, 5);
}

void ghost_legend(const Canvas& c, const AppState& state, float x, float y, float w) {
    const Theme& th = *c.theme;
    const ImU32 colour = hue(th, Role::S);
    const bool skips = state.problem->causal || state.problem->window;
    const char* labels[] = {"used", "in SRAM now", "not reached", "masked"};
    for (int n = 0; n < (skips ? 4 : 3); ++n) {
        const float Y = y + static_cast<float>(n) * 21;
        if (n == 0) {
            c.rect(x, Y - 7, 14, 14, mix(th.panel, colour, .14f), 3);
            c.hatch(x + 1, Y - 6, 12, 12, mix(th.panel, colour, .4f), 5);
            c.frame(x, Y - 7, 14, 14, th.line2, 1.2f, 3);
        } else if (n == 1) {
            c.rect(x, Y - 7, 14, 14, mix(th.panel, colour, .5f), 3);
            c.frame(x, Y - 7, 14, 14, colour, 2.2f, 3);
        } else if (n == 2) {
            c.dashed_frame(x, Y - 7, 14, 14, th.t3, 1, {3, 3});
        } else {
            c.frame(x, Y - 7, 14, 14, th.line2, 1, 3);
            c.line({x + 1, Y + 6}, {x + 13, Y - 6}, th.t3);
        }
        c.text_within(x + 21, Y, w - 21, labels[n], 13, th.t2);
    }
}

void ghost_section(const Canvas& c, const AppState& state, const Rect& a, float y) {
    c.line({a.x + 16, y + .5f}, {a.right() - 16, y + .5f}, c.theme->line);
    const Line title{{"S", Role::S, Span::Face::symbol},
                     word(" and "),
                     {"P", Role::S, Span::Face::symbol},
                     word(a.w < 220 ? " stay on chip" : " never reach HBM")};
    c.rich(a.x + 16, y + 26, title, 15, Align::left, c.theme->t1);
    const float top = y + 46, room = a.bottom() - 14 - top;
    const bool caption = room > 165;
    const float side = std::min({room - (caption ? 48.0f : 0.0f), (a.w - 32) * .48f, 124.0f});
    ghost(c, state, a.x + 16, top, side, side);
    const float lx = a.x + 16 + side + 16;
    if (side >= 80) ghost_legend(c, state, lx, top + 9, a.right() - 12 - lx);
    if (caption)
        c.paragraph(a.x + 16, top + side + 12, a.w - 32, "HBM keeps only O and one number per query row, L.",
                    13, c.theme->t3, 2);
}

}  // namespace

void hbm_view(const Canvas& c, AppState& state, const Rect& a) {
    begin_panel(c, "HBM", a.x, a.y, a.w, a.h, "HBM", "slow, big");
    const Problem& p = *state.problem;
    const Position at = position(state);
    const float inner = a.w - 32, left = a.x + 16;
    const float lower = a.h < 460 ? 132.0f : a.h < 560 ? 158.0f : 232.0f;  // the ghost section
    const float zone = std::clamp((a.h - lower - 40 - 30 - 38 - 12) / 2, 40.0f, 150.0f);

    const auto d = static_cast<float>(p.d());
    const float most = a.w > 320 ? 36.0f : a.w > 280 ? 30.0f : 26.0f;  // the largest cell
    const float kw = std::min(most, (inner - 18) / 2 / d),
                kh = std::min(most, zone / static_cast<float>(p.N_kv()));
    const float y1 = a.y + (a.h > 560 ? 82 : 72);
    thumb(c, state, {Slot::K, &p.K, p.N_kv(), p.d(), left, y1, kw, kh}, p.Bc, at.skipped ? -1 - at.j : at.j,
          at.transfer_kv);
    thumb(c, state, {Slot::V, &p.V, p.N_kv(), p.d(), left + d * kw + 18, y1, kw, kh}, p.Bc, at.j,
          at.transfer_kv);

    // O shows results with more digits than Q has, so Q gets what its numbers need and O the rest.
    const float lw = a.w > 230 ? 34.0f : 26.0f, share = (inner - 24 - lw) / 2 / d;
    const float need = static_cast<float>(state.look[Slot::Q].letters_with(3)) * .602f * 13 + 5;
    const float qw = std::min({most, share, std::max(18.0f, need)}),
                ow = std::min(34.0f, (inner - 24 - lw) / d - qw);
    const float qh = std::min(most, zone / static_cast<float>(p.N()));
    const float y2 = y1 + std::min(zone, kh * static_cast<float>(p.N_kv())) + (a.h > 560 ? 54.0f : 42.0f);
    const float x_O = left + d * qw + 12, x_L = x_O + d * ow + 12;
    thumb(c, state, {Slot::Q, &p.Q, p.N(), p.d(), left, y2, qw, qh}, p.Br, at.i, at.transfer_q);
    thumb(c, state, {Slot::O, nullptr, p.N(), p.d(), x_O, y2, ow, qh}, p.Br, at.i, at.transfer_out);
    thumb(c, state, {Slot::L, nullptr, p.N(), 1, x_L, y2, lw, qh}, p.Br, at.i, at.transfer_out);
    ghost_section(c, state, a,
                  std::max(y2 + std::min(zone, qh * static_cast<float>(p.N())) + 20, a.bottom() - lower));
    end_panel(c);
}

}  // namespace tilewalk::ui

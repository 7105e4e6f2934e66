#include "app/ui/chapters/forward/connectors.h"

#include "app/ui/parts/slot_view.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <span>

namespace tilewalk::ui {

namespace {

// ---- Transfers between HBM and SRAM

struct Transfer {
    int step = -1;           // when it happens or happened
    std::int64_t bytes = 0;  // of this slot alone
};

std::int64_t bytes_of(const Trace& trace, Slot slot, int k) {
    for (const Access& a : trace.writes(k))
        if (a.slot == slot)
            return std::int64_t{trace.value(a.value).data.size()} *
                   (info(slot).counts_elements ? trace.problem().element_bytes : 4);
    return 0;
}

// The load of the block on chip, or the next one if that block is used up or not there yet.
Transfer load_of(const AppState& state, Slot slot, Op op) {
    const Trace& trace = *state.trace;
    const int k = state.cursor.step;
    const Held held = trace.live(slot, k);
    if (held && slot_look(state, slot).state != CellState::discarded)
        return {held.step, bytes_of(trace, slot, held.step)};
    for (int n = k + 1; n < trace.size(); ++n)
        if (trace.step(n).op == op) return {n, bytes_of(trace, slot, n)};
    if (held) return {held.step, bytes_of(trace, slot, held.step)};
    return {};
}

// What leaves the accumulator next, or (FlashAttention-1) comes back to it: O with L, or with m and ℓ.
Transfer state_transfer(const AppState& state) {
    const Trace& trace = *state.trace;
    for (int n = state.cursor.step; n < trace.size(); ++n) {
        const Op op = trace.step(n).op;
        if (op != Op::store && op != Op::store_state && op != Op::load_state) continue;
        const Traffic now = trace.step(n).traffic, before = n > 0 ? trace.step(n - 1).traffic : Traffic{};
        return {n, now.hbm_read - before.hbm_read + now.hbm_write - before.hbm_write};
    }
    return {};
}

// "O₀ L₀" or "O₀ m ℓ"
Line state_symbols(const Trace& trace, int k) {
    Line out = slot_symbol(Slot::Oi, trace.step(k).i);
    const bool one = trace.step(k).op == Op::store;
    const Line more[] = {slot_symbol(one ? Slot::L : Slot::m_hbm, one ? trace.step(k).i : -1),
                         slot_symbol(Slot::l_hbm)};
    for (const Line& line : std::span(more).first(one ? 1 : 2)) {
        out.push_back(word(" "));
        out.insert(out.end(), line.begin(), line.end());
    }
    return out;
}

std::string note(const AppState& state, Transfer t) {
    const bool future = t.step > state.cursor.step;
    return format_traffic(t.bytes) + (future ? ", at step " : ", step ") + std::to_string(t.step + 1);
}

// Where room is short. What is to come is no longer what lies in the tile: when counts more than how much.
std::string brief_note(const AppState& state, Transfer t) {
    return t.step > state.cursor.step ? "step " + std::to_string(t.step + 1) : format_traffic(t.bytes);
}

void flow(const Canvas& c, const AppState& state, std::initializer_list<Point> points, Transfer t,
          ImU32 colour) {
    const bool now = t.step == state.cursor.step;
    const ArrowStyle style = now                          ? ArrowStyle::active
                             : t.step > state.cursor.step ? ArrowStyle::future
                                                          : ArrowStyle::idle;
    c.arrow(points, style, now ? colour : 0, now ? transition(state) : 1);
}

}  // namespace

void transfers(const Canvas& c, const AppState& state, const SramGeometry& g, const Rect& panel) {
    const Theme& th = *c.theme;
    const Bed &K = g[Slot::Kj], &V = g[Slot::Vj], &Q = g[Slot::Qi], &O = g[Slot::Oi];
    const float edge = panel.x - 12, chip_x = panel.x + 30;

    const Transfer k = load_of(state, Slot::Kj, Op::load_kv), v = load_of(state, Slot::Vj, Op::load_kv);
    if (v.step >= 0) {
        flow(c, state, {{edge, g.v_line}, {V.center(), g.v_line}, {V.center(), V.y - 7}}, v,
             hue(th, Role::V));
        const bool brief = chip_x + chip_width(c, slot_symbol(Slot::Kj, 0), note(state, v)) >= K.x - 16;
        c.chip(chip_x, g.v_line, slot_symbol(Slot::Vj, state.trace->step(v.step).j),
               brief ? brief_note(state, v) : note(state, v));
    }
    const float k_y = std::max((K.y + K.bottom()) / 2, g.v_line + 32);
    if (k.step >= 0) {
        flow(c, state, {{edge, k_y}, {K.x - 8, k_y}}, k, hue(th, Role::K));
        const Line symbol = slot_symbol(Slot::Kj, state.trace->step(k.step).j);
        // Shorter before not at all.
        for (const std::string& words : {note(state, k), brief_note(state, k)})
            if (chip_x + chip_width(c, symbol, words) < K.x - 16) {
                c.chip(chip_x, k_y, symbol, words);
                break;
            }
    }
    const Transfer q = load_of(state, Slot::Qi, Op::load_q);
    if (q.step >= 0) {
        // Between two row names, or above the first one
        const float y = Q.rows % 2 == 0 ? (Q.y + Q.bottom()) / 2 : Q.y + std::min(8.0f, Q.ch / 6);
        flow(c, state, {{edge, y}, {Q.x - 6, y}}, q, hue(th, Role::Q));
    }
    const Transfer o = state_transfer(state);
    if (o.step >= 0) {
        const Point at_O{O.center(), O.bottom() + 6}, corner{O.center(), g.out_line}, hbm{edge, g.out_line};
        if (state.trace->step(o.step).op == Op::load_state)
            flow(c, state, {hbm, corner, at_O}, o, hue(th, Role::O));
        else
            flow(c, state, {at_O, corner, hbm}, o, hue(th, Role::O));
        c.chip(chip_x, g.out_line, state_symbols(*state.trace, o.step), note(state, o));
    }
}

namespace {

// ---- Dependences inside SRAM

int rows_now(const AppState& state) {
    const auto writes = state.trace->writes(state.cursor.step);
    return writes.empty() ? 0 : state.trace->value(writes.front().value).region.rows;
}

// One arrow per query row; for many rows one stands for all.
void row_arrows(const Canvas& c, const AppState& state, const Bed& from, const Bed& to,
                const char* sign = nullptr) {
    const int rows = rows_now(state);
    const bool each = rows <= 8 && from.ch >= 14;
    for (int r = 0; r < (each ? rows : 1); ++r) {
        const float y =
            each ? from.y + (static_cast<float>(r) + .5f) * from.ch : (from.y + from.bottom()) / 2;
        c.arrow({{from.right() + 5, y}, {to.x - 7, y}}, ArrowStyle::link);
    }
    const float y = from.y + static_cast<float>(rows) * from.ch / 2;
    if (sign && each && rows % 2 == 0 && to.x - from.right() > 26)
        c.text((from.right() + to.x) / 2 - 1, y, sign, 15, 0, Face::semibold, Align::center);
}

// A curve below the band, with a label in a gap of the line. `size` is that of the label.
void curve_below(const Canvas& c, const Bed& from, const Bed& to, Role role, const std::string& label,
                 float size, float room) {
    const ImU32 colour = hue(*c.theme, role);
    const float k = size / 14, bend = std::min(20 + 17 * k, room - 6 - 7 * k);
    const float y = from.bottom() + 6, x1 = from.center(), x2 = to.center();
    c.bezier_arrow({x1, y}, {x1 + (x2 - x1) * .08f, y + bend}, {x2 - (x2 - x1) * .2f, y + bend},
                   {x2 - 2, y + 4}, colour, k > 1 ? 3.0f : 2.0f, k > 1 ? 13.0f : 9.0f);
    const float w = text_width(Face::semibold, size, label) + 14 * k, mid = x1 + (x2 - x1) * .45f,
                text_y = y + bend * .73f;
    c.rect(mid - w / 2, text_y - 10 * k, w, 20 * k, k > 1 ? presenter_page(*c.theme) : c.theme->panel, 10);
    c.text(mid, text_y, label, size, colour, Face::semibold, Align::center);
}

void down_arrow(const Canvas& c, const Bed& from, const Bed& to) {
    c.arrow({{from.center(), from.bottom() + 6}, {from.center(), to.y - 8}}, ArrowStyle::link);
}

// α of the chosen row, or only its name when the rows differ.
std::string alpha_label(const AppState& state) {
    const Held held = state.trace->live(Slot::alpha, state.cursor.step);
    const Matrix& a = held.value->data;
    const bool same = (a.array() == a(0, 0)).all();
    return same ? "× " + format_short(a(0, 0)) : "× α";
}

}  // namespace

void alpha_curve(const Canvas& c, const AppState& state, const Bed& alpha, const Bed& target, float room,
                 float size) {
    curve_below(c, alpha, target, Role::alpha, alpha_label(state), size, room);
}

void connectors(const Canvas& c, const AppState& state, const SramGeometry& g) {
    switch (state.trace->step(state.cursor.step).op) {
    case Op::scores:
        row_arrows(c, state, g[Slot::Qi], g[Slot::S]);
        return down_arrow(c, g[Slot::Kj], g[Slot::S]);
    case Op::tile_max: return row_arrows(c, state, g[Slot::S], g[Slot::m_tile]);
    case Op::new_max: return row_arrows(c, state, g[Slot::m_tile], g[Slot::m]);
    case Op::correction: return row_arrows(c, state, g[Slot::m], g[Slot::alpha]);
    case Op::exponentials:
        return curve_below(c, g[Slot::S], g[Slot::P], Role::S, "exp(S − m)", 14,
                           g.out_line - g[Slot::S].bottom());
    case Op::row_sum:
        row_arrows(c, state, g[Slot::P], g[Slot::l], "Σ");
        return alpha_curve(c, state, g[Slot::alpha], g[Slot::l], g.out_line - g[Slot::l].bottom());
    case Op::output:
        down_arrow(c, g[Slot::Vj], g[Slot::Oi]);
        // FlashAttention-1 divides in every tile; α is but one of its factors.
        if (state.trace->tiles(Slot::l_hbm) > 0) return row_arrows(c, state, g[Slot::l], g[Slot::Oi], "÷");
        return alpha_curve(c, state, g[Slot::alpha], g[Slot::Oi], g.out_line - g[Slot::Oi].bottom());
    case Op::normalize: return row_arrows(c, state, g[Slot::l], g[Slot::Oi], "÷");
    default: return;
    }
}

}  // namespace tilewalk::ui

#include "app/ui/chapters/forward/connectors.h"

#include "app/ui/parts/slot_view.h"
#include "core/base/beside_matrix.h"
#include "core/walk/traffic.h"

#include <algorithm>

namespace tilewalk::ui {

Bed as_drawn(const AppState& state, Slot slot, Bed bed) {
    if (const Held held = state.trace->live(slot, state.cursor.step))
        bed.rows = std::min(bed.rows, held.value->region.rows);
    return bed;
}

// ---- Transfers between HBM and SRAM

Transfer load_of(const AppState& state, Slot slot, CellState now) {
    const Trace& trace = *state.trace;
    const int each = info(slot).counts_elements ? trace.problem().element_bytes : 4;
    const auto at = [&](int k) {
        return Transfer{k, std::int64_t{trace.live(slot, k).value->data.size()} * each};
    };
    const Held held = trace.live(slot, state.cursor.step);
    if (held && now != CellState::discarded) return at(held.step);
    for (int k = state.cursor.step + 1; k < trace.size(); ++k)
        if (value_in(trace, trace.writes(k), slot)) return at(k);
    return held ? at(held.step) : Transfer{};
}

Transfer all_of(const Trace& trace, int k) { return {k, moved_by(trace, k)}; }

std::string note(const AppState& state, Transfer t) {
    const bool future = t.step > state.cursor.step;
    return format_size(t.bytes) + (future ? ", at step " : ", step ") + str(t.step + 1);
}

void flow(const Canvas& c, const AppState& state, std::initializer_list<Point> points, int step, Role role) {
    if (step == state.cursor.step)
        return c.arrow(points, ArrowStyle::active, hue(*c.theme, role), transition(state));
    c.arrow(points, step > state.cursor.step ? ArrowStyle::future : ArrowStyle::idle);
}

void query_flow(const Canvas& c, const AppState& state, const Bed& Q, float edge, Transfer q) {
    if (q.step < 0) return;
    // Between two row names, or above the first one
    const float y = Q.rows % 2 == 0 ? Q.middle() : Q.y + std::min(8.0f, Q.ch / 6);
    flow(c, state, {{edge, y}, {Q.x - 6, y}}, q.step, Role::Q);
}

void chip_before(const Canvas& c, Point at, const Line& symbol, std::initializer_list<std::string> notes,
                 float right) {
    for (const std::string& words : notes)
        if (at.x + chip_width(c, symbol, words) < right) return void(c.chip(at.x, at.y, symbol, words));
}

namespace {

// What leaves the accumulator next, or (FlashAttention-1) comes back to it: O with L, or with m and ℓ.
Transfer state_transfer(const AppState& state) {
    const Trace& trace = *state.trace;
    for (int n = state.cursor.step; n < trace.size(); ++n) {
        const Op op = trace.step(n).op;
        if (op == Op::store || op == Op::store_state || op == Op::load_state) return all_of(trace, n);
    }
    return {};
}

// "O₀ L₀" or "O₀ m ℓ"
Line state_symbols(const Trace& trace, int k) {
    const Line O = slot_symbol(Slot::Oi, trace.step(k).i);
    if (trace.step(k).op == Op::store) return pieces(O, " ", slot_symbol(Slot::L, trace.step(k).i));
    return pieces(O, " ", slot_symbol(Slot::m_hbm), " ", slot_symbol(Slot::l_hbm));
}

// Where room is short. What is to come is no longer what lies in the tile: when counts more than how much.
std::string brief_note(const AppState& state, Transfer t) {
    return t.step > state.cursor.step ? "step " + str(t.step + 1) : format_size(t.bytes);
}

}  // namespace

void transfers(const Canvas& c, const AppState& state, const SramGeometry& g, const Rect& panel) {
    const Bed &K = g[Slot::Kj], &V = g[Slot::Vj], O = as_drawn(state, Slot::Oi, g[Slot::Oi]);
    const float edge = panel.x - space::margin, chip_x = panel.x + 30;
    const auto load = [&](Slot slot) { return load_of(state, slot, slot_look(state, slot).state); };

    const Transfer k = load(Slot::Kj), v = load(Slot::Vj);
    if (v.step >= 0) {
        flow(c, state, {{edge, g.v_line}, {V.center(), g.v_line}, {V.center(), V.y - 7}}, v.step, Role::V);
        const bool brief = chip_x + chip_width(c, slot_symbol(Slot::Kj, 0), note(state, v)) >= K.x - 16;
        c.chip(chip_x, g.v_line, slot_symbol(Slot::Vj, state.trace->step(v.step).j),
               brief ? brief_note(state, v) : note(state, v));
    }
    if (k.step >= 0) {
        const float y = std::max(K.middle(), g.v_line + 32);
        flow(c, state, {{edge, y}, {K.x - 8, y}}, k.step, Role::K);
        chip_before(c, {chip_x, y}, slot_symbol(Slot::Kj, state.trace->step(k.step).j),
                    {note(state, k), brief_note(state, k)}, K.x - 16);
    }
    query_flow(c, state, g[Slot::Qi], edge, load(Slot::Qi));
    const Transfer o = state_transfer(state);
    if (o.step < 0) return;
    const Point at_O{O.center(), O.bottom() + 6}, corner{O.center(), g.out_line}, hbm{edge, g.out_line};
    const bool in = state.trace->step(o.step).op == Op::load_state;
    flow(c, state, {in ? hbm : at_O, corner, in ? at_O : hbm}, o.step, Role::O);
    c.chip(chip_x, g.out_line, state_symbols(*state.trace, o.step), note(state, o));
}

// ---- Dependences inside SRAM

void row_arrows(const Canvas& c, const AppState& state, const Bed& from, const Bed& to, const char* sign) {
    const auto writes = state.trace->writes(state.cursor.step);
    const int rows = writes.empty() ? 0 : state.trace->value(writes.front().value).region.rows;
    const bool each = rows <= 8 && from.ch >= 14, right = from.x < to.x;
    const float x1 = right ? from.right() + 5 : from.x - 5, x2 = right ? to.x - 7 : to.right() + 7;
    for (int r = 0; r < (each ? rows : 1); ++r) {
        const float y = each ? from.y + (px(r) + .5f) * from.ch : from.middle();
        c.arrow({{x1, y}, {x2, y}}, ArrowStyle::link);
    }
    if (sign && each && rows % 2 == 0 && to.x - from.right() > 26)
        c.text((from.right() + to.x) / 2 - 1, from.y + px(rows) * from.ch / 2, sign, size::lead, 0,
               Face::semibold, Align::center);
}

void down_arrow(const Canvas& c, const Bed& from, const Bed& to, const Line& label) {
    // Beside the symbol, where the matrix is so narrow that it stands in the middle.
    const float beside = label.empty() ? 0 : to.x - 3 + rich_width(c, label, size::symbol) + 9,
                x = std::max(from.center(), std::min(beside, to.right() - 4));
    c.arrow({{x, from.bottom() + 6}, {x, to.y - 8}}, ArrowStyle::link);
}

void slot_label(const Canvas& c, const AppState& state, Slot slot, Point at, const Line& symbol,
                std::string_view words, float right) {
    const bool active = touched_now(state, slot);
    const float x = at.x + c.rich(at.x, at.y, symbol, size::symbol) + 7;
    if (text_width(Face::regular, size::small, words) <= right - x)
        c.text(x, at.y + 1, words, size::small, active ? c.theme->t1 : c.theme->t3,
               active ? Face::medium : Face::regular);
}

void transposed_label(const Canvas& c, const Bed& bed, const Line& symbol) {
    c.rich(bed.right() + 10, std::min(bed.y + 12, bed.bottom() - 6), transposed(symbol), size::formula);
}

void row_name(const Canvas& c, const Problem& p, float x, float y, const char* letter, int row,
              ImU32 colour) {
    const std::string said = *letter == 'q' ? p.query_token(row) : p.key_token(row);
    if (!said.empty()) {
        constexpr float room = 44, letters = 26;  // the word ends where the letter would
        c.text_within(x + letters, y, room, said, size::small, colour, Face::regular, Align::right);
        return;
    }
    c.text(x, y, letter + str(row), size::small, colour);
}

namespace {

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
    c.rect(mid - w / 2, text_y - 10 * k, w, 20 * k, k > 1 ? presenter_page(*c.theme) : c.theme->panel,
           radius::panel);
    c.text(mid, text_y, label, size, colour, Face::semibold, Align::center);
}

// α of the chosen row, with the digits that it has in the formula, or only its name when the rows differ.
std::string alpha_label(const AppState& state) {
    const Held held = state.trace->live(Slot::alpha, state.cursor.step);
    const Matrix& a = held.value->data;
    if (!(a.array() == a(0, 0)).all()) return "× α";
    for (const Span& span : state.explanation.numbers)
        if (span.role == Role::alpha && a(0, 0) > 0 && a(0, 0) < 1) return "× " + span.text;
    return "× " + text_alone(state.trace->digits(Slot::alpha), a(0, 0));
}

}  // namespace

void alpha_curve(const Canvas& c, const AppState& state, const Bed& alpha, const Bed& target, float room,
                 float size) {
    const Bed drawn = as_drawn(state, Slot::alpha, alpha);
    curve_below(c, drawn, target, Role::alpha, alpha_label(state), size,
                room + alpha.bottom() - drawn.bottom());
}

void connectors(const Canvas& c, const AppState& state, const SramGeometry& g) {
    switch (op_now(state)) {
    case Op::scores:
        row_arrows(c, state, g[Slot::Qi], g[Slot::S]);
        return down_arrow(c, g[Slot::Kj], g[Slot::S]);
    case Op::tile_max: return row_arrows(c, state, g[Slot::S], g[Slot::m_tile]);
    case Op::new_max: return row_arrows(c, state, g[Slot::m_tile], g[Slot::m]);
    case Op::correction: return row_arrows(c, state, g[Slot::m], g[Slot::alpha]);
    case Op::exponentials: {
        const Bed S = as_drawn(state, Slot::S, g[Slot::S]);
        return curve_below(c, S, g[Slot::P], Role::S, "exp(S − m)", 14, g.out_line - S.bottom());
    }
    case Op::row_sum:
        row_arrows(c, state, g[Slot::P], g[Slot::l], "Σ");
        return alpha_curve(c, state, g[Slot::alpha], g[Slot::l], g.out_line - g[Slot::l].bottom());
    case Op::output:
        down_arrow(c, g[Slot::Vj], g[Slot::Oi], slot_symbol(Slot::Oi, block_on_chip(state, Slot::Oi)));
        // FlashAttention-1 divides in every tile; α is but one of its factors.
        if (state.trace->tiles(Slot::l_hbm) > 0) return row_arrows(c, state, g[Slot::l], g[Slot::Oi], "÷");
        return alpha_curve(c, state, g[Slot::alpha], g[Slot::Oi], g.out_line - g[Slot::Oi].bottom());
    case Op::normalize: return row_arrows(c, state, g[Slot::l], g[Slot::Oi], "÷");
    default: return;
    }
}

}  // namespace tilewalk::ui

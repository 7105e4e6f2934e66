// Presenter mode: the step for the back row. Nothing under 27 px on a page of 1280 × 720; matrices that this
// step does not use shrink to their colours.
#include "app/ui/items.h"
#include "app/ui/state.h"
#include "app/ui/views/connectors.h"
#include "app/ui/views/slot_view.h"
#include "app/ui/views/sram_geometry.h"
#include "app/ui/views/timeline.h"
#include "app/ui/views/views.h"
#include "app/ui/widgets/matrix.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

constexpr Slot row_slots[] = {Slot::Qi,    Slot::S, Slot::m_tile, Slot::m,
                              Slot::alpha, Slot::P, Slot::l,      Slot::Oi};

struct PresenterRow {
    std::array<Bed, slot_count> beds;
    int digits = 4;
    const Bed& operator[](Slot slot) const { return beds[static_cast<std::size_t>(slot)]; }
    Bed& operator[](Slot slot) { return beds[static_cast<std::size_t>(slot)]; }
};

float letters_width(const AppState& state, Slot slot, int digits) {
    return static_cast<float>(std::max(2, state.look[slot].letters_with(digits))) * .602f * 28 + 14;
}

// Touched matrices get room for numbers as far as the row has it; the others are narrow strips of colour.
PresenterRow row_with(const AppState& state, const Rect& a, int digits) {
    const Problem& p = *state.problem;
    const int Br = std::min(p.Br, p.N()), Bc = std::min(p.Bc, p.N_kv());
    const float ch = std::min(66.0f, a.h / static_cast<float>(Br));
    PresenterRow row;
    row.digits = digits;
    float total = 0;
    const auto narrow = [&](Slot slot, int cols) {
        return one_column(slot) ? 30.0f
                                : std::clamp((slot == Slot::S || slot == Slot::P ? 64.0f : 112.0f) /
                                                 static_cast<float>(cols),
                                             1.0f, 30.0f);
    };
    const auto gap = [&](Slot slot) { return slot == Slot::Qi ? 0.0f : one_column(slot) ? 26.0f : 32.0f; };
    for (Slot slot : row_slots) {
        const int cols = slot == Slot::Qi || slot == Slot::Oi ? p.d()
                         : slot == Slot::S || slot == Slot::P ? Bc
                                                              : 1;
        row[slot] = {0, a.y, narrow(slot, cols), ch, Br, cols, false};
        total += gap(slot) + row[slot].cw * static_cast<float>(cols);
    }
    // Written first, then what it was made from, the columns before the blocks.
    const auto widen = [&](Slot slot) {
        Bed& bed = row[slot];
        const float w = letters_width(state, slot, digits),
                    more = (w - bed.cw) * static_cast<float>(bed.cols);
        if (bed.numbers || bed.cols > 8 || ch < 34 || total + more > a.w) return;
        bed.cw = w;
        bed.numbers = true;
        total += more;
    };
    for (Slot slot : row_slots)
        if (written_now(state, slot)) widen(slot);
    for (Slot slot : row_slots)
        if (touched_now(state, slot) && one_column(slot)) widen(slot);
    for (Slot slot : row_slots)
        if (touched_now(state, slot)) widen(slot);
    const float spare = std::clamp((a.w - total) / 8, 0.0f, 24.0f);
    float x = a.x;
    for (Slot slot : row_slots) {
        x += gap(slot) + (slot == Slot::Qi ? 0 : spare);
        row[slot].x = x;
        x = row[slot].right();
    }
    return row;
}

// Four digits if everything that this step touches gets its numbers so; otherwise three.
PresenterRow row_of(const AppState& state, const Rect& a) {
    const PresenterRow row = row_with(state, a, 4);
    for (Slot slot : row_slots)
        if (touched_now(state, slot) && !row[slot].numbers) return row_with(state, a, 3);
    return row;
}

void draw(const Canvas& c, AppState& state, Slot slot, const Bed& bed, int digits) {
    MatrixLook look = slot_look(state, slot);
    look.transposed = slot == Slot::Kj;
    look.x = bed.x, look.y = bed.y, look.cw = bed.cw, look.ch = bed.ch;
    look.numbers = bed.numbers;
    look.digits = digits;
    look.size = 28;
    look.before = bed.numbers ? nullptr : look.before;  // the old value would be too small to read
    if (look.rows_done < std::numeric_limits<int>::max() && look.rows_done < bed.rows)
        look.before = slot_look(state, slot).before;
    if (!look.value)
        look.region = {0, 0, look.transposed ? bed.cols : bed.rows, look.transposed ? bed.rows : bed.cols};
    matrix(c, state, look, "presenter");
}

void sram_row(const Canvas& c, AppState& state, const Rect& a) {
    const PresenterRow row = row_of(state, {a.x, a.y + 178, a.w, a.h - 178});
    const Problem& p = *state.problem;
    const int Bc = std::min(p.Bc, p.N_kv());
    const Bed &S = row[Slot::S], &O = row[Slot::Oi];
    const float base = S.y - 60;  // Kᵀ and V stand here, above the symbols
    const float k_ch = std::min(26.0f, 112.0f / static_cast<float>(p.d())),
                v_ch = std::min(26.0f, 84.0f / static_cast<float>(Bc));
    const Bed K{S.x, base - k_ch * static_cast<float>(p.d()), S.cw, k_ch, p.d(), Bc, false};
    const Bed V{O.x, base - v_ch * static_cast<float>(Bc), O.cw, v_ch, Bc, p.d(), false};
    draw(c, state, Slot::Kj, K, 3);
    draw(c, state, Slot::Vj, V, 3);
    for (Slot slot : row_slots) draw(c, state, slot, row[slot], row.digits);
    for (Slot slot : row_slots) {
        const bool block = slot == Slot::Qi || slot == Slot::Oi;
        const Line symbol = slot_symbol(slot, block ? block_on_chip(state, slot) : -1);
        c.rich(row[slot].center(), S.y - 30, symbol, 35, Align::center);
    }
    Line k = slot_symbol(Slot::Kj, block_on_chip(state, Slot::Kj));
    k.push_back({"T", Role::K, Span::Face::symbol, Span::Script::super});
    c.rich(K.right() + 12, (K.y + K.bottom()) / 2, k, 35);
    c.rich(V.x - 14, (V.y + V.bottom()) / 2, slot_symbol(Slot::Vj, block_on_chip(state, Slot::Vj)), 35,
           Align::right);
    // From what is read to what is written, where they are neighbours
    for (std::size_t n = 0; n + 1 < std::size(row_slots); ++n) {
        const Bed &from = row[row_slots[n]], &to = row[row_slots[n + 1]];
        const bool flows = touched_now(state, row_slots[n]) && !written_now(state, row_slots[n]) &&
                           written_now(state, row_slots[n + 1]);
        if (!flows || to.x - from.right() < 24) continue;
        for (int r = 0; r < std::min(from.rows, 4) && from.ch >= 30; ++r) {
            const float y = from.y + (static_cast<float>(r) + .5f) * from.ch;
            c.arrow({{from.right() + 6, y}, {to.x - 8, y}}, ArrowStyle::link);
        }
    }
    const Op op = state.trace->step(state.cursor.step).op;
    if (op == Op::row_sum || op == Op::output)
        alpha_curve(c, state, row[Slot::alpha], row[op == Op::row_sum ? Slot::l : Slot::Oi], 74, 30);
}

// HBM as letters and tiles only.
void mini(const Canvas& c, const AppState& state, Slot slot, float x, float y, float w, float h) {
    const Problem& p = *state.problem;
    const Theme& t = *c.theme;
    const bool query = slot == Slot::Q || slot == Slot::O;
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

void hbm_strip(const Canvas& c, const AppState& state, const Rect& a) {
    begin_panel(c, "HBM", a.x, a.y, a.w, a.h);
    const float w = c.text(a.x + 20, a.y + 32, "HBM", 27, 0, Face::semibold);
    c.text(a.x + 32 + w, a.y + 32, "slow", 27, c.theme->t3);
    const float cell = (a.w - 40 - 28) / 2;
    mini(c, state, Slot::K, a.x + 20, a.y + 106, cell, 80);
    mini(c, state, Slot::V, a.x + 48 + cell, a.y + 106, cell, 80);
    mini(c, state, Slot::Q, a.x + 20, a.y + 254, cell, 80);
    mini(c, state, Slot::O, a.x + 48 + cell, a.y + 254, cell, 80);
    const float y = a.y + 358;
    c.line({a.x + 20, y + .5f}, {a.right() - 20, y + .5f}, c.theme->line);
    const Line names{{"S", Role::S, Span::Face::symbol}, word("  "), {"P", Role::S, Span::Face::symbol}};
    c.rich(a.x + 20, y + 28, names, 30);
    c.paragraph(a.x + 20, y + 52, a.w - 40, "are N × N: never stored here", 27, c.theme->t2, 3, Face::regular,
                1.2f);
    end_panel(c);
}

// "0.368 × 1.368 + (1.000 + 0.135)  =  1.639" in one line
Line equation(const Explanation& e) {
    if (e.numbers.empty() || e.result.empty()) return e.result;
    Line line = e.numbers;
    line.push_back(word("  =  "));
    line.push_back(e.result.back());
    if (e.result.front().face == Span::Face::text)
        line.push_back(word(" " + e.result.front().text));  // "bytes read"
    return line;
}

void formula(const Canvas& c, const AppState& state, const Rect& a) {
    const Explanation& e = state.explanation;
    Line second = equation(e);
    float size = 34;
    while (size > 27 && rich_width(c, second, size) > a.w) size = size > 30 ? 30 : 27;
    // A long dot product says more as its result than cut off in the middle.
    float h = 54 + rich_paragraph_height(c, a.w, second, size, 0, 1.4f);
    if (h > a.h) {
        second = e.result;
        h = 54 + rich_paragraph_height(c, a.w, second, size = 34, 0, 1.4f);
    }
    const float y = a.bottom() - h;
    c.rich_paragraph(a.x, y, a.w, e.formula, 36, 1, c.theme->t1, 1.4f);
    c.rich_paragraph(a.x, y + 54, a.w, second, size, 0, 0, 1.4f);
}

}  // namespace

void presenter_view(const Canvas& c, AppState& state, float W, float H) {
    const Explanation& e = state.explanation;
    begin_region(c, "Presenter", 0, 0, W, H);
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            const float X = 28 + 15 * static_cast<float>(j), Y = 21 + 15 * static_cast<float>(i);
            if (i == 0 && j == 1)
                c.rect(X, Y, 13, 13, c.theme->t1, 3);
            else
                c.frame(X + .5f, Y + .5f, 12, 12, c.theme->t3, 1.6f, 3);
        }
    c.text(72, 36, state.lesson->title, 27, c.theme->t2, Face::medium);
    c.text(W - 28, 36, std::to_string(state.cursor.step + 1) + " / " + std::to_string(state.trace->size()),
           27, c.theme->t2, Face::medium, Align::right);
    const float bottom = H - 24, lanes_h = 74;
    hbm_strip(c, state, {24, 70, 228, bottom - lanes_h - 16 - 70});

    const float x = 288, w = W - 28 - x;
    const float title = c.text(x, 104, e.title, 44, 0, Face::semibold);
    c.text_within(x + title + 20, 109, w - title - 20, e.place, 30, c.theme->t2);
    const float formula_h = 144, top = 132;
    sram_row(c, state, {x + 4, top, w - 8, bottom - lanes_h - formula_h - top - 30});
    formula(c, state, {x, bottom - lanes_h - formula_h - 10, w, formula_h});

    LaneStyle style;
    style.lane = 26;
    style.gap = 10;
    style.name_w = 0;
    style.symbols = false;
    style.heads = false;
    lanes(c, state, {24, bottom - lanes_h + 8, W - 52, lanes_h - 8}, style);
    end_panel(c);
}

}  // namespace tilewalk::ui

// SRAM: the tiles on chip, what this step reads and writes, and the transfers from and to HBM.
#include "app/ui/chapters/forward/connectors.h"
#include "app/ui/chapters/forward/sram_geometry.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/views.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

void draw_slot(const Canvas& c, AppState& state, const SramGeometry& g, Slot slot) {
    const Bed& bed = g[slot];
    MatrixLook look = slot_look(state, slot);
    look.transposed = slot == Slot::Kj;
    look.x = bed.x, look.y = bed.y, look.cw = bed.cw, look.ch = bed.ch;
    look.numbers = bed.numbers;
    look.digits = g.digits;
    look.size = g.size;
    if (!look.value) {  // an empty buffer keeps its place
        const int rows = look.transposed ? bed.cols : bed.rows, cols = look.transposed ? bed.rows : bed.cols;
        look.region = {0, 0, rows, cols};
    }
    matrix(c, state, look, "sram");
}

// The symbol above (or beside) a matrix, and in a few words what it is.
void label(const Canvas& c, const AppState& state, const SramGeometry& g, Slot slot, const char* words,
           float right) {
    const Bed& bed = g[slot];
    const bool active = touched_now(state, slot);
    const bool block = slot == Slot::Qi || slot == Slot::Oi;
    const float w =
        c.rich(bed.x - 3, g.labels, slot_symbol(slot, block ? block_on_chip(state, slot) : -1), 17);
    // An arrow from above takes the place of the words.
    const Op op = state.trace->step(state.cursor.step).op;
    if ((op == Op::scores && slot == Slot::S) || (op == Op::output && slot == Slot::Oi)) return;
    const float room = right - (bed.x - 3 + w + 7);
    if (text_width(Face::regular, 13, words) <= room)
        c.text(bed.x - 3 + w + 7, g.labels + 1, words, 13, active ? c.theme->t1 : c.theme->t3,
               active ? Face::medium : Face::regular);
}

void labels(const Canvas& c, const AppState& state, const SramGeometry& g) {
    // Each has the room up to the next symbol.
    const auto next = [&](Slot slot) { return g[slot].x - 9; };
    label(c, state, g, Slot::Qi, "queries", next(Slot::S));
    label(c, state, g, Slot::S, "scores", next(Slot::m_tile));
    label(c, state, g, Slot::m_tile, "tile", next(Slot::m));
    label(c, state, g, Slot::m, "max", next(Slot::alpha));
    label(c, state, g, Slot::alpha, "corr.", next(Slot::P));
    label(c, state, g, Slot::P, "weights", next(Slot::l));
    label(c, state, g, Slot::l, "sum", next(Slot::Oi));
    label(c, state, g, Slot::Oi, output_words(state).c_str(), g[Slot::Oi].right() + 12);

    const int j = block_on_chip(state, Slot::Kj);
    Line k = slot_symbol(Slot::Kj, j), v = slot_symbol(Slot::Vj, j);
    k.push_back({"T", Role::K, Span::Face::symbol, Span::Script::super});
    const Bed &K = g[Slot::Kj], &V = g[Slot::Vj];
    c.rich(K.right() + 10, std::min(K.y + 12, K.bottom() - 6), k, 16);
    c.rich(V.x - 12, (V.y + V.bottom()) / 2, v, 16, Align::right);
}

void row_names(const Canvas& c, const AppState& state, const SramGeometry& g) {
    const Bed& Q = g[Slot::Qi];
    if (Q.ch < 17) return;
    const int top = std::max(0, state.trace->step(state.cursor.step).i) * state.problem->Br;
    const int rows = std::min(Q.rows, state.problem->N() - top);
    for (int r = 0; r < rows; ++r) {
        const bool chosen = r == std::min(state.row, rows - 1);
        const ImU32 colour = chosen ? c.theme->t1 : c.theme->t2;
        const float y = Q.y + (static_cast<float>(r) + .5f) * Q.ch;
        const float w = text_width(Face::italic, 15, "q");
        c.text(Q.x - 32, y, "q", 15, colour, Face::italic);
        c.text(Q.x - 32 + w, y + 4, std::to_string(top + r), 13, colour);
    }
}

}  // namespace

void sram_view(const Canvas& c, AppState& state, const Rect& a, bool tight,
               void (*lens)(const Canvas&, AppState&, const Rect&)) {
    begin_panel(c, "SRAM", a.x, a.y, a.w, a.h, "SRAM", "fast, small");
    const SramGeometry g = sram_geometry(state, a, tight);
    // The transfer lines cross the gap between the two panels.
    c.dl->PushClipRect(c.device(a.x - 12, a.y), c.device(a.right(), a.bottom()));
    transfers(c, state, g, a);
    c.dl->PopClipRect();
    static constexpr Slot order[] = {Slot::Kj, Slot::Vj,    Slot::Qi, Slot::S, Slot::m_tile,
                                     Slot::m,  Slot::alpha, Slot::P,  Slot::l, Slot::Oi};
    for (Slot slot : order) draw_slot(c, state, g, slot);
    labels(c, state, g);
    row_names(c, state, g);
    connectors(c, state, g);
    lens(c, state, g.lens);
    end_panel(c);
}

}  // namespace tilewalk::ui

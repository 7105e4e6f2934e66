// SRAM: the tiles on chip, what this step reads and writes, and the transfers from and to HBM.
#include "app/ui/chapters/forward/connectors.h"
#include "app/ui/chapters/forward/forward.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

void draw_slot(const Canvas& c, AppState& state, const SramGeometry& g, Slot slot) {
    MatrixLook look = slot_look(state, slot);
    look.transposed = slot == Slot::Kj;
    lay(look, g[slot], slot == Slot::Oi ? g.output_digits : g.digits, g.size);
    matrix(c, state, look, "sram");
}

void labels(const Canvas& c, const AppState& state, const SramGeometry& g) {
    const std::string output = output_words(state);
    const std::pair<Slot, const char*> all[] = {
        {Slot::Qi, "queries"},  {Slot::S, "scores"},  {Slot::m_tile, "tile"}, {Slot::m, "max"},
        {Slot::alpha, "corr."}, {Slot::P, "weights"}, {Slot::l, "sum"},       {Slot::Oi, output.c_str()}};
    const Op op = op_now(state);
    for (std::size_t n = 0; n < std::size(all); ++n) {
        const auto& [slot, words] = all[n];
        const bool block = slot == Slot::Qi || slot == Slot::Oi, last = slot == Slot::Oi;
        // An arrow from above takes the place of the words.
        const bool arrow = (op == Op::scores && slot == Slot::S) || (op == Op::output && last);
        // Each has the room up to the next symbol.
        slot_label(c, state, slot, {g[slot].x - 3, g.labels},
                   slot_symbol(slot, block ? block_on_chip(state, slot) : -1), arrow ? "" : words,
                   last ? g[slot].right() + 12 : g[all[n + 1].first].x - 13);
    }
    const int j = block_on_chip(state, Slot::Kj);
    const Bed& V = g[Slot::Vj];
    transposed_label(c, g[Slot::Kj], slot_symbol(Slot::Kj, j));
    c.rich(V.x - 12, V.middle(), slot_symbol(Slot::Vj, j), size::formula, Align::right);
}

void row_names(const Canvas& c, const AppState& state, const Bed& Q) {
    if (Q.ch < 17) return;
    const Held held = state.trace->live(Slot::Qi, state.cursor.step);
    const int top = held ? held.value->region.row : std::max(0, step_now(state).i) * state.problem->Br;
    const int rows = std::min(Q.rows, state.problem->N() - top);
    for (int r = 0; r < rows; ++r)
        row_name(c, *state.problem, Q.x - 32, Q.y + (px(r) + .5f) * Q.ch, "q", top + r,
                 r == std::min(state.row, rows - 1) ? c.theme->t1 : c.theme->t2);
}

}  // namespace

void sram_view(const Canvas& c, AppState& state, const Rect& a, bool tight,
               void (*lens)(const Canvas&, AppState&, const Rect&)) {
    const Panel panel(c, "SRAM", a, "SRAM", "fast, small");
    const SramGeometry g = sram_geometry(state, a, tight);
    // The transfer lines cross the gap between the two panels.
    c.dl->PushClipRect(c.device(a.x - space::margin, a.y), c.device(a.right(), a.bottom()));
    transfers(c, state, g, a);
    c.dl->PopClipRect();
    static constexpr Slot order[] = {Slot::Kj, Slot::Vj,    Slot::Qi, Slot::S, Slot::m_tile,
                                     Slot::m,  Slot::alpha, Slot::P,  Slot::l, Slot::Oi};
    for (Slot slot : order) draw_slot(c, state, g, slot);
    labels(c, state, g);
    row_names(c, state, g[Slot::Qi]);
    connectors(c, state, g);
    lens(c, state, g.lens);
}

}  // namespace tilewalk::ui

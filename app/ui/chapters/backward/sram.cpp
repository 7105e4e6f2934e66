// SRAM in the backward pass: the tiles on chip, what this step reads and writes, and the gradients that grow.
#include "app/ui/chapters/backward/connectors.h"
#include "app/ui/chapters/backward/view.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/views.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

bool keys_outside(const AppState& state) { return state.problem->options.order == BackwardOrder::key_outer; }

void draw_slot(const Canvas& c, AppState& state, const BackwardGeometry& g, Slot slot) {
    const Bed& bed = g[slot];
    const bool below = slot == Slot::dVj || slot == Slot::dKj || slot == Slot::dQi;
    MatrixLook look = backward_look(state, slot);
    look.transposed = slot == Slot::Kj || slot == Slot::Vj;
    look.x = bed.x, look.y = bed.y, look.cw = bed.cw, look.ch = bed.ch;
    look.numbers = bed.numbers;
    look.digits = below ? g.below_digits : g.digits;
    look.size = below || look.transposed ? 13 : g.size;
    if (look.transposed && bed.ch >= 24) look.size = std::min(15.0f, g.size);
    if (!look.value) {  // an empty buffer keeps its place
        const int rows = look.transposed ? bed.cols : bed.rows, cols = look.transposed ? bed.rows : bed.cols;
        look.region = {0, 0, rows, cols};
    }
    matrix(c, state, look, "sram");
}

// The symbol above a matrix and, where they fit before `right`, a few words.
void label(const Canvas& c, const AppState& state, const Bed& bed, Slot slot, float y,
           const std::string& words, float right) {
    const bool active = touched_now(state, slot);
    const float w = c.rich(bed.x - 3, y, backward_symbol(state, slot), 17), x = bed.x - 3 + w + 7;
    if (text_width(Face::regular, 13, words) <= right - x)
        c.text(x, y + 1, words, 13, active ? c.theme->t1 : c.theme->t3,
               active ? Face::medium : Face::regular);
}

// "32 B, step 24": when the block on chip was loaded, and what it cost.
std::string loaded(const AppState& state, Slot slot) {
    const Held held = state.trace->live(slot, state.cursor.step);
    if (!held) return "";
    const int each = info(slot).counts_elements ? state.problem->element_bytes : 4;
    return format_traffic(std::int64_t{held.value->data.size()} * each) + ", step " +
           std::to_string(held.step + 1);
}

void band_labels(const Canvas& c, const AppState& state, const BackwardGeometry& g) {
    const Op op = state.trace->step(state.cursor.step).op;
    const Slot S = scores_slot(state);
    const auto next = [&](Slot slot) { return g[slot].x - 9; };
    label(c, state, g[Slot::Qi], Slot::Qi, g.labels, loaded(state, Slot::Qi), next(Slot::S));
    const char* scores = op == Op::scores ? "" : S == Slot::Prob ? "recomputed" : "scores";
    label(c, state, g[S], S, g.labels, scores, next(Slot::Li) + 4);
    label(c, state, g[Slot::Li], Slot::Li, g.labels, "", next(Slot::dOi));
    label(c, state, g[Slot::dOi], Slot::dOi, g.labels, loaded(state, Slot::dOi), next(Slot::dP));
    label(c, state, g[Slot::dP], Slot::dP, g.labels, "", next(Slot::Di));
    label(c, state, g[Slot::Di], Slot::Di, g.labels, "mean", next(Slot::dS));
    label(c, state, g[Slot::dS], Slot::dS, g.labels, "", g[Slot::dS].right() + 12);
}

void below_labels(const Canvas& c, const AppState& state, const BackwardGeometry& g) {
    // Curves from the band take the place of the words.
    const Op op = state.trace->step(state.cursor.step).op;
    const bool curves = op == Op::dv || op == Op::ds || op == Op::dq || op == Op::dk;
    for (Slot slot : {Slot::dVj, Slot::dKj, Slot::dQi}) {
        const bool on_chip = keys_outside(state) != (slot == Slot::dQi);
        const Bed& bed = g[slot];
        const char* words = curves ? "" : on_chip ? "grows on chip" : "through HBM";
        label(c, state, bed, slot, g.below, words, bed.right() + 30);
    }
}

void keys_labels(const Canvas& c, const AppState& state, const BackwardGeometry& g) {
    for (Slot slot : {Slot::Kj, Slot::Vj}) {
        const Bed& bed = g[slot];
        Line line = backward_symbol(state, slot);
        line.push_back({"T", info(slot).role, Span::Face::symbol, Span::Script::super});
        c.rich(bed.right() + 10, std::min(bed.y + 12, bed.bottom() - 6), line, 16);
    }
}

void row_names(const Canvas& c, const AppState& state, const BackwardGeometry& g) {
    const Bed& Q = g[Slot::Qi];
    const Step& step = state.trace->step(state.cursor.step);
    if (Q.ch < 17 || step.i < 0) return;
    const int top = step.i * state.problem->Br, rows = std::min(Q.rows, state.problem->N() - top);
    for (int r = 0; r < rows; ++r) {
        const float y = Q.y + (static_cast<float>(r) + .5f) * Q.ch, w = text_width(Face::italic, 15, "q");
        c.text(Q.x - 34, y, "q", 15, c.theme->t2, Face::italic);
        c.text(Q.x - 34 + w, y + 4, std::to_string(top + r), 13, c.theme->t2);
    }
}

// Which loop is outside: a choice that makes another walk of the same problem.
void order_switch(const Canvas& c, AppState& state, const Rect& a) {
    const std::initializer_list<const char*> full = {"key blocks outside", "query blocks outside"},
                                             brief = {"keys outside", "queries outside"};
    const bool fits = segmented_width(full, 13) + 190 <= a.w;
    const auto& names = fits ? full : brief;
    int order = keys_outside(state) ? 0 : 1;
    if (!segmented(c, "##order", a.right() - 12 - segmented_width(names, 13), a.y + 6, names, order, 13))
        return;
    Problem changed = latest_problem(state);
    changed.options.order = order == 0 ? BackwardOrder::key_outer : BackwardOrder::query_outer;
    set_problem(state, std::move(changed));
}

}  // namespace

void backward_sram(const Canvas& c, AppState& state, const Rect& a, bool) {
    begin_panel(c, "SRAM", a.x, a.y, a.w, a.h, "SRAM", "fast, small");
    const BackwardGeometry g = backward_geometry(state, a);
    // The transfer lines cross the gap between the two panels.
    c.dl->PushClipRect(c.device(a.x - 12, a.y), c.device(a.right(), a.bottom()));
    backward_transfers(c, state, g, a);
    c.dl->PopClipRect();
    const Slot order[] = {Slot::Kj, Slot::Vj, Slot::Qi, scores_slot(state), Slot::Li,  Slot::dOi,
                          Slot::dP, Slot::Di, Slot::dS, Slot::dVj,          Slot::dKj, Slot::dQi};
    for (Slot slot : order) draw_slot(c, state, g, slot);
    band_labels(c, state, g);
    below_labels(c, state, g);
    keys_labels(c, state, g);
    row_names(c, state, g);
    backward_connectors(c, state, g);
    backward_lens(c, state, g.lens);
    order_switch(c, state, a);
    end_panel(c);
}

void backward_main(const Canvas& c, AppState& state, const Layout& layout) {
    backward_hbm(c, state, layout.hbm);
    backward_sram(c, state, layout.sram, layout.tight);
}

}  // namespace tilewalk::ui

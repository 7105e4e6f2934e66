// The panel of the dense lessons: all matrices of the page, what this step reads and writes, and the lens.
#include "app/ui/chapters/dense/dense.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

bool pairs(const Problem& p, Slot slot) {
    const Region shape = dense_shape(p, slot);
    return info(slot).role == Role::S && shape.rows == p.N() && shape.cols == p.N_kv();
}

void draw_matrix(const Canvas& c, AppState& state, const DenseLayout& layout, const DensePlace& place) {
    MatrixLook look = dense_look(state, place.slot);
    look.transposed = place.entry.transposed;
    lay(look, place.bed, place.digits, layout.size);
    matrix(c, state, look, "dense");
}

void label(const Canvas& c, const AppState& state, const DensePlace& place) {
    Line symbol = slot_symbol(place.slot);
    if (place.slot == Slot::dS)
        symbol = pieces(symbol, sub("cap", Role::S));  // dS in HBM has the slope in it
    if (place.entry.transposed) symbol = transposed(symbol);
    const bool active = touched_now(state, place.slot);
    const float x = place.bed.x - 3, w = c.rich(x, place.label_y, symbol, size::symbol);
    const float left = x + w + 7;
    if (text_width(Face::medium, size::small, place.entry.words) > place.right - left) return;
    c.text(left, place.label_y + 1, place.entry.words, size::small, active ? c.theme->t1 : c.theme->t3,
           active ? Face::medium : Face::regular);
}

// The token of query r or key k; without words its number.
std::string token(const Problem& p, int n, bool query) {
    if (query && p.packed > 1) return query_label(p, n, "q");
    std::string said = query ? p.query_token(n) : p.key_token(n);
    if (!said.empty()) return said;
    return (query ? "q" : "k") + str(n);
}

// Names of the queries before the first matrix of a row, and of the keys below the matrices of pairs, closer
// where other matrices hang below them.
void names(const Canvas& c, const AppState& state, const DenseLayout& layout, const DensePlace& place,
           float left) {
    const Problem& p = state.trace->walked();
    const Bed& bed = place.bed;
    const CellRef target = state.explanation.target;
    const bool targets_pair = target.slot != Slot::count && pairs(p, target.slot);
    const Region shape = dense_shape(p, place.slot);
    if (place.entry.level != 0) return;
    if (place.first && bed.ch >= 15 && shape.rows == p.N())
        for (int r = 0; r < p.N(); ++r) {
            const bool chosen = dense_shape(p, target.slot).rows == p.N() && target.row == r;
            c.text_within(bed.x - 10, bed.y + (px(r) + .5f) * bed.ch, bed.x - 14 - left, token(p, r, true),
                          size::small, chosen ? c.theme->t1 : c.theme->t3,
                          chosen ? Face::medium : Face::regular, Align::right);
        }
    if (!pairs(p, place.slot) || bed.cw < 20) return;
    const bool others_below =
        std::ranges::any_of(layout.places, [](const DensePlace& other) { return other.entry.level < 0; });
    const float y = bed.bottom() + (others_below ? 11 : 14);
    for (int k = 0; k < p.N_kv(); ++k) {
        const bool chosen = targets_pair && target.col == k;
        c.text_within(bed.x + (px(k) + .5f) * bed.cw, y, bed.cw - 2, token(p, k, false), size::small,
                      chosen ? c.theme->t1 : c.theme->t3, chosen ? Face::medium : Face::regular,
                      Align::center);
    }
}

// From a matrix that is read into its neighbour that is written, in the row that the formula is about.
void flows(const Canvas& c, const AppState& state, const DenseLayout& layout) {
    const CellRef target = state.explanation.target;
    for (std::size_t n = 0; n + 1 < layout.places.size(); ++n) {
        const DensePlace &from = layout.places[n], &to = layout.places[n + 1];
        if (from.entry.level != to.entry.level || from.bed.y != to.bed.y || to.slot != target.slot) continue;
        if (!touched_now(state, from.slot) || written_now(state, from.slot) || !written_now(state, to.slot))
            continue;
        const float a = from.bed.right() + 6, b = to.bed.x - 6;
        const int r = to.entry.transposed ? target.col : target.row;
        if (b - a < 8 || to.bed.ch < 15 || r >= to.bed.rows || r >= from.bed.rows) continue;
        const float y = to.bed.y + (px(r) + .5f) * to.bed.ch;
        c.arrow({{a, y}, {b, y}}, ArrowStyle::link, 0, transition(state));
    }
}

// ---- The ledger of standard attention: how often its N × N matrices go through HBM

constexpr Slot pair_slots[] = {Slot::S_hbm, Slot::P_hbm, Slot::dP_hbm, Slot::dS_hbm};

struct Entry {
    Slot slot;
    bool in_use = false;             // in this lesson at all
    std::int64_t out = 0, back = 0;  // bytes
};
struct Ledger {
    std::array<Entry, 4> entries;
    int trips = 0, all_trips = 0;
};

// In a step of a dense lesson either every operand in HBM is fetched, or none because the kernel has it.
bool fetches(const Trace& trace, int k) {
    return trace.step(k).traffic.hbm_read > (k > 0 ? trace.step(k - 1).traffic.hbm_read : 0);
}

Ledger ledger(const AppState& state) {
    const Trace& trace = *state.trace;
    Ledger out;
    for (std::size_t n = 0; n < 4; ++n) out.entries[n].slot = pair_slots[n];
    for (Entry& e : out.entries)
        for (int k = 0; k < trace.size(); ++k) {
            const bool past = k <= state.cursor.step;
            const auto add = [&](std::int64_t Entry::*sum, const Access& a) {
                if (a.slot != e.slot) return;
                e.in_use = true, ++out.all_trips;
                if (!past) return;
                e.*sum += trace.value(a.value).data.size() * state.trace->walked().element_bytes, ++out.trips;
            };
            for (const Access& a : trace.writes(k)) add(&Entry::out, a);
            if (fetches(trace, k))
                for (const Access& a : trace.reads(k)) add(&Entry::back, a);
        }
    return out;
}

Line entry_line(const Entry& e, bool words) {
    if (e.out + e.back == 0) return pieces(slot_symbol(e.slot), " –");
    if (!words) return pieces(slot_symbol(e.slot), " " + format_size(e.out + e.back));
    std::string text = e.out > 0 ? " " + format_size(e.out) + " out" : "";
    if (e.back > 0) text += (e.out > 0 ? ", " : " ") + format_size(e.back) + " back";
    return pieces(slot_symbol(e.slot), text);
}

Line ledger_line(const Ledger& l, int form) {
    Line line{word(form == 0 ? "N × N through HBM:" : "N × N:")};
    for (const Entry& e : l.entries)
        if (e.in_use && form < 3) line = pieces(line, "   ", entry_line(e, form < 2));
    return pieces(line, "   " + str(l.trips) + " of " + str(l.all_trips) + " times");
}

// What N × N matrices have moved through HBM up to the current step, at the right of the panel's title.
void draw_ledger(const Canvas& c, const AppState& state, float right, float y, float room) {
    const Ledger l = ledger(state);
    for (int form = 0; form < 4; ++form) {
        const Line line = ledger_line(l, form);
        const float w = rich_width(c, line, size::body) + 24;
        if (w > room) continue;
        c.well(right - w, y - 14, w, 28, 14);
        c.rich(right - 12, y, line, size::body, Align::right);
        return;
    }
}

}  // namespace

void dense_main(const Canvas& c, AppState& state, const Layout& all) {
    const Rect& a = all.main;
    const DenseTitle title = dense_title(state);
    const Panel panel(c, "Matrices", a, title.title);
    const float title_w = text_width(Face::semibold, size::lead, title.title),
                words_w = text_width(Face::regular, size::body, title.words);
    const float ledger_room = a.w - 48 - title_w;
    const bool words = ledger_room - words_w > 330;
    if (words) c.text(a.x + 26 + title_w, a.y + 22.5f, title.words, size::body, c.theme->t3);
    draw_ledger(c, state, a.right() - 14, a.y + 23, ledger_room - (words ? words_w + 14 : 0));

    const float least_lens = a.h >= from::high_sram ? 164 : a.h >= from::sram ? 124 : 96, top = a.y + 44;
    const DensePage page = dense_page(state);
    const float left = a.x + 14, names_w = state.trace->walked().packed > 1 ? 62 : 44;
    const DenseLayout layout = dense_layout(
        state, page,
        {left + names_w, top, a.w - 28 - names_w - 10, a.bottom() - space::foot - least_lens - 8 - top});
    for (const DensePlace& place : layout.places)
        if (!written_now(state, place.slot)) draw_matrix(c, state, layout, place);
    for (const DensePlace& place : layout.places)
        if (written_now(state, place.slot)) draw_matrix(c, state, layout, place);
    for (const DensePlace& place : layout.places) {
        label(c, state, place);
        names(c, state, layout, place, left);
    }
    flows(c, state, layout);
    // What the matrices leave over goes to the lens.
    const float lens_h = std::clamp(a.bottom() - space::foot - layout.bottom - 10, least_lens, 220.0f);
    dense_lens(c, state, {a.x + 14, a.bottom() - space::foot - lens_h, a.w - 28, lens_h});
}

}  // namespace tilewalk::ui

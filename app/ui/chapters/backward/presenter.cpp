// Presenter page of the backward pass: the matrices of this step alone, as an equation from left to right.
#include "app/ui/parts/presenter.h"
#include "app/ui/chapters/backward/backward.h"
#include "app/ui/chapters/forward/hbm_parts.h"
#include "app/ui/chapters/forward/sram_geometry.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/quiz.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

struct Term {
    Slot slot;
    const char* before = "";  // what stands at its left: "⊙", "→"
    bool transposed = false;
    const char* after = "";  // a bracket that closes behind it
    Bed bed{};
    int digits = 0;
};

// What the step reads and writes; loads and stores show what moves.
std::vector<Term> terms_of(const AppState& state) {
    switch (op_now(state)) {
    case Op::load_kv: return {{Slot::Kj, ""}, {Slot::Vj, ""}};
    case Op::load_q: return {{Slot::Qi, ""}, {Slot::dOi, ""}, {Slot::Li, ""}, {Slot::Di, ""}};
    case Op::scores: return {{Slot::Qi, ""}, {Slot::Kj, "", true}, {Slot::S, "→"}};
    case Op::mask: return {{Slot::S, ""}};
    case Op::recompute: return {{Slot::S, "exp("}, {Slot::Li, "−", false, ")"}, {Slot::Prob, "→"}};
    case Op::dv: return {{Slot::Prob, "", true}, {Slot::dOi, ""}, {Slot::dVj, "→"}};
    case Op::dp: return {{Slot::dOi, ""}, {Slot::Vj, "", true}, {Slot::dP, "→"}};
    case Op::ds: return {{Slot::Prob, ""}, {Slot::dP, "⊙ ("}, {Slot::Di, "−", false, ")"}, {Slot::dS, "→"}};
    case Op::dq: return {{Slot::dS, ""}, {Slot::Kj, ""}, {Slot::dQi, "→"}};
    case Op::dk: return {{Slot::dS, "", true}, {Slot::Qi, ""}, {Slot::dKj, "→"}};
    case Op::init:
    case Op::store:
        if (step_now(state).i < 0) return {{Slot::dKj, ""}, {Slot::dVj, ""}};
        return {{Slot::dQi, ""}};
    default: return {};
    }
}

Region region_of(const AppState& state, Slot slot) {
    const Held held = state.trace->live(slot, state.cursor.step);
    return held ? held.value->region : Region{0, 0, 1, 1};
}

constexpr float gap = 58;  // between two matrices, for the sign

// Room at the left of term n for its own sign and for the bracket that closes behind the one before.
float gap_before(const std::vector<Term>& terms, std::size_t n) {
    const float sign = text_width(Face::regular, size::far_sign, terms[n].before) + 26;
    if (n == 0) return *terms[0].before ? sign : 0;
    return std::max(gap, sign) + (*terms[n - 1].after ? 18.0f : 0.0f);
}

// Cells with numbers of so many digits, or strips of colour.
Bed bed_of(const AppState& state, Slot slot, const Region& shape, const Rect& a, int digits, bool wanted) {
    const float ch = std::min(62.0f, a.h / px(shape.rows));
    const bool numbers = wanted && shape.cols <= 8 && ch >= from::far_row;
    const float cw = numbers ? far_cell(state.look[slot].letters_with(digits))
                             : std::clamp(120.0f / px(shape.cols), .5f, 34.0f);
    return {0, 0, cw, ch, shape.rows, shape.cols, numbers};
}

// The `numbered` last ones with numbers.
float lay_out(const AppState& state, std::vector<Term>& terms, const Rect& a, int digits, int numbered) {
    float w = 0;
    for (std::size_t n = 0; n < terms.size(); ++n) {
        Term& t = terms[n];
        Region region = region_of(state, t.slot);
        if (t.transposed) std::swap(region.rows, region.cols);
        t.bed = bed_of(state, t.slot, region, a, digits, static_cast<int>(terms.size() - n) <= numbered);
        t.digits = digits;
        w += t.bed.width() + gap_before(terms, n);
    }
    return w;
}

void place(const AppState& state, std::vector<Term>& terms, const Rect& a) {
    // The result keeps its numbers longest, then what stands next to it.
    float w = 0;
    bool found = false;
    for (int numbered = static_cast<int>(terms.size()); numbered >= 0 && !found; --numbered)
        for (int digits : digit_choices()) {
            w = lay_out(state, terms, a, digits, numbered);
            if ((found = w <= a.w)) break;
        }
    float x = a.x + std::max(0.0f, (a.w - w) / 2);
    for (std::size_t n = 0; n < terms.size(); ++n) {
        Bed& bed = terms[n].bed;
        bed.x = x + gap_before(terms, n);
        bed.y = a.y + (a.h - bed.height()) / 2;
        x = bed.right();
    }
}

void draw_sign(const Canvas& c, const char* sign, float x, float y) {
    if (std::string_view(sign) == "→")
        c.arrow({{x - 17, y}, {x + 17, y}}, ArrowStyle::link);
    else if (*sign)
        c.text(x, y, sign, size::far_sign, c.theme->t2, Align::center);
}

void draw(const Canvas& c, AppState& state, const Term& t) {
    MatrixLook look = backward_look(state, t.slot);
    if (!look.value) return;
    look.transposed = t.transposed;
    look.dim = false;
    if (look.state == CellState::written) beam(c, state, t.bed.area());
    far_matrix(c, state, look, t.bed, std::max(3, t.digits));
    const Line symbol = backward_symbol(state, t.slot);
    c.rich(t.bed.center(), t.bed.y - 32, t.transposed ? transposed(symbol) : symbol, size::far_symbol,
           Align::center);
    const float mid = t.bed.y + t.bed.height() / 2;
    const float x = t.bed.x - std::max(gap, text_width(Face::regular, size::far_sign, t.before) + 26) / 2;
    draw_sign(c, t.before, x, mid);
    if (*t.after) c.text(t.bed.right() + 12, mid, t.after, size::far_sign, c.theme->t2, Align::center);
}

// D of one query block, from O and dO in HBM.
void draw_preprocess(const Canvas& c, AppState& state, const Rect& a) {
    const int i = step_now(state).i, k = state.cursor.step;
    std::vector<Term> terms{{Slot::dO, ""}, {Slot::O, "⊙"}, {Slot::D, "→"}};
    float w = 0;
    for (bool numbers : {true, false}) {
        w = 2 * gap;
        for (Term& t : terms) {
            const Region region = state.trace->live(t.slot, i, k).value->region;
            t.bed = bed_of(state, t.slot, region, a, 3, numbers);
            w += t.bed.width();
        }
        if (w <= a.w) break;
    }
    float x = a.x + std::max(0.0f, (a.w - w) / 2);
    for (Term& t : terms) {
        MatrixLook look;
        look.slot = t.slot;
        look.value = state.trace->live(t.slot, i, k).value;
        look.state = t.slot == Slot::D ? CellState::written : CellState::read;
        t.bed.x = x, t.bed.y = a.y + (a.h - t.bed.height()) / 2;
        if (t.slot == Slot::D) look.rows_done = state.cursor.done;
        far_matrix(c, state, look, t.bed, 3);
        const float mid = a.y + a.h / 2;
        c.rich(t.bed.center(), t.bed.y - 32, slot_symbol(t.slot, i), size::far_symbol, Align::center);
        draw_sign(c, t.before, x - gap / 2, mid);
        x = t.bed.right() + gap;
    }
}

void hbm_strip(const Canvas& c, const AppState& state, const Rect& a) {
    const Panel panel(c, "HBM", a);
    strip_head(c, a);
    constexpr Slot slots[2][3] = {{Slot::Q, Slot::K, Slot::V}, {Slot::dQ, Slot::dK, Slot::dV}};
    const float cell = (a.w - 40 - 2 * 20) / 3;
    for (int row = 0; row < 2; ++row)
        for (int n = 0; n < 3; ++n) {
            const Rect area{a.x + space::far_pad + px(n) * (cell + 20), a.y + 106 + px(row) * 132, cell, 72};
            const Slot slot = slots[row][n];
            c.faded(light_on(state, slot)).rich(area.x - 2, area.y - 24, slot_symbol(slot), size::far_number);
            strip_blocks(c, state, slot, area, true);
        }
    const Line names{symbol("P", Role::S), word("  "), symbol("dP", Role::S), word("  "),
                     symbol("dS", Role::S)};
    const Rect never = strip_foot(c, a, a.y + 336, names, a.x + 128);
    if (never.w > 0)
        ghost(c, *state.trace, state.cursor.step, never.x, never.y, never.w, never.h,
              hides_what_comes(state));
}

}  // namespace

void backward_presenter(const Canvas& c, AppState& state, const Rect& strip, const Rect& body) {
    hbm_strip(c, state, strip);
    const Rect room{body.x + 8, body.y + 64, body.w - 16, body.h - 72};
    const Op op = op_now(state);
    if (op == Op::preprocess) return draw_preprocess(c, state, room);
    if (op == Op::skip) return;
    std::vector<Term> terms = terms_of(state);
    if (op == Op::init && step_now(state).i < 0 && state.problem->options.order == BackwardOrder::query_outer)
        return;  // dK and dV start in HBM: the strip at the left shows them
    place(state, terms, room);
    for (const Term& t : terms) draw(c, state, t);
}

}  // namespace tilewalk::ui

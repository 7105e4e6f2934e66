// Presenter page of the backward pass: the matrices of this step alone, as an equation from left to right.
#include "app/ui/shell/presenter.h"
#include "app/ui/chapters/backward/view.h"
#include "app/ui/chapters/forward/hbm_parts.h"
#include "app/ui/chapters/forward/sram_geometry.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/quiz.h"

#include <algorithm>
#include <cmath>

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
    switch (state.trace->step(state.cursor.step).op) {
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
        if (state.trace->step(state.cursor.step).i < 0) return {{Slot::dKj, ""}, {Slot::dVj, ""}};
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
    const float sign = text_width(Face::regular, 34, terms[n].before) + 26;
    if (n == 0) return *terms[0].before ? sign : 0;
    return std::max(gap, sign) + (*terms[n - 1].after ? 18.0f : 0.0f);
}

// Cells with numbers of so many digits, or strips of colour.
float lay_out(const AppState& state, std::vector<Term>& terms, const Rect& a, int digits, int numbered) {
    float w = 0;
    for (std::size_t n = 0; n < terms.size(); ++n) {
        Term& t = terms[n];
        const Region region = region_of(state, t.slot);
        const int rows = t.transposed ? region.cols : region.rows,
                  cols = t.transposed ? region.rows : region.cols;
        const float ch = std::min(62.0f, a.h / static_cast<float>(rows));
        const bool numbers = static_cast<int>(terms.size() - n) <= numbered && cols <= 8 && ch >= 34;
        const float letters = static_cast<float>(std::max(2, state.look[t.slot].letters_with(digits)));
        const float cw =
            numbers ? letters * .602f * 28 + 12 : std::clamp(120.0f / static_cast<float>(cols), .5f, 34.0f);
        t.bed = {0, 0, cw, ch, rows, cols, numbers};
        t.digits = digits;
        w += cw * static_cast<float>(cols) + gap_before(terms, n);
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
        bed.y = a.y + (a.h - bed.ch * static_cast<float>(bed.rows)) / 2;
        x = bed.right();
    }
}

void draw(const Canvas& c, AppState& state, const Term& t) {
    MatrixLook look = backward_look(state, t.slot);
    if (!look.value) return;
    look.transposed = t.transposed;
    look.x = t.bed.x, look.y = t.bed.y, look.cw = t.bed.cw, look.ch = t.bed.ch;
    look.numbers = t.bed.numbers;
    look.digits = std::max(3, t.digits);
    look.size = 28;
    look.dim = false;
    if (look.rows_done >= t.bed.rows) look.before = nullptr;
    if (look.state == CellState::written)
        beam(c, state, t.bed.x, t.bed.y, t.bed.cw * static_cast<float>(t.bed.cols),
             t.bed.ch * static_cast<float>(t.bed.rows));
    matrix(c, state, look, "presenter");
    Line symbol = backward_symbol(state, t.slot);
    if (t.transposed) symbol.push_back({"T", info(t.slot).role, Span::Face::symbol, Span::Script::super});
    c.rich(t.bed.center(), t.bed.y - 32, symbol, 35, Align::center);
    const float mid = t.bed.y + t.bed.ch * static_cast<float>(t.bed.rows) / 2;
    const float x = t.bed.x - std::max(gap, text_width(Face::regular, 34, t.before) + 26) / 2;
    if (std::string_view(t.before) == "→")
        c.arrow({{x - 17, mid}, {x + 17, mid}}, ArrowStyle::link);
    else if (*t.before)
        c.text(x, mid, t.before, 34, c.theme->t2, Face::regular, Align::center);
    if (*t.after) c.text(t.bed.right() + 12, mid, t.after, 34, c.theme->t2, Face::regular, Align::center);
}

// D of one query block, from O and dO in HBM.
void draw_preprocess(const Canvas& c, AppState& state, const Rect& a) {
    const int i = state.trace->step(state.cursor.step).i, k = state.cursor.step;
    std::vector<Term> terms{{Slot::dO, ""}, {Slot::O, "⊙"}, {Slot::D, "→"}};
    float w = 0;
    for (bool numbers : {true, false}) {
        w = 2 * gap;
        for (Term& t : terms) {
            const Region region = state.trace->live(t.slot, i, k).value->region;
            const float ch = std::min(62.0f, a.h / static_cast<float>(region.rows));
            const bool fits = numbers && region.cols <= 8 && ch >= 34;
            const float letters = static_cast<float>(std::max(2, state.look[t.slot].letters_with(3)));
            t.bed = {0,
                     0,
                     fits ? letters * .602f * 28 + 12
                          : std::clamp(120.0f / static_cast<float>(region.cols), .5f, 34.0f),
                     ch,
                     region.rows,
                     region.cols,
                     fits};
            w += t.bed.cw * static_cast<float>(region.cols);
        }
        if (w <= a.w) break;
    }
    float x = a.x + std::max(0.0f, (a.w - w) / 2);
    for (Term& t : terms) {
        MatrixLook look;
        look.slot = t.slot;
        look.value = state.trace->live(t.slot, i, k).value;
        look.state = t.slot == Slot::D ? CellState::written : CellState::read;
        look.x = x, look.y = a.y + (a.h - t.bed.ch * static_cast<float>(t.bed.rows)) / 2;
        look.cw = t.bed.cw, look.ch = t.bed.ch;
        look.numbers = t.bed.numbers, look.digits = 3, look.size = 28;
        if (t.slot == Slot::D) look.rows_done = state.cursor.done;
        matrix(c, state, look, "presenter");
        const float right = x + t.bed.cw * static_cast<float>(t.bed.cols), mid = a.y + a.h / 2;
        c.rich((x + right) / 2, look.y - 32, slot_symbol(t.slot, i), 35, Align::center);
        if (t.slot == Slot::D)
            c.arrow({{x - gap / 2 - 17, mid}, {x - gap / 2 + 17, mid}}, ArrowStyle::link);
        else
            c.text(x - gap / 2, mid, t.before, 34, c.theme->t2, Face::regular, Align::center);
        x = right + gap;
    }
}

// HBM as letters and blocks only.
void mini(const Canvas& page, const AppState& state, Slot slot, float x, float y, float w, float h) {
    const Canvas c = page.faded(light_on(state, slot));
    const Problem& p = *state.problem;
    const Theme& t = *c.theme;
    const bool query = slot == Slot::Q || slot == Slot::dO || slot == Slot::dQ;
    const int rows = query ? p.N() : p.N_kv(), block = query ? p.Br : p.Bc, k = state.cursor.step;
    const Step& now = state.trace->step(k);
    const int current = query ? now.i : now.j;
    const ImU32 colour = hue(t, info(slot).role);
    c.rich(x - 2, y - 24, slot_symbol(slot), 28);
    const float ch = h / static_cast<float>(rows);
    for (int row = 0, b = 0; row < rows; row += block, ++b) {
        const float Y = y + static_cast<float>(row) * ch,
                    tall = static_cast<float>(std::min(block, rows - row)) * ch;
        const Held held = state.trace->live(slot, b, k),
                   end = state.trace->live(slot, b, state.trace->size());
        c.rect(x + 1, Y + 1, w - 2, std::max(tall - 2, 1.0f),
               !held ? t.well : mix(t.panel, colour, b == current ? .5f : .14f), 4);
        if (held && held.step != end.step && tall > 6)
            c.hatch(x + 2, Y + 2, w - 4, tall - 4, mix(t.panel, t.t3, .6f), 7);
        if (!held && tall > 6) c.frame(x + 1, Y + 1, w - 2, tall - 2, t.line, 1, 4);
        if (b == current && held) c.frame(x - 2, Y - 1, w + 4, tall + 2, mix(t.panel, colour, .75f), 2.5f, 6);
    }
}

void hbm_strip(const Canvas& c, const AppState& state, const Rect& a) {
    begin_panel(c, "HBM", a.x, a.y, a.w, a.h);
    const float w = c.text(a.x + 20, a.y + 32, "HBM", 27, 0, Face::semibold);
    c.text(a.x + 32 + w, a.y + 32, "slow", 27, c.theme->t3);
    constexpr Slot slots[2][3] = {{Slot::Q, Slot::K, Slot::V}, {Slot::dQ, Slot::dK, Slot::dV}};
    const float cell = (a.w - 40 - 2 * 20) / 3;
    for (int row = 0; row < 2; ++row)
        for (int n = 0; n < 3; ++n)
            mini(c, state, slots[row][n], a.x + 20 + static_cast<float>(n) * (cell + 20),
                 a.y + 106 + static_cast<float>(row) * 132, cell, 72);
    const float y = a.y + 336;
    if (a.bottom() < y + 130) return end_panel(c);  // a card takes the room of the scores
    c.line({a.x + 20, y + .5f}, {a.right() - 20, y + .5f}, c.theme->line);
    const Line names{{"P", Role::S, Span::Face::symbol},
                     word("  "),
                     {"dP", Role::S, Span::Face::symbol},
                     word("  "),
                     {"dS", Role::S, Span::Face::symbol}};
    c.rich(a.x + 20, y + 28, names, 30);
    const float side = std::min(92.0f, a.bottom() - 16 - y - 54);
    ghost(c, *state.trace, state.cursor.step, a.x + 20, y + 54, side, side, hides_what_comes(state));
    c.text(a.x + 128, y + 74, "never", 27, c.theme->t2);
    c.text(a.x + 128, y + 106, "here", 27, c.theme->t2);
    end_panel(c);
}

}  // namespace

void backward_presenter(const Canvas& c, AppState& state, const Rect& strip, const Rect& body) {
    hbm_strip(c, state, strip);
    const Rect room{body.x + 8, body.y + 64, body.w - 16, body.h - 72};
    const Op op = state.trace->step(state.cursor.step).op;
    if (op == Op::preprocess) return draw_preprocess(c, state, room);
    if (op == Op::skip) return;
    std::vector<Term> terms = terms_of(state);
    if (op == Op::init && state.trace->step(state.cursor.step).i < 0 &&
        state.problem->options.order == BackwardOrder::query_outer)
        return;  // dK and dV start in HBM: the strip at the left shows them
    place(state, terms, room);
    for (const Term& t : terms) draw(c, state, t);
}

}  // namespace tilewalk::ui

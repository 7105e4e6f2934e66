// HBM of the backward pass: what is read, what forward left, gradients, the N × N matrices that never come.
#include "app/ui/chapters/backward/backward.h"
#include "app/ui/chapters/forward/hbm_parts.h"
#include "app/ui/kit/items.h"
#include "app/ui/parts/slot_view.h"

#include <algorithm>

namespace tilewalk::ui {

namespace {

struct Place {
    int i, j;
    bool skipped;
};

// Three rows of thumbnails: their left edges, the width of a matrix, and the height of each.
struct Shelf {
    float x[3], cw, y[3], qh, kh;
};

Shelf shelf(const Problem& p, const Rect& a, float lower) {
    Shelf out{};
    const auto d = px(p.d());
    const float inner = a.inner_w(), gap = 14, each = (inner - 2 * gap) / 3;
    const float head = a.h > from::high_hbm ? 72.0f : 64.0f, between = a.h > from::high_hbm ? 40.0f : 32.0f;
    const float zone = std::clamp((a.h - lower - head - 2 * between - 34) / 3, 26.0f, 100.0f);
    const auto rows = px(std::max(p.N(), p.N_kv()));
    out.cw = std::min(26.0f, each / d);
    const float ch = std::min(out.cw < 6 ? 12.0f : 26.0f, zone / rows);
    out.qh = out.kh = ch;
    for (int n = 0; n < 3; ++n) {
        out.x[n] = a.inner_x() + px(n) * (each + gap);
        out.y[n] = a.y + head + px(n) * (ch * rows + between);
    }
    return out;
}

// O, dO, L and D: left edges, and the widths of a cell.
struct MiddleRow {
    float x_O, w_O, x_dO, x_L, w_L, x_D, w_D;
    int digits = 3;
};

float number_width(const AppState& state, Slot slot, int digits) {
    return px(state.look[slot].letters_with(digits)) * size::mono * size::small + 4;
}

// D is made here and nowhere on chip, and L is read from here: where they have room their numbers are shown.
// O, whose numbers have none, gives it.
MiddleRow middle_row(const AppState& state, const Shelf& s, const Rect& a) {
    constexpr float gap = 11, narrowest = 8;
    const auto d = px(state.problem->d());
    const float w = std::min(20.0f, s.cw * d / 2 - 9), right = s.x[2] + s.cw * d, narrow = std::max(w, 18.0f);
    const MiddleRow even{s.x[0], s.cw, s.x[1], s.x[2], w, right - w, w};
    if (s.qh < least_numbered || number_width(state, Slot::O, 2) <= s.cw) return even;
    for (const int digits : digit_choices(2)) {
        const float w_D = number_width(state, Slot::D, digits);
        for (const float w_L : {number_width(state, Slot::L, digits), narrow}) {
            const float x_D = a.inner_x() + a.inner_w() - w_D, x_L = x_D - gap - w_L,
                        x_dO = std::min(s.x[1], x_L - gap - d * s.cw);
            const float w_O = std::min(s.cw, (x_dO - gap - s.x[0]) / d);
            if (w_O >= narrowest) return {s.x[0], w_O, x_dO, x_L, w_L, x_D, w_D, digits};
        }
    }
    return even;
}

void inputs(const Canvas& c, AppState& state, const Shelf& s, const MiddleRow& middle, const Place& at) {
    const Problem& p = *state.problem;
    const int N = p.N(), M = p.N_kv(), d = p.d();
    thumb(c, state, {Slot::Q, true, N, d, p.Br, s.x[0], s.y[0], s.cw, s.qh, at.i, at.skipped});
    thumb(c, state, {Slot::K, true, M, d, p.Bc, s.x[1], s.y[0], s.cw, s.kh, at.j, at.skipped});
    thumb(c, state, {Slot::V, true, M, d, p.Bc, s.x[2], s.y[0], s.cw, s.kh, at.j, at.skipped});
    const MiddleRow& m = middle;
    const float y = s.y[1];
    thumb(c, state, {Slot::O, true, N, d, p.Br, m.x_O, y, m.w_O, s.qh, at.i, true});
    thumb(c, state, {Slot::dO, true, N, d, p.Br, m.x_dO, y, s.cw, s.qh, at.i, at.skipped});
    thumb(c, state, {Slot::L, true, N, 1, p.Br, m.x_L, y, m.w_L, s.qh, at.i, at.skipped, m.digits});
    thumb(c, state, {Slot::D, false, N, 1, p.Br, m.x_D, y, m.w_D, s.qh, at.i, false, m.digits});
}

void gradients(const Canvas& c, AppState& state, const Shelf& s, const Place& at) {
    const Problem& p = *state.problem;
    const int N = p.N(), M = p.N_kv(), d = p.d();
    thumb(c, state, {Slot::dQ, false, N, d, p.Br, s.x[0], s.y[2], s.cw, s.qh, at.i});
    thumb(c, state, {Slot::dK, false, M, d, p.Bc, s.x[1], s.y[2], s.cw, s.kh, at.j});
    thumb(c, state, {Slot::dV, false, M, d, p.Bc, s.x[2], s.y[2], s.cw, s.kh, at.j});
}

Line never_here(float w) {
    const Span comma = word(", ");
    return {symbol("P", Role::S),  comma,
            symbol("dP", Role::S), comma,
            symbol("dS", Role::S), word(w < 250 ? " stay on chip" : " never reach HBM")};
}

}  // namespace

void backward_hbm(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "HBM", a, "HBM", hbm_subtitle(state, a));
    sink_in_title(c, state, a);
    const Problem& p = *state.problem;
    const Step& step = step_now(state);
    // At the end of a lane all inner blocks have passed.
    const bool keys = p.options.order == BackwardOrder::key_outer, end = step.op == Op::store;
    const Place at{end && keys ? p.Tr() : step.i, end && !keys ? p.Tc() : step.j, step.op == Op::skip};
    const float lower = a.h < 460 ? 122.0f : a.h < 560 ? 150.0f : 232.0f;  // the ghost section
    const Shelf s = shelf(p, a, lower);
    inputs(c, state, s, middle_row(state, s, a), at);
    gradients(c, state, s, at);
    const auto rows = px(std::max(p.N(), p.N_kv()));
    const float bottom = s.y[2] + s.qh * rows;
    const float rule = std::max(bottom + (a.h > from::high_hbm ? 28.0f : 12.0f), a.bottom() - lower);
    const Slot growing = keys ? Slot::dQ : Slot::dK;
    if (rule - bottom >= 25 && still_growing(state, growing)) draw_growing(c, a, bottom);
    ghost_section(c, state, a, rule, never_here(a.w),
                  keys ? "Columns first: each key block is on chip once, dQ goes through HBM."
                       : "Rows first: each query block is on chip once, dK and dV go through HBM.");
}

}  // namespace tilewalk::ui

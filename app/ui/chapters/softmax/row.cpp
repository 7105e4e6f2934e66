// The row that the lesson is about: scores x and one column of V, element by element, as they lie in HBM.
#include "app/ui/chapters/softmax/parts.h"
#include "app/ui/kit/items.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

// One element of x or of V. Hovering shows it in full; a click goes to the step that loads it in this pass.
void element(const Canvas& c, AppState& state, const SoftmaxWalk& walk, Slot slot, int j, const Rect& a) {
    auto [ref, value, look] = softmax_element(state, walk, slot, j);
    look.hover = state.hover == ref;
    const MatrixDigits& all = state.look[slot].digits;
    std::string text = all.text(value);
    for (int digits = 3; digits >= 2 && text_width(Face::mono, size::small, text) > a.w - 4; --digits)
        text = all.text(value, digits);
    look.size = text_width(Face::mono, size::lead, text) <= a.w - 6 ? 15.0f : 13.0f;
    if (text_width(Face::mono, look.size, text) <= a.w - 4) look.text = text;
    cell(c, a.x, a.y, a.w, a.h, look);
    note_item(ItemKind::cell, c.device(a.x, a.y), c.device(a.right(), a.bottom()),
              std::string(info(slot).symbol) + "[" + str(ref.row) + "," + str(ref.col) + "]");
    const std::string id = std::string("##") + info(slot).name + str(j);
    const Hot hot = hot_area(c, id, a.x, a.y, a.w, a.h, ItemKind::panel);
    if (hot.hovered) state.hover_now = ref;
    if (!hot.clicked) return;
    state.player.playing = false;
    for (int k = 0; k < walk.trace.size(); ++k)
        if (walk.trace.step(k).op == Op::load_x && walk.trace.step(k).j == j &&
            walk.trace.step(k).phase == walk.step().phase)
            return go_to(state, at_step(walk.trace, k));
}

// "i = 3", with its word where there is one and room for it.
std::string heading(const std::string& word, int number, float room) {
    std::string i = (room >= 54 ? "i = " : "") + str(number);
    for (const std::string& text : {i + "  " + word, str(number) + " " + word})
        if (!word.empty() && text_width(Face::semibold, size::small, text) <= room - 6) return text;
    return i;
}

// Which row; returns the width that it took.
float row_choice(const Canvas& c, AppState& state, const SoftmaxWalk& walk, const Rect& a) {
    const bool low = a.h < 84;
    const float w = a.w < 900 ? 172 : 190;
    int row = walk.row();
    const std::string word = walk.trace.problem().query_token(row);
    c.text_within(a.inner_x(), a.y + (low ? 18 : 24), w - 16,
                  word.empty() ? "One row of scores" : "Scores of “" + word + "”", size::lead, 0,
                  Face::semibold);
    const float y = a.y + (low ? 31 : 46);
    const float label = c.text(a.inner_x(), y + 16, "row", size::body, c.theme->t2) + 8;
    if (stepper(c, "##softmax row", a.inner_x() + label, y, std::min(122.0f, w - 16 - label), row, 0,
                state.problem->N() - 1)) {
        Options options = latest_problem(state).options;
        choose_row(options, row, state.problem->N());
        set_options(state, options);
    }
    return w;
}

// In words, what the current element is about.
void words(const Canvas& c, const AppState& state, const SoftmaxWalk& walk, float x, float w, float y1,
           float y2) {
    const Held S = walk.trace.live(Slot::S, walk.k);
    const int n = walk.element();
    if (n == 0 || !S || w < 120) {
        if (w >= 120)
            c.text_within(x, (y1 + y2) / 2, w,
                          n == 0 && walk.k + 1 == walk.trace.size() ? "the row is done"
                                                                    : "no element on chip yet",
                          size::body, c.theme->t2);
        return;
    }
    const auto fit = [&](float y, Line line, const std::string& more) {
        if (rich_width(c, line, size::lead) + text_width(Face::regular, size::body, more) + 6 <= w)
            line.push_back(word(more));
        c.rich(x, y, line, size::lead);
    };
    const double score = S.value->data(0, 0);
    const std::string index = str(n - 1);
    const Line line = pieces(softmax_score(index), " = ", number(format_short(score)));
    const int rise = walk.trace.live(Slot::m, walk.k).step;
    std::string more;
    if (std::isinf(score)) {
        more = overflowed(walk, n - 1, score) ? "  beyond the format" : "  hidden by the mask";
    } else if (rise >= 0 && walk.trace.step(rise).op == Op::new_max && walk.trace.step(rise).j == n - 1 &&
               walk.trace.step(rise).phase == walk.step().phase) {
        const double before = walk.number(Slot::m, rise - 1), now = walk.number(Slot::m, rise);
        more = std::isinf(before) ? "  the first score"
               : now > before     ? "  beats the old max " + format_short(before)
                                  : "  below the max " + format_short(now);
        if (now == before && score == now) more = "  ties with the max";
    }
    fit(y1, line, more);
    const Held V = walk.trace.live(Slot::Vj, walk.k);
    if (!V || walk.trace.step(V.step).j != n - 1) {
        const Line value = pieces(softmax_value(index), " is not needed in this pass");
        if (rich_width(c, value, size::lead) <= w) c.rich(x, y2, value, size::lead);
        return;
    }
    Line value = softmax_value(index);
    if (walk.trace.problem().d() > 1) value.push_back(word("[" + str(state.softmax.component) + "]"));
    fit(y2, pieces(value, " = ", number(format_short(V.value->data(0, state.softmax.component)))), "");
}

}  // namespace

void softmax_row_panel(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Row", a);
    const SoftmaxWalk walk = softmax_walk(state);
    const float left = a.x + row_choice(c, state, walk, a) + 26;
    // Where not all elements have room, there is some to say of how many.
    const bool cut = px(walk.N()) * 54 > a.inner_right() - left;
    const float note = a.w >= 900 ? std::min(320.0f, a.w * .27f) : cut ? 44.0f : 0.0f;
    const float room = a.inner_right() - note - left;
    const float head = a.h < 72 ? 18.0f : 22.0f, gap = 4, ch = (a.h - head - gap - 8) / 2;
    const ElementWindow view = window_around(walk.element(), walk.N(), static_cast<int>(room / 54));
    const float cw = std::min(102.0f, room / px(view.count));
    const float y1 = a.y + head, y2 = y1 + ch + gap;
    c.rich(left - 10, y1 + ch / 2, {symbol("x", Role::S)}, size::symbol, Align::right);
    c.rich(left - 10, y2 + ch / 2, {symbol("V", Role::V)}, size::symbol, Align::right);
    for (int n = 0; n < view.count; ++n) {
        const int j = view.first + n;
        const float x = left + px(n) * cw;
        const bool now = walk.element() == j + 1;
        if (now) c.rect(x + 1, a.y + 3, cw - 2, a.h - 6, c.theme->raised, 8);
        const std::string label = heading(walk.trace.problem().key_token(j), j, cw);
        c.text(x + cw / 2, a.y + head / 2 + 2, label, size::small, now ? c.theme->t1 : c.theme->t3,
               now ? Face::semibold : Face::regular, Align::center);
        element(c, state, walk, Slot::x, j, {x + 3, y1, cw - 6, ch});
        element(c, state, walk, Slot::V, j, {x + 3, y2, cw - 6, ch});
    }
    const float end = left + cw * px(view.count);
    if (view.count < walk.N())
        c.text_within(end + 8, a.y + head / 2 + 2, a.right() - end - 16, "of " + str(walk.N()), size::small,
                      c.theme->t3);
    words(c, state, walk, end + 26, a.inner_right() - end - 26, y1 + ch / 2, y2 + ch / 2);
}

}  // namespace tilewalk::ui

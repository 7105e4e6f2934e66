// What ldmatrix does: eight lanes name the rows of a matrix, and each row is dealt out to the lanes of the
// warp.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

using inside::Op;

constexpr int eight = 8, matrices = 4;

/// Who gets the number in a row and column of a matrix, and in which half of the register that the matrix
/// fills.
struct Receiver {
    int lane = 0, half = 0;
};
Receiver receiver_of(int row, int column, bool transposed) {
    for (int lane = 0; lane < 32; ++lane)
        for (int half = 0; half < 2; ++half) {
            const inside::MatrixSource from = inside::source_of_register(lane, 0, half, transposed);
            if (from.lane == row && from.byte == 2 * column) return {lane, half};
        }
    return {};
}

std::uint32_t receivers_of_row(int row, bool transposed) {
    std::uint32_t lanes = 0;
    for (int column = 0; column < eight; ++column) lanes |= 1u << receiver_of(row, column, transposed).lane;
    return lanes;
}

struct MatrixSheet {
    int number;
    Rect area;
    float w, h;
    Rect cell(int row, int column) const { return {area.x + px(column) * w, area.y + px(row) * h, w, h}; }
};

void draw_cells_of(const Canvas& c, const MatrixSheet& s, const InsidePlace& at, bool transposed) {
    const Theme& t = *c.theme;
    const ImU32 hue = hue_of(t, at.origins().matter(at.n)), own = legible_fill(t, hue, .92f);
    for (int row = 0; row < eight; ++row)
        for (int column = 0; column < eight; ++column) {
            const Receiver to = receiver_of(row, column, transposed);
            if (to.half == 1) continue;  // drawn with its neighbour of the same register
            const Rect first = s.cell(row, column);
            const Rect pair{first.x, first.y, transposed ? s.w : 2 * s.w, transposed ? 2 * s.h : s.h};
            const bool mine = to.lane == at.lane;
            c.rect(pair.x + 1, pair.y + 1, pair.w - 2, pair.h - 2, mine ? own : mix(t.panel, hue, .16f),
                   radius::bar);
            if (mine) c.frame(pair.x, pair.y, pair.w, pair.h, t.focus, 2, radius::bar);
            const Face face = mine ? Face::mono_bold : Face::mono;
            if (pair.h < size::small - 1 || pair.w < text_width(face, size::small, "00") + 1) continue;
            const auto write = [&](float y) {
                c.text(pair.x + pair.w / 2, y, str(to.lane), size::small, mine ? ink_on(t, own) : t.t2, face,
                       Align::center);
            };
            // One below the other each in its row, where rows are high enough
            const bool apart = transposed && s.h > size::small;
            write(apart ? first.middle() : pair.middle());
            if (apart) write(first.middle() + s.h);
        }
}

// At the left of each row the lane that names it; the chosen lane's leads to its row and on to who gets it.
void draw_givers(const Canvas& c, const MatrixSheet& s, const InsidePlace& at, bool transposed) {
    const Theme& t = *c.theme;
    for (int row = 0; row < eight; ++row) {
        const int giver = eight * s.number + row;
        const bool chosen = giver == at.lane;
        const Rect line{s.area.x, s.cell(row, 0).y, s.area.w, s.h};
        // Every other one where rows are low
        const int apart = s.h < size::small + 1 ? 2 : 1, from_chosen = std::abs(giver - at.lane);
        if (chosen || (row % apart == 0 && from_chosen >= apart))
            c.text(s.area.x - 12, line.middle(), str(giver), size::small, chosen ? t.t1 : t.t3,
                   chosen ? Face::mono_bold : Face::mono, Align::right);
        if (!chosen) continue;
        c.frame(line.x - 2, line.y, line.w + 4, line.h, t.t1, 2, radius::bar);
        c.polygon({{s.area.x - 10, line.middle() - 4},
                   {s.area.x - 10, line.middle() + 4},
                   {s.area.x - 3, line.middle()}},
                  t.t1);
        c.text_within(s.area.x + s.area.w / 2, s.area.bottom() + size::small * .9f + 2, s.area.w + 40,
                      "row " + str(row) + " → lanes " +
                          inside::spaced_lanes(receivers_of_row(row, transposed)),
                      size::small, t.t1, Align::center);
    }
}

void answer_matrix(const Canvas& c, AppState& state, const MatrixSheet& s, bool transposed) {
    const Hot hot =
        hot_area(c, "##matrix " + str(s.number), s.area.x - 30, s.area.y, s.area.w + 30, s.area.h);
    const Point mouse = c.mouse();
    const int row = std::clamp(static_cast<int>((mouse.y - s.area.y) / s.h), 0, eight - 1),
              column = std::clamp(static_cast<int>((mouse.x - s.area.x) / s.w), 0, eight - 1),
              giver = eight * s.number + row, receiver = receiver_of(row, column, transposed).lane;
    if (hot.hovered)
        tooltip(c, "Lane " + str(giver) + " names this row; this number goes to lane " + str(receiver) +
                       ", register " + str(s.number) +
                       ". Click: that lane, left of the matrix the one that names it.");
    if (hot.clicked) choose_lane(state, mouse.x < s.area.x ? giver : receiver);
}

}  // namespace

bool shows_dealing(const InsidePlace& at) {
    return (at.event->op == Op::load_matrices || at.event->op == Op::load_transposed) &&
           at.event->lanes == inside::whole_warp;
}

std::string dealing_sentence(const InsidePlace& at) {
    const bool transposed = at.event->op == Op::load_transposed;
    return "Lane " + str(at.lane) + " names row " + str(at.lane % eight) + " of matrix " +
           str(at.lane / eight) + "; its numbers go to lanes " +
           inside::spaced_lanes(receivers_of_row(at.lane % eight, transposed)) + ".";
}

void draw_dealing(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    const Theme& t = *c.theme;
    const bool transposed = at.event->op == Op::load_transposed;
    constexpr float head = 22, foot = 22, labels = 34, gap = 14, top = 22;
    // All beside each other where there is room for it, or where rows would be lower than their numbers.
    const bool low = (a.h - top) / 2 - head - foot < eight * (size::small + 1),
               narrow = (a.w - gap * (matrices - 1)) / matrices - labels < .8f * eight * size::small;
    const int across = a.w > 2.6f * a.h || (low && !narrow) ? matrices : matrices / 2,
              down = matrices / across;
    const std::string
        whole = "left of a row the lane that names its address; in it who gets the numbers, two each "
                "in one register",
        brief = "left: who names a row; in it: who gets its numbers";
    c.text_within(a.x, a.y + 8, a.w, text_width(Face::regular, size::small, whole) <= a.w ? whole : brief,
                  size::small, t.t3);
    const float part_w = (a.w - gap * px(across - 1)) / px(across), part_h = (a.h - top) / px(down);
    const float h = std::floor(std::min((part_h - head - foot) / eight, 26.0f)),
                w = std::floor(std::min((part_w - labels) / eight, h * 1.9f));
    for (int n = 0; n < matrices; ++n) {
        const float x = a.x + px(n % across) * (part_w + gap) + labels + (part_w - labels - eight * w) / 2,
                    y = a.y + top + px(n / across) * part_h + head;
        const MatrixSheet s{n, {x, y, eight * w, eight * h}, w, h};
        c.text(x, y - head / 2, "matrix " + str(n), size::small, t.t2, Face::semibold);
        const std::string reg = "register " + str(n);
        if (text_width(Face::regular, size::small, reg) + 70 < s.area.w)
            c.text(s.area.right(), y - head / 2, reg, size::small, t.t3, Align::right);
        draw_cells_of(c, s, at, transposed);
        draw_givers(c, s, at, transposed);
        answer_matrix(c, state, s, transposed);
    }
}

}  // namespace tilewalk::ui

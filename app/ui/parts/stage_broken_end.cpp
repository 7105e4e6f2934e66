// What a pane leads to: one element of the result, and which rows of it are wrong.
#include "app/ui/parts/matrix.h"
#include "app/ui/parts/stage_broken_pane.h"
#include "core/base/numbers.h"

#include <algorithm>

namespace tilewalk::ui::panes {

namespace {

constexpr float most_cell = 26;  // of the map of the result
constexpr float end_mark = 28;   // over the corner of a wrong result

// How far the result is off, below where it comes from; without the part of the whole where there is no room.
void draw_end_difference(const Pane& p, float y) {
    const double truth = p.step.truth.end, broken = p.step.broken.end;
    // At the foot stands how far the same element is off so far, maybe the other way.
    const bool in_words = p.step.on_its_way();
    const Line lead = in_words ? Line{} : pieces("Δ", slot_symbol(p.step.end.slot), " ");
    const float lead_w = rich_width(p.c, lead, size::far);
    for (const bool percent : {true, false}) {
        const std::string text = in_words ? difference_words(truth, broken, p.rounded, percent)
                                          : difference_text(truth, broken, percent);
        const float w = lead_w + text_width(Face::regular, size::far, text);
        if (w > end_w) continue;
        clear_ground(p.c, p.right() - w, y, w, 36);
        p.c.rich(p.right() - w, y, lead, size::far);
        p.c.text(p.right(), y, text, size::far, same_number(truth, broken) ? p.theme().t1 : p.alarm(),
                 Align::right);
        return;
    }
}

// Hatched, and a frame round those that follow each other; thin rows are only coloured.
void draw_wrong_rows(const Pane& p, const Rect& map, float row_h) {
    const auto wrong = [&](int r) { return bool(p.step.wrong_rows[static_cast<std::size_t>(r)]); };
    const int rows = static_cast<int>(p.step.wrong_rows.size());
    for (int r = 0, end; r < rows; r = end) {
        end = r + 1;
        if (!wrong(r)) continue;
        while (end < rows && wrong(end)) ++end;
        const float y = map.y + row_h * px(r), h = row_h * px(end - r);
        if (row_h < 8) {
            p.c.rect(map.x, y, map.w, h, with_alpha(p.alarm(), .75f));
            continue;
        }
        p.c.hatch(map.x + 1, y + 1, map.w - 2, h - 2, p.alarm(), 10, 2);
        p.c.frame(map.x - 1, y - 1, map.w + 2, h + 2, p.alarm(), 2.4f, 4);
    }
}

}  // namespace

void draw_end(const Pane& p) {
    const Canvas& c = p.c;
    const Theme& t = p.theme();
    const CellRef& end = p.step.end;
    const Line heading = pieces(named(*p.side.trace, end, -1), " at the end");
    const float heading_size = fitting_size(c, heading, end_w, {30, size::far});
    clear_ground(c, p.end_x(), p.a.y + 36, end_w, 44);
    c.rich(p.right(), p.a.y + 36, heading, heading_size, Align::right);

    const float y = p.a.y + 64, h = 64;
    const bool wrong = p.broken && !same_number(p.step.truth.end, p.step.broken.end);
    const ImU32 fill = ramp(t, info(end.slot).role, .8f);
    c.rect(p.end_x(), y, end_w, h, fill, radius::card);
    if (wrong) c.frame(p.end_x(), y, end_w, h, p.alarm(), p.faulty() ? 4.0f : 3.0f, radius::card);
    if (wrong && p.faulty()) fault_mark(c, p.end_x() - end_mark / 2, y, end_mark);
    draw_shown(c, p.end_x() + end_w / 2, y + h / 2, shown(p, p.step.truth.end, p.step.broken.end),
               {value_size, ink_on(t, fill), Align::center, end_w - 16, p.broken});

    const Line& quotient = p.side.quotient;
    float below = y + h + 24;
    // A digit more than the element is wide reaches over its left edge.
    const float w = rich_width(c, quotient, size::far), over = std::max(0.0f, w - end_w);
    if (!quotient.empty() && over <= 18) {
        clear_ground(c, p.end_x() - over, below, end_w + over, 36);
        c.rich(p.end_x() - over + (end_w + over) / 2, below, quotient, size::far, Align::center);
        below += 36;
    }
    if (p.broken) draw_end_difference(p, below);
}

// Which rows of the result are wrong.
void draw_map(const Pane& p) {
    const Canvas& c = p.c;
    const Theme& t = p.theme();
    const Matrix& A = p.side.results;
    const int rows = static_cast<int>(A.rows()), cols = static_cast<int>(A.cols());
    const float top = p.a.y + 212, bottom = p.foot_y() - 46,
                ch = std::min(most_cell, (bottom - top) / px(rows)),
                cw = std::min(most_cell, (end_w - 64) / px(cols)), seam = std::min(cw, ch) > 8 ? 1.5f : 0.0f;
    const float w = cw * px(cols), x = p.right() - w, y = bottom - ch * px(rows);
    if (ch <= 0) return;
    clear_ground(c, x - 50, (y + bottom) / 2, w + 50, bottom - y + 8);
    const Role role = info(p.step.end.slot).role;
    const ImU32 fill = ramp(t, role, .7f);
    for (int r = 0; r < rows; ++r)
        for (int k = 0; k < cols; ++k)
            c.rect(x + cw * px(k) + seam, y + ch * px(r) + seam, cw - 2 * seam, ch - 2 * seam, fill,
                   seam > 0 ? 3.0f : 0.0f);
    if (p.broken) draw_wrong_rows(p, {x, y, w, bottom - y}, ch);
    const float cell_y = y + ch * px(p.step.end.row - p.step.first_row), cell_x = x + cw * px(p.step.end.col);
    if (ch >= 8 && cw >= 8) c.frame(cell_x + 1, cell_y + 1, cw - 2, ch - 2, t.focus, 2, 3);
    c.rich(x - 14, (y + bottom) / 2, slot_symbol(p.step.end.slot), size::far_symbol, Align::right);

    const std::string of = str(p.step.wrong_count()) + " of " + str(rows);
    const bool one = rows == 1;  // of a lesson about one row
    const std::string one_row = p.step.wrong_count() == 0 ? "the row is right"
                                : p.rounded               ? "the row differs"
                                                          : "the row is wrong";
    const std::string long_words = one ? one_row : of + (p.rounded ? " rows differ" : " rows wrong");
    const bool fits = text_width(Face::regular, size::far, long_words) <= end_w;
    const std::string short_words = of + (p.rounded ? " differ" : " wrong");
    const std::string text = !p.broken ? (p.rounded ? "exact"
                                          : one     ? "the row is right"
                                                    : "all rows right")
                             : fits    ? long_words
                                       : short_words;
    const float text_w = text_width(Face::regular, size::far, text);
    clear_ground(c, p.right() - text_w, p.foot_y() - 22, text_w, 36);
    c.text(p.right(), p.foot_y() - 22, text, size::far, p.broken && p.step.wrong_count() ? p.alarm() : t.t2,
           Align::right);
}

}  // namespace tilewalk::ui::panes

// The sums of products in the background: what the warp holds when it has waited for them, as a whole, and
// eight columns of it with the lanes that hold them. Before the wait they are shown as what they will be, and
// hatched: the record has no numbers that nobody may look at.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/chapters/inside/ways.h"
#include "app/ui/kit/items.h"
#include "app/ui/state/quiz.h"
#include "core/base/numbers.h"
#include "core/inside/words.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace tilewalk::ui {

namespace {

using inside::FragmentCell;
using inside::Matter;
using inside::TileSums;

constexpr int all_rows = 16, eight = 8;

/// The sums at hand: their values, and what they are.
struct Sums {
    TileSums values;
    inside::NamedSums named;
    int lane, reg;
    int step;    ///< that has them
    bool there;  ///< this step, or a later one
    FragmentCell cell() const { return TileSums::cell(lane, reg); }
    int first_column() const { return cell().column / eight * eight; }
};

Sums sums_at(AppState& state, const InsidePlace& at) {
    const InsideWays& ways = inside_ways(state, at);
    const inside::Event& wait = at.block().events[at.steps().event(at.warp, ways.sums_step)];
    const TileSums values(wait, at.block().words_of(wait));
    return {values,         ways.sums,
            at.lane,        std::clamp(state.inside.cell, 0, values.registers() - 1),
            ways.sums_step, ways.sums_step == at.k};
}

/// Cells of the sums from a column on.
struct SumsSheet {
    Rect area;
    float w, h;
    int first, columns;
    int first_row = 0, rows = all_rows;
    Rect cell(int row, int column) const {
        return {area.x + px(column - first) * w, area.y + px(row - first_row) * h, w, h};
    }
};

float largest(const TileSums& sums) {
    float most = 0;
    for (int row = 0; row < all_rows; ++row)
        for (int column = 0; column < sums.columns(); ++column)
            if (const float v = std::fabs(sums.value(row, column)); std::isfinite(v))
                most = std::max(most, v);
    return most;
}

ImU32 sum_fill(const Theme& t, Matter matter, float value, float most) {
    const Role role = role_of(matter);
    const float part = most > 0 && std::isfinite(value) ? std::clamp(value / most, -1.0f, 1.0f) : 0;
    return signed_ramp(t, role == Role::none ? Role::S : role, part);
}

void draw_cells(const Canvas& c, const SumsSheet& s, const Sums& sums, float most) {
    const Theme& t = *c.theme;
    const float gap = s.w >= 5 ? 1 : 0;
    for (int row = s.first_row; row < s.first_row + s.rows; ++row)
        for (int column = s.first; column < s.first + s.columns; ++column) {
            const Rect at = s.cell(row, column);
            c.rect(at.x + gap / 2, at.y + .5f, at.w - gap, at.h - 1,
                   sum_fill(t, sums.named.C, sums.values.value(row, column), most), gap > 0 ? 2 : 0);
        }
    if (!sums.there) c.hatch(s.area.x, s.area.y, s.area.w, s.area.h, with_alpha(t.panel, .75f), 7, 2.5f);
}

// All that the warp has: the lane's pairs, and the eight columns that are shown larger.
void draw_whole(const Canvas& c, const SumsSheet& s, const Sums& sums, const InsideLook& look) {
    const Theme& t = *c.theme;
    for (int column = eight; column < s.columns; column += eight)
        c.line({s.cell(0, column).x, s.area.y}, {s.cell(0, column).x, s.area.bottom()}, t.line2, 1);
    c.line({s.area.x, s.cell(all_rows / 2, 0).y}, {s.area.right(), s.cell(all_rows / 2, 0).y}, t.line2, 1);
    for (int reg = 0; reg < sums.values.registers(); reg += 2) {
        const FragmentCell cell = TileSums::cell(sums.lane, reg);
        const Rect at = s.cell(cell.row, cell.column);
        c.frame(at.x, at.y, 2 * at.w, at.h, t.focus, 1.25f * look.line, 1);
    }
    const Rect from = s.cell(0, sums.first_column());
    c.frame(from.x - 1, s.area.y - 3, eight * s.w + 2, s.area.h + 6, t.t1, 1.5f * look.line, radius::cell);
    c.frame(s.area.x - 3, s.area.y - 3, s.area.w + 6, s.area.h + 6, t.focus, 2 * look.line, radius::cell);
}

// Eight columns: each pair has its lane, the chosen sum its number.
void draw_eight(const Canvas& c, const SumsSheet& s, const Sums& sums, const InsideLook& look) {
    const Theme& t = *c.theme;
    const FragmentCell chosen = sums.cell();
    for (int row = s.first_row; row < s.first_row + s.rows; ++row)
        for (int column = s.first; column < s.first + eight; column += 2) {
            const int owner = TileSums::holder(row, column).lane;
            const Rect from = s.cell(row, column), pair{from.x, from.y, 2 * s.w, s.h};
            const bool own = owner == sums.lane, quad = owner / 4 == sums.lane / 4;
            const ImU32 fill = legible_fill(t, hue_of(t, sums.named.C), .92f);
            if (own) c.rect(pair.x + 1, pair.y + 1, pair.w - 2, pair.h - 2, fill, radius::bar);
            c.frame(pair.x + 1, pair.y + 1, pair.w - 2, pair.h - 2,
                    own    ? t.focus
                    : quad ? t.line2
                           : t.line,
                    (own ? 2.0f : 1.0f) * look.line, radius::bar);
            if (pair.h < look.number - 1) continue;
            const Rect number = own && chosen.row == row && chosen.column / 2 == column / 2
                                    ? s.cell(row, chosen.column ^ 1)
                                    : pair;
            c.text(number.x + number.w / 2, number.middle(), str(owner), look.number,
                   own    ? ink_on(t, fill)
                   : quad ? t.t1
                          : t.t3,
                   own ? Face::mono_bold : Face::mono, Align::center);
        }
    const Rect at = s.cell(chosen.row, chosen.column);
    c.rect(at.x + 2, at.y + 2, at.w - 4, at.h - 4, t.focus, 2);
    c.frame(s.area.x - 3, s.area.y - 3, s.area.w + 6, s.area.h + 6, t.t1, 1.5f * look.line, radius::cell);
}

// What the columns of the sums count.
std::string columns_of(const inside::NamedSums& named) {
    if (named.of_registers) return "columns ";
    return named.B == Matter::Q || named.B == Matter::dO ? "queries " : "keys ";
}

// Rows at the left, columns below.
void draw_indices(const Canvas& c, const SumsSheet& s, const Sums& sums, bool with_rows,
                  const InsideLook& look) {
    const Theme& t = *c.theme;
    if (!sums.named.known()) return;
    if (with_rows)
        for (const int row : std::set<int>{0, sums.cell().row, all_rows - 1}) {
            const bool chosen = row == sums.cell().row;
            if (!chosen && px(std::abs(row - sums.cell().row)) * s.h < look.small + 1) continue;
            c.text(s.area.x - 8, s.cell(row, s.first).middle(), str(sums.named.row + row), look.small,
                   chosen ? t.t1 : t.t3, Face::mono, Align::right);
        }
    const int first = sums.named.column + s.first;
    c.text_within(s.area.x + s.area.w / 2, s.area.bottom() + look.small * .8f + 4, s.area.w + 30,
                  columns_of(sums.named) + range_text(first, first + s.columns - 1), look.small, t.t3,
                  Align::center);
}

void draw_heads(const Canvas& c, const SumsSheet& whole, const SumsSheet& eighth, const Sums& sums, float y,
                const InsidePlace& at, const InsideLook& look) {
    const Theme& t = *c.theme;
    float x = whole.area.x;
    x += 8 + c.rich(x, y, matter_line(sums.named.C, "C"), look.far ? look.small : 17);
    const std::string size = "16 × " + str(sums.values.columns());
    c.text_within(x, y, whole.area.right() - x,
                  sums.there ? size + ", as the warp holds it from here on"
                             : size + ", there in " + counted(sums.step - at.k, "step"),
                  look.small, t.t2);
    c.text_within(eighth.area.right(), y, eighth.area.w + 20, look.far ? "lane" : "whose lane", look.small,
                  t.t3, Align::right);
}

std::string sum_tip(const InsidePlace& at, const Sums& sums, const FragmentCell& cell) {
    const inside::Holder h = TileSums::holder(cell.row, cell.column);
    std::string text = "row " + str(std::max(0, sums.named.row) + cell.row) + ", column " +
                       str(std::max(0, sums.named.column) + cell.column) + ": " +
                       format_full(sums.values.value(cell.row, cell.column)) + "; lane " + str(h.lane) +
                       ", register " + str(h.reg) + " of " + str(sums.values.registers());
    return sums.there
               ? text
               : text + "; not before step " + format_count(sums.step + 1) + " of warp " + str(at.warp);
}

void answer_sums(const Canvas& c, AppState& state, const SumsSheet& s, const Sums& sums,
                 const InsidePlace& at, const char* id) {
    const Hot hot = hot_area(c, id, s.area.x, s.area.y, s.area.w, s.area.h);
    const Point mouse = c.mouse();
    if (!s.area.contains(mouse)) return;
    const FragmentCell cell{std::min(all_rows - 1, static_cast<int>((mouse.y - s.area.y) / s.h)),
                            s.first + std::min(s.columns - 1, static_cast<int>((mouse.x - s.area.x) / s.w))};
    if (hot.hovered) tooltip(c, sum_tip(at, sums, cell));
    if (!hot.clicked) return;
    const inside::Holder h = TileSums::holder(cell.row, cell.column);
    choose_lane(state, h.lane);
    state.inside.cell = h.reg;
}

}  // namespace

void draw_sums(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at,
               const InsideLook& look) {
    const Sums sums = sums_at(state, at);
    const float head = look.small * 2.0f, foot = look.small * 1.7f, labels = look.small * 2.6f;
    const float h = std::min((a.h - head - foot) / all_rows, look.far ? 34.0f : 26.0f);
    const float gap = look.small * 3;
    const float eighth_w = std::min(std::floor((a.w - labels) * .3f), 8 * h * 1.9f);
    const float whole_w = std::min(a.w - labels - gap - eighth_w - 6, px(sums.values.columns()) * h);
    const float y = a.y + head;
    const SumsSheet whole{{a.x + labels, y, whole_w, all_rows * h},
                          whole_w / px(sums.values.columns()),
                          h,
                          0,
                          sums.values.columns()};
    // For the back row those eight rows that the chosen sum lies in
    const int shown = look.far ? all_rows / 2 : all_rows;
    const SumsSheet eighth{{whole.area.right() + gap, y, eighth_w, all_rows * h},
                           eighth_w / eight,
                           all_rows * h / px(shown),
                           sums.first_column(),
                           eight,
                           sums.cell().row / shown * shown,
                           shown};
    const float most = largest(sums.values);
    for (const SumsSheet* sheet : {&whole, &eighth}) draw_cells(c, *sheet, sums, most);
    draw_whole(c, whole, sums, look);
    if (!hides_lanes(state)) draw_eight(c, eighth, sums, look);
    // From the eight columns to where they are shown larger
    const float x = whole.cell(0, sums.first_column() + eight - 1).x + whole.w + 2;
    if (x < whole.area.right() - 2)
        c.line({whole.area.right() + 4, whole.area.middle()}, {eighth.area.x - 5, eighth.area.middle()},
               c.theme->t3, 1);
    draw_indices(c, whole, sums, true, look);
    draw_indices(c, eighth, sums, false, look);
    draw_heads(c, whole, eighth, sums, a.y + head / 2 - 4, at, look);
    if (look.far) return;
    answer_sums(c, state, whole, sums, at, "##sums");
    answer_sums(c, state, eighth, sums, at, "##eight sums");
}

Line sum_formula(AppState& state, const InsidePlace& at) {
    const Sums sums = sums_at(state, at);
    const Role role = role_of(sums.named.C);
    const FragmentCell cell = sums.cell();
    const std::string row = str(std::max(0, sums.named.row) + cell.row),
                      column = str(std::max(0, sums.named.column) + cell.column);
    const bool turned = sums.named.C == Matter::S && sums.named.A == Matter::K;
    const Line name =
        *inside::symbol_of(sums.named.C) ? matter_line(sums.named.C, "C") : pieces(symbol("C", role));
    return pieces(name, sub(turned ? column + ", " + row : row + ", " + column, role), word(" = "),
                  number(format_short(sums.values.value(cell.row, cell.column)), Role::none, true));
}

std::string sums_sentence(AppState& state, const InsidePlace& at) {
    const Sums sums = sums_at(state, at);
    const inside::NamedSums& named = sums.named;
    if (named.products == 0) return "";
    std::string text = counted(named.products, "product") + " of 16 terms each";
    text += named.begins_anew ? ", from zero" : ", and what was there before";
    if (named.C == Matter::S) text += "; no scale in it";
    return text;
}

float inside_sums(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    constexpr float row_h = 20;
    if (inside_ways(state, at).sums_step < 0 || a.h < 96) return 0;
    const Theme& t = *c.theme;
    const Sums sums = sums_at(state, at);
    const std::string how = sums_sentence(state, at);
    const float foot = how.empty() ? 0 : paragraph_height(a.w - 20, how, size::small, 2);
    const float h = 44 + foot;
    c.well(a.x, a.y, a.w, h, radius::panel);
    const Line formula = sum_formula(state, at);
    c.rich(a.x + 10, a.y + 22, formula, fitting_size(c, formula, a.w - 20, {18, 16, 14, 13}));
    if (!how.empty()) c.paragraph(a.x + 10, a.y + 40, a.w - 20, how, size::small, t.t2, 2);
    float y = a.y + h + 8;
    const auto lead = [&](const std::string& name, int k) {
        if (k < 0 || k == at.k || y + row_h > a.bottom()) return;
        const Rect box{a.x - 6, y - 1, a.w + 12, row_h};
        const Hot hot = hot_area(c, "##sums step " + str(k), box.x, box.y, box.w, box.h);
        if (hot.hovered) c.rect(box.x, box.y, box.w, box.h, t.raised, radius::cell);
        const std::string far =
            k > at.k ? "in " + counted(k - at.k, "step") : counted(at.k - k, "step") + " ago";
        c.text(a.x, y + 9, name, size::small, t.t2);
        c.text(a.right(), y + 9, far, size::small, t.t1, Align::right);
        if (hot.clicked) state.inside.playing = false, state.inside.step = k;
        y += row_h;
    };
    lead("Its first product", sums.named.first);
    lead("Its last product", sums.named.last);
    lead("Waited for", sums.step);
    return y - a.y + 8;
}

}  // namespace tilewalk::ui

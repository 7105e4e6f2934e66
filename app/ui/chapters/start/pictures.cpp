#include "app/ui/chapters/start/pictures.h"

#include "app/ui/chapters/compare/compare.h"
#include "app/ui/chapters/scale/scale.h"
#include "app/ui/kit/canvas_cell.h"
#include "app/ui/parts/lens_parts.h"
#include "core/base/numbers.h"
#include "core/inside/fragments.h"

#include <algorithm>
#include <array>
#include <optional>

namespace tilewalk::ui {

namespace {

/// A matrix in small cells.
struct Cells {
    const Matrix& A;
    Role role;
    float x, y, w, h;               ///< of a cell
    int first = 0, last = 1 << 20;  ///< rows that are lit; the others are dim
    bool with_sign = false;
    CellState state = CellState::idle;
    float numbers = 0;  ///< their size; 0: none
    bool transposed = false;
};

void draw_cells(const Canvas& c, const Cells& m) {
    const double most = std::max(m.A.maxCoeff(), 0.0), least = std::min(m.A.minCoeff(), 0.0);
    const double range = m.with_sign ? std::max(most, -least) : most - least;
    for (int i = 0; i < m.A.rows(); ++i)
        for (int j = 0; j < m.A.cols(); ++j) {
            const double v = m.A(i, j);
            CellLook look{.state = m.state, .role = m.role, .with_sign = m.with_sign};
            look.t = range > 0 ? px((m.with_sign ? v : v - least) / range) : 0;
            look.dim = i < m.first || i > m.last;
            look.radius = std::min(radius::cell, m.w * .18f);
            const std::string text = m.numbers > 0 ? format_short(v, 3) : "";
            if (!text.empty() && text_width(Face::mono, m.numbers, text) < m.w - 6)
                look.text = text, look.size = m.numbers;
            const int across = m.transposed ? i : j, down = m.transposed ? j : i;
            cell(c, m.x + m.w * px(across), m.y + m.h * px(down), m.w, m.h, look);
        }
}

void outline(const Canvas& c, const Rect& a, ImU32 colour) {
    c.frame(a.x - 2, a.y - 2, a.w + 4, a.h + 4, colour, 2, 5);
}

/// A bar with its name and its number.
struct Row {
    std::string name, number;
    double value;
    ImU32 colour;
    bool hatched = false;
};

/// Where the names and the numbers of bars stand, the roomiest first.
enum class Labels { above, name_above_number_beside, beside, names_beside, names_above };

struct Widths {
    float name = 0, number = 0;
};

Widths widths_of(const std::vector<Row>& rows, float text) {
    Widths out;
    for (const Row& row : rows) {
        out.name = std::max(out.name, text_width(Face::regular, text, row.name));
        out.number = std::max(out.number, text_width(Face::mono, text, row.number));
    }
    return out;
}

// Nothing where not even the names have room.
std::optional<Labels> labels_for(const Widths& w, float line, float pitch, float room) {
    const float most_of_it = line > 2 * size::small ? .78f : .65f;
    if (pitch >= line + 9 && w.name + w.number + 10 <= room) return Labels::above;
    if (pitch >= 1.8f * line && w.number + 40 <= room) return Labels::name_above_number_beside;
    if (pitch >= line && w.name + w.number + 58 <= room) return Labels::beside;
    if (pitch >= line && w.name + 10 <= most_of_it * room) return Labels::names_beside;
    if (pitch >= line + 6 && w.name <= room) return Labels::names_above;
    return std::nullopt;
}

void bar(const Sheet& s, const Row& row, const Rect& a) {
    const Theme& t = *s.c.theme;
    if (!row.hatched) return s.c.rect(a.x, a.y, a.w, a.h, row.colour, 3);
    s.c.rect(a.x, a.y, a.w, a.h, mix(t.panel, t.t3, .3f), 3);
    s.c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, t.line2, 1, 3);
}

// Without names: the first bar and the last, each with its number, in it where that has room, else behind it.
void draw_two_rows(const Sheet& s, const std::vector<Row>& rows, const Rect& a) {
    const Theme& t = *s.c.theme;
    const float gap = 6, h = std::min(s.text() * 1.3f, (a.h - gap) / 2);
    const double most = std::max(rows.front().value, rows.back().value);
    float y = a.middle() - h - gap / 2;
    for (const Row* row : {&rows.front(), &rows.back()}) {
        const float w = std::max(3.0f, a.w * px(row->value / most)),
                    text = text_width(Face::mono, s.text(), row->number);
        bar(s, *row, {a.x, y, w, h});
        const bool within = text <= w + 2;
        const float x = a.x + (within ? std::min(8.0f, (w - text) / 2) : w + 8);
        if (x + text <= a.right() + 4)
            s.c.text(x, y + h / 2, row->number, s.text(),
                     within && !row->hatched ? ink_on(t, row->colour) : t.t1, Face::mono);
        y += h + gap;
    }
}

// Bars to one scale. Where all have no room, those in the middle go: the first and the last are compared.
void draw_rows(const Sheet& s, std::vector<Row> rows, const Rect& a) {
    if (s.big) return draw_two_rows(s, rows, a);
    const Theme& t = *s.c.theme;
    const float text = s.text(), line = text * 1.3f;
    Widths widths = widths_of(rows, text);
    std::optional<Labels> labels = labels_for(widths, line, a.h / px(rows.size()), a.w);
    while (!labels && rows.size() > 2) {
        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2));
        widths = widths_of(rows, text), labels = labels_for(widths, line, a.h / px(rows.size()), a.w);
    }
    if (!labels) return draw_two_rows(s, rows, a);
    const bool above = *labels == Labels::above || *labels == Labels::name_above_number_beside ||
                       *labels == Labels::names_above;
    const bool number_beside = *labels == Labels::name_above_number_beside || *labels == Labels::beside;
    const float pitch = a.h / px(rows.size()), x = above ? a.x : a.x + widths.name + 10;
    const float room = a.right() - x - (number_beside ? widths.number + 8 : 0);
    const float h = above ? std::min(14.0f, pitch - line - 4) : std::min(12.0f, pitch - 4);
    const double most = std::ranges::max(rows, {}, &Row::value).value;
    float y = a.y;
    for (const Row& row : rows) {
        const float w = std::max(2.0f, room * px(row.value / most));
        const float name = above ? y + line / 2 : y + pitch / 2;
        const float middle = !above ? name : number_beside ? y + line * 1.35f : y + line + h / 2;
        s.c.text(a.x, name, row.name, text, t.t2);
        bar(s, row, {x, middle - h / 2, w, h});
        if (*labels == Labels::above)
            s.c.text(a.right(), name, row.number, text, t.t1, Face::mono, Align::right);
        else if (number_beside)
            s.c.text(x + w + 8, middle, row.number, text, t.t1, Face::mono);
        y += pitch;
    }
}

/// Where the tile of the forward picture lies, with Q at its left and Kᵀ on its columns.
struct TileLayout {
    float x, y, cw;  ///< S, all its columns; cells are square
    float q_w, k_h;
};

// Round the tile: letters at the left, the loops at the right and below. On stage the rows that follow have
// no room.
TileLayout tile_layout(const Sheet& s) {
    const Problem& p = s.page.forward->problem();
    const float label = s.big ? 52 : 34, loop = s.big ? 0 : 44, below = s.big ? 44 : 32;
    const float rows = px(s.big ? p.Br : p.N());
    const float across = (s.area.w - label - loop - 12) / (px(p.N_kv()) + px(p.d()) * .42f),
                down = (s.area.h - below - 6) / (rows + px(p.d()) * .34f);
    TileLayout out;
    out.cw = std::floor(std::min({across, down, s.big ? 46.0f : 58.0f}));
    out.q_w = std::floor(out.cw * .42f), out.k_h = std::floor(out.cw * .34f);
    const float w = label + px(p.d()) * out.q_w + 10 + px(p.N_kv()) * out.cw + loop;
    const float h = px(p.d()) * out.k_h + 6 + rows * out.cw + below;
    out.x = s.area.x + (s.area.w - w) / 2 + label + px(p.d()) * out.q_w + 10;
    out.y = s.area.y + (s.area.h - h) / 2 + px(p.d()) * out.k_h + 6;
    return out;
}

// The rows of S below this query block.
void draw_rows_to_come(const Sheet& s, const TileLayout& at) {
    const Theme& t = *s.c.theme;
    const Problem& p = s.page.forward->problem();
    const float top = at.y + at.cw * px(p.Br), bottom = at.y + at.cw * px(p.N()),
                right = at.x + at.cw * px(p.N_kv());
    s.c.to_come(at.x + 1, top + 2, right - at.x - 2, bottom - top - 3);
    const Line never = pieces(symbol("S", Role::S), " and ", symbol("P", Role::S), " stay on chip");
    if (rich_width(s.c, never, size::small) < right - at.x - 8 && bottom - top > 22)
        s.c.rich(at.x + (right - at.x) / 2, (top + bottom) / 2, never, size::small, Align::center, t.t2);
}

// Along the keys within, down the queries outside.
void draw_loops(const Sheet& s, const TileLayout& at) {
    const Theme& t = *s.c.theme;
    const Problem& p = s.page.forward->problem();
    const float block = at.y + at.cw * px(p.Br), bottom = s.big ? block + 6 : at.y + at.cw * px(p.N()),
                end = s.big ? block + 42 : bottom - 2, right = at.x + at.cw * px(p.N_kv());
    const float y = bottom + (s.big ? 18.0f : 14.0f), x = at.x - at.q_w * 2 - 10;
    // On stage the words stand before the arrow: the row that is looked into leaves at the right.
    const float word_w = s.big ? text_width(Face::mono, s.text(), "for j") + 8 : 0;
    s.c.arrow({{at.x + 2 + word_w, y}, {right - 2, y}}, ArrowStyle::link, t.t1);
    s.c.text(s.big ? at.x : right + 7, y, "for j", s.text(), t.t2, Face::mono);
    s.c.arrow({{x, block + 8}, {x, end}}, ArrowStyle::link, t.t1);
    s.c.text(x - 9, (block + end) / 2 + 3, "for i", s.text(), t.t2, Face::mono, Align::right);
}

// A score of the row, as far as the walk has come.
std::optional<double> score(const StartPage& page, int key) {
    const Trace& trace = *page.forward;
    for (int k = 0; k <= page.step; ++k) {
        if (trace.step(k).op != Op::scores) continue;
        const Value& S = trace.value(trace.writes(k).front().value);
        if (S.region.contains(page.row, key)) return S.data(page.row - S.region.row, key - S.region.col);
    }
    return std::nullopt;
}

double of_row(const StartPage& page, Slot slot, int k) {
    const Value& value = held(*page.forward, slot, k);
    return value.data(page.row - value.region.row, 0);
}

// The step before the one that takes the new maximum: what it was.
int before_maximum(const StartPage& page) {
    int k = page.corrects;
    while (k > 0 && page.forward->step(k).op != Op::new_max) --k;
    return k - 1;
}

Stack sum_of(const StartPage& page) {
    const Value& P = held(*page.forward, Slot::P, page.step);
    Stack out{.symbol = Slot::l, .has_old = true};
    out.old = of_row(page, Slot::l, page.step - 1);
    out.alpha = of_row(page, Slot::alpha, page.step);
    out.parts.push_back({out.old * out.alpha, Role::l});
    for (int j = 0; j < P.region.cols; ++j)
        out.parts.push_back({P.data(page.row - P.region.row, j), Role::S});
    out.total = of_row(page, Slot::l, page.step);
    return out;
}

// The whole row of scores, the new ones lit, with m and α beside it.
void draw_row(const Sheet& s, const Rect& a) {
    const Theme& t = *s.c.theme;
    const Problem& p = s.page.forward->problem();
    const Value& S = held(*s.page.forward, Slot::S, s.page.step);
    const float cw = std::min(64.0f, (a.w - 122) / px(p.N_kv())), h = a.h - 24, y = a.y + 24;
    const float label = s.c.rich(a.x, a.y + 8, {symbol("S", Role::S)}, size::symbol);
    s.c.text(a.x + label + 7, a.y + 9, "row " + str(s.page.row), size::small, t.t3);
    for (int j = 0; j < p.N_kv(); ++j) {
        const auto v = score(s.page, j);
        const bool now = j >= S.region.col && j < S.region.col + S.region.cols;
        CellLook look{.state = !v    ? CellState::pending
                               : now ? CellState::idle
                                     : CellState::discarded,
                      .role = Role::S,
                      .dim = !now,
                      .size = size::lead};
        const std::string text = v ? format_short(*v, 3) : "";
        const double most = std::max(S.data.maxCoeff(), 1e-9);
        look.t = v ? std::clamp(px(*v / most), 0.0f, 1.0f) : 0;
        look.text = text;
        cell(s.c, a.x + cw * px(j), y, cw, h, look);
    }
    outline(s.c, {a.x + cw * px(S.region.col), y, cw * px(S.region.cols), h}, hue(t, Role::S));
    const float mx = a.x + cw * px(p.N_kv()) + 16, ax = a.right() - text_width(Face::mono_bold, 15, "0.368");
    s.c.rich(mx, a.y + 8, {symbol("m", Role::m)}, size::symbol);
    const double before = of_row(s.page, Slot::m, before_maximum(s.page));
    const float old = s.c.text(mx, y + h / 2, format_short(before, 3) + " → ", size::lead, t.t2, Face::mono);
    s.c.text(mx + old, y + h / 2, format_short(of_row(s.page, Slot::m, s.page.step), 3), size::lead, 0,
             Face::mono_bold);
    s.c.rich(ax, a.y + 8, {symbol("α", Role::alpha)}, size::symbol);
    s.c.text(ax, y + h / 2, format_number(of_row(s.page, Slot::alpha, s.page.step)), size::lead, 0,
             Face::mono_bold);
}

void draw_stack(const Canvas& c, const Stack& sum, const Rect& a, float growth) {
    const Enlarged large(c, {a.x, a.y}, growth);
    stack(large.c, {0, 0, a.w / growth, a.h / growth}, sum, extent(sum));
}

// On stage: the row of scores, the new ones lit, and how the maximum rises.
void draw_far_row(const Sheet& s, const Rect& a) {
    const Problem& p = s.page.forward->problem();
    const Value& S = held(*s.page.forward, Slot::S, s.page.step);
    const double old = of_row(s.page, Slot::m, before_maximum(s.page)),
                 now = of_row(s.page, Slot::m, s.page.step);
    const Line rises = pieces(slot_symbol(Slot::m), " ", number(format_short(old, 3)), " → ",
                              number(format_short(now, 3), Role::none, true));
    const float m_w = rich_width(s.c, rises, size::far_number);
    const float cw = std::min(48.0f, (a.w - m_w - 24) / px(p.N_kv()));
    for (int j = 0; j < p.N_kv(); ++j) {
        const auto v = score(s.page, j);
        const bool lit = j >= S.region.col && j < S.region.col + S.region.cols;
        const std::string text = v ? format_short(*v, 3) : "";
        CellLook look{.state = !v    ? CellState::pending
                               : lit ? CellState::idle
                                     : CellState::discarded,
                      .role = Role::S,
                      .dim = !lit,
                      .size = size::far_number,
                      .text = text};
        look.t = v ? std::clamp(px(*v / std::max(S.data.maxCoeff(), 1e-9)), 0.0f, 1.0f) : 0;
        cell(s.c, a.x + cw * px(j), a.y, cw, a.h, look);
    }
    outline(s.c, {a.x + cw * px(S.region.col), a.y, cw * px(S.region.cols), a.h}, hue(*s.c.theme, Role::S));
    s.c.rich(a.right(), a.middle(), rises, size::far_number, Align::right);
}

// Below it the old bar, what α leaves of it, and the new weights behind it.
void draw_far_sum(const Sheet& s, const Rect& a) {
    const Theme& t = *s.c.theme;
    const Stack sum = sum_of(s.page);
    const float unit = a.w / px(std::max(sum.total, sum.old)), h = std::min(44.0f, (a.h - 34) / 2);
    const float old = px(sum.old) * unit, kept = px(sum.old * sum.alpha) * unit, y = a.bottom() - h;
    const ImU32 l = hue(t, Role::l), alpha = hue(t, Role::alpha);
    s.c.rect(a.x, a.y, old, h, mix(t.well, l, .14f), 3);
    s.c.hatch(a.x + 1, a.y + 1, old - 2, h - 2, mix(t.well, t.t3, .5f), 8);
    s.c.frame(a.x, a.y, old, h, t.line2, 1, 3);
    const Line before = pieces("old ", slot_symbol(Slot::l), " ", number(format_number(sum.old)));
    if (const float w = rich_width(s.c, before, size::far); w + 20 < old) {
        s.c.rect(a.x + 6, a.y + 2, w + 8, h - 4, t.well, 3);
        s.c.rich(a.x + 10, a.y + h / 2, before, size::far, Align::left, t.t2);
    }
    s.c.polygon({{a.x, a.y + h}, {a.x + old, a.y + h}, {a.x + kept, y}, {a.x, y}}, with_alpha(alpha, .16f));
    s.c.line({a.x + old, a.y + h}, {a.x + kept, y}, alpha, 2);
    s.c.text(a.x + 10, (a.y + h + y) / 2, "× " + format_number(sum.alpha), size::far, alpha, Face::semibold);
    float x = a.x;
    for (const Part& part : sum.parts) {
        const float w = px(part.value) * unit;
        const ImU32 fill = mix(t.well, hue(t, part.role), .3f);
        s.c.rect(x + .5f, y, w - 1, h, fill, 3);
        s.c.frame(x + .5f, y, w - 1, h, hue(t, part.role), 2, 3);
        const std::string text = s.page.forward->digits(Slot::P).text(part.value);
        if (text_width(Face::mono, size::far, text) + 12 < w)
            s.c.text(x + w / 2, y + h / 2, text, size::far, ink_on(t, fill), Face::mono, Align::center);
        else if (x + w > a.right() - 2)  // the last one stands above its end
            s.c.text(a.right(), y - 17, text, size::far, t.t2, Face::mono, Align::right);
        x += w;
    }
}

}  // namespace

const Value& held(const Trace& trace, Slot slot, int k) { return *trace.live(slot, k).value; }

ImU32 ladder_colour(const Theme& t, std::size_t n, std::size_t count) {
    // The pair of all pages: what standard attention takes is grey, what flash takes is bright.
    if (n == 0) return t.t2;
    if (n + 1 == count) return t.t1;
    const float part = px(n) / px(count);
    return t.light ? cividis(.62f - .5f * part) : cividis(.42f + .3f * part);
}

void attention_picture(const Sheet& s) {
    const Theme& t = *s.c.theme;
    const Problem& p = s.page.forward->problem();
    const Step& step = s.page.forward->step(s.page.step);
    // On stage the letters stand beside the matrices: above them they would take most of the height.
    constexpr int count = 4, across = 2, down = 2;
    const float above = s.big ? 0 : 24, beside = s.big ? 36 : 0, gap = 18,
                foot = !s.big && s.area.h > 200 ? 28 : 0;
    const float n = px(std::max({p.N(), p.N_kv(), p.d()}));
    const float g = std::floor(std::min(
        {((s.area.w - gap - 8) / 2 - beside) / n, ((s.area.h - foot) / px(down) - above - 8) / n, 32.0f}));
    const float w = g * n + gap + beside, h = g * n + above + (s.big ? 12.0f : 8.0f);
    const float x0 = s.area.x + (s.area.w - w * px(across) + gap) / 2 + beside,
                y0 = s.area.y + (s.area.h - foot - h * px(down)) / 2 + (s.big ? 4.0f : 0.0f);
    struct Entry {
        const char* letter;
        Role role;
        const Matrix* A;
        int first, rows;  ///< of the block on chip
    };
    const Entry entries[] = {{"Q", Role::Q, &p.Q, step.i * p.Br, p.Br},
                             {"K", Role::K, &p.K, step.j * p.Bc, p.Bc},
                             {"O", Role::O, nullptr, 0, 0},
                             {"V", Role::V, &p.V, step.j * p.Bc, p.Bc}};
    for (int k = 0; k < count; ++k) {
        const Entry& e = entries[k];
        const float x = x0 + w * px(k % across), y = y0 + h * px(k / across) + above;
        if (s.big)
            s.c.rich(x - beside, y + g * n / 2, {symbol(e.letter, e.role)}, s.letter());
        else
            s.c.rich(x, y - above / 2 - 2, {symbol(e.letter, e.role)}, s.letter());
        if (!e.A) {
            s.c.to_come(x + 1, y, g * px(p.d()) - 2, g * px(p.N()));
            continue;
        }
        draw_cells(s.c, {.A = *e.A,
                         .role = e.role,
                         .x = x,
                         .y = y,
                         .w = g,
                         .h = g,
                         .first = e.first,
                         .last = e.first + e.rows - 1});
        outline(s.c, {x, y + g * px(e.first), g * px(e.A->cols()), g * px(e.rows)}, hue(t, e.role));
    }
    if (foot == 0) return;
    const Line formula = pieces("softmax(", symbol("Q", Role::Q), symbol("K", Role::K), super("T", Role::K),
                                ") ", symbol("V", Role::V));
    if (rich_width(s.c, formula, size::lead) < s.area.w)
        s.c.rich(s.area.x + s.area.w / 2, s.area.bottom() - 12, formula, size::lead, Align::center);
}

void forward_picture(const Sheet& s) {
    const Theme& t = *s.c.theme;
    const Trace& trace = *s.page.forward;
    const Problem& p = trace.problem();
    const Step& step = trace.step(s.page.step);
    const TileLayout at = tile_layout(s);
    const Value &S = held(trace, Slot::S, s.page.step), &Q = held(trace, Slot::Qi, s.page.step),
                &K = held(trace, Slot::Kj, s.page.step);
    const float x = at.x + at.cw * px(S.region.col), w = at.cw * px(S.region.cols),
                h = at.cw * px(S.region.rows);
    // Kᵀ on the columns of the tile, Q at its rows.
    const float k_y = at.y - 6 - at.k_h * px(K.data.cols()), q_x = at.x - 10 - at.q_w * px(Q.data.cols());
    draw_cells(s.c,
               {.A = K.data, .role = Role::K, .x = x, .y = k_y, .w = at.cw, .h = at.k_h, .transposed = true});
    outline(s.c, {x, k_y, w, at.y - 6 - k_y}, hue(t, Role::K));
    s.c.rich(x - 10, (k_y + at.y) / 2 - 3,
             pieces(symbol("K", Role::K), sub(str(step.j), Role::K), super("T", Role::K)), s.letter(),
             Align::right);
    draw_cells(s.c, {.A = Q.data, .role = Role::Q, .x = q_x, .y = at.y, .w = at.q_w, .h = at.cw});
    outline(s.c, {q_x, at.y, at.x - 10 - q_x, h}, hue(t, Role::Q));
    s.c.rich(q_x - 8, at.y + h / 2, pieces(symbol("Q", Role::Q), sub(str(step.i), Role::Q)), s.letter(),
             Align::right);
    // The tiles before it, then the tile.
    const Matrix used = Matrix::Zero(S.region.rows, S.region.col);
    if (used.size() > 0)
        draw_cells(s.c, {.A = used,
                         .role = Role::S,
                         .x = at.x,
                         .y = at.y,
                         .w = at.cw,
                         .h = at.cw,
                         .first = 1 << 20,
                         .state = CellState::discarded});
    draw_cells(s.c, {.A = S.data,
                     .role = Role::S,
                     .x = x,
                     .y = at.y,
                     .w = at.cw,
                     .h = at.cw,
                     .numbers = s.big        ? size::far_number
                                : at.cw > 30 ? size::lead
                                             : size::small});
    outline(s.c, {x, at.y, w, h}, hue(t, Role::S));
    if (!s.big && p.N() > p.Br) draw_rows_to_come(s, at);
    if (p.N() > p.Br) draw_loops(s, at);
    const Rect row = chosen_row(s);
    s.c.frame(row.x + 1, row.y + 1, row.w - 2, row.h - 2, t.focus, 2.4f, radius::cell);
}

Rect chosen_row(const Sheet& s) {
    const TileLayout at = tile_layout(s);
    const Region& region = held(*s.page.forward, Slot::S, s.page.step).region;
    return {at.x + at.cw * px(region.col), at.y + at.cw * px(s.page.row - region.row),
            at.cw * px(region.cols), at.cw};
}

void softmax_picture(const Sheet& s) {
    const Rect& a = s.area;
    if (s.big) {
        draw_far_row(s, {a.x, a.y + 2, a.w, 46});
        return draw_far_sum(s, {a.x, a.y + 62, a.w, a.h - 62});
    }
    const Stack sum = sum_of(s.page);
    const float row = a.h < 178 ? 0.0f : std::clamp(a.h * .22f, 50.0f, 80.0f),
                formula = a.h < 250 ? 0.0f : 34.0f;
    if (row > 0) draw_row(s, {a.x, a.y, a.w, row});
    const float top = a.y + (row > 0 ? row + (formula > 0 ? 16 : 8) : 0), room = a.bottom() - formula - top;
    // Bars and letters grow with the door.
    const float growth = std::clamp(room / 165, 1.0f, 1.3f), h = std::min(room, 150 * growth);
    draw_stack(s.c, sum, {a.x, top + (room - h) / 2, a.w - 14, h}, growth);
    if (formula == 0) return;
    const Line update = pieces(symbol("O", Role::O), "  ←  ", symbol("α", Role::alpha), " ⊙ ",
                               symbol("O", Role::O), "  +  ", symbol("P", Role::S, true), " ",
                               symbol("V", Role::V), sub(str(s.page.forward->step(s.page.step).j), Role::V));
    const float w = s.c.rich(a.x, a.bottom() - 12, update, size::formula);
    const char* const same = "the same α again";
    if (w + text_width(Face::regular, size::small, same) + 20 < a.w)
        s.c.text(a.right(), a.bottom() - 12, same, size::small, s.c.theme->t3, Align::right);
}

void backward_picture(const Sheet& s) {
    const struct {
        const char* letter;
        Role role;
        Slot slot;
    } gradients[] = {{"dQ", Role::Q, Slot::dQ}, {"dK", Role::K, Slot::dK}, {"dV", Role::V, Slot::dV}};
    const Rect& a = s.area;
    const Problem& p = s.page.backward->problem();
    const float label = s.big ? 30 : 22, n = px(std::max({p.N(), p.N_kv(), p.d()}));
    const bool arrow = a.w > (s.big ? 260 : 200);
    const float room = a.w - (arrow ? (s.big ? 62.0f : 44.0f) : 0), gap = s.big ? 12 : 10;
    const float g =
        std::floor(std::min({(room - 2 * gap) / (3 * n), (a.h - label) / n, s.big ? 24.0f : 18.0f}));
    const float w = 3 * g * n + 2 * gap, y = a.y + (a.h - label - g * n) / 2;
    float x = a.x + (room - w) / 2;
    for (const auto& [letter, role, slot] : gradients) {
        const Matrix A = s.page.backward->result(slot);
        draw_cells(s.c, {.A = A, .role = role, .x = x, .y = y, .w = g, .h = g, .with_sign = true});
        s.c.rich(x + g * px(A.cols()) / 2, y + g * n + label / 2 + 2, {symbol(letter, role)}, s.letter() - 2,
                 Align::center);
        x += g * n + gap;
    }
    if (!arrow) return;
    const float right = a.right(), at = y + g * n / 2;
    s.c.arrow({{right, at}, {x - 2, at}}, ArrowStyle::active, hue(*s.c.theme, Role::O));
    s.c.rich((right + x) / 2 + 2, y + g * n + label / 2 + 2, {symbol("dO", Role::O)}, s.letter() - 2,
             Align::center);
}

// On a small door of the stage words and numbers, for bars with numbers alone say nothing. False: no room.
static bool told_in_two_lines(const Sheet& s,
                              const std::array<std::pair<const char*, std::string>, 2>& lines) {
    const auto width = [&](const std::string& text) { return text_width(Face::regular, s.text(), text); };
    for (const auto& [word, number] : lines)
        if (width(word + number) > s.area.w) return false;
    const float pitch = std::min(s.text() * 1.4f, s.area.h / 2);
    float y = s.area.middle() - pitch / 2;
    for (const auto& [word, number] : lines) {
        const float x = s.area.x + (s.area.w - width(word + number)) / 2;
        s.c.text(x, y, word, s.text(), s.c.theme->t2);
        s.c.text(x + width(word), y, number, s.text(), s.c.theme->t1);
        y += pitch;
    }
    return true;
}

// How many times less FlashAttention has of something.
static bool told_as_part(const Sheet& s, const char* word, double times) {
    return told_in_two_lines(s, {{{word, "÷ " + format_short(times, 2)}, {"by flash", ""}}});
}

void training_picture(const Sheet& s) {
    const Trace& trace = *s.page.training;
    std::vector<double> losses;
    for (int k = 0; k < trace.size(); ++k)
        if (trace.step(k).op == Op::loss) losses.push_back(held(trace, Slot::loss, k).data(0, 0));
    if (losses.size() < 2) return;
    if (s.big && told_in_two_lines(
                     s, {{{"loss ", format_number(losses.front())}, {"→ ", format_number(losses.back())}}}))
        return;
    draw_rows(s,
              {{"loss before", format_number(losses.front()), std::abs(losses.front()), s.c.theme->t3},
               {"loss after a step", format_number(losses.back()), std::abs(losses.back()), s.c.theme->t1}},
              s.area);
}

void memory_picture(const Sheet& s) {
    if (s.big && told_as_part(s, "moved ", s.page.at_length.saving(Algorithm::flash2))) return;
    const auto row = [&](Algorithm algorithm, const char* name, bool standard) {
        const auto bytes = s.page.at_length.of(algorithm).traffic.total();
        return Row{name, format_size(bytes), px(bytes), s.c.theme->t1, standard};
    };
    // What is counted, where there is a line for it.
    const Shape& shape = s.page.at_length.shape;
    const std::string counted = "moved at N = " + format_count(shape.N) + ", a head";
    constexpr float line = 20;
    const bool told = !s.big && s.area.h > 84 && text_width(Face::regular, size::small, counted) <= s.area.w;
    if (told) s.c.text(s.area.x, s.area.bottom() - line / 2 + 2, counted, size::small, s.c.theme->t3);
    draw_rows(
        s, {row(Algorithm::standard, "standard moves", true), row(Algorithm::flash2, "flash moves", false)},
        {s.area.x, s.area.y, s.area.w, s.area.h - (told ? line : 0)});
}

void kernels_picture(const Sheet& s) {
    std::vector<Row> rows;
    std::vector<double> times;
    for (const RecordedKernel& kernel : s.page.kernels) times.push_back(kernel.times.back().seconds);
    const TimeUnit unit = unit_of_times(times);
    for (std::size_t n = 0; n < s.page.kernels.size(); ++n) {
        const RecordedKernel& kernel = s.page.kernels[n];
        const RecordedKernel::At& last = kernel.times.back();
        rows.push_back({kernel_words(kernel.name), time_text(last.seconds, unit), last.seconds,
                        ladder_colour(*s.c.theme, n, s.page.kernels.size()), n == 0});
    }
    if (s.big && times.size() > 1 && times.back() > 0 &&
        told_as_part(s, "time ", times.front() / times.back()))
        return;
    if (rows.empty())
        s.c.text_within(s.area.x, s.area.middle(), s.area.w, "nothing is measured yet", s.text(),
                        s.c.theme->t3);
    else
        draw_rows(s, rows, s.area);
}

namespace {

/// Partial results as dots, joined in some order; the last of them is the result. Places in units.
struct Joining {
    const char* name;
    std::vector<Point> nodes;
    std::vector<std::pair<int, int>> links;

    float left() const { return std::ranges::min(nodes, {}, &Point::x).x; }
    float width() const { return std::ranges::max(nodes, {}, &Point::x).x - left(); }
};

const std::vector<Joining>& joinings() {
    static const std::vector<Joining> orders = {
        {"chain", {{0, 1}, {1, 1}, {2, 1}, {3, 1}}, {{0, 1}, {1, 2}, {2, 3}}},
        {"tree",
         {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {.5f, 1}, {2.5f, 1}, {1.5f, 2}},
         {{0, 4}, {1, 4}, {2, 5}, {3, 5}, {4, 6}, {5, 6}}},
        {"ring", {{.5f, 1}, {1.5f, 2}, {2.5f, 1}, {1.5f, 0}}, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}}};
    return orders;
}

void draw_joining(const Sheet& s, const Joining& one, Point from, float unit) {
    const Theme& t = *s.c.theme;
    const ImU32 colour = hue(t, Role::O);
    const float r = std::min(unit * .34f, 9.0f);
    const auto at = [&](int n) {
        const Point& node = one.nodes[static_cast<std::size_t>(n)];
        return Point{from.x + unit * node.x, from.y + unit * node.y};
    };
    for (const auto& [a, b] : one.links) s.c.line(at(a), at(b), t.t3, 1.4f);
    const auto last = static_cast<int>(one.nodes.size()) - 1;
    for (int n = 0; n <= last; ++n) {
        s.c.disc(at(n).x, at(n).y, r, n == last ? colour : t.well);
        s.c.ring(at(n).x, at(n).y, r, colour, 1.6f);
    }
}

}  // namespace

// The orders in which the same few parts become one.
void merge_picture(const Sheet& s) {
    const float share = s.area.w / px(joinings().size());
    float widest = 0;
    for (const Joining& one : joinings())
        widest = std::max(widest, text_width(Face::regular, s.text(), one.name));
    const float foot = widest + 4 < share && s.area.h > 3 * s.text() ? s.text() * 1.4f : 0;
    // Each as wide as it is, with the radius of its nodes at both sides, and room between them.
    constexpr float node = .34f, between = .8f;
    float units = -between;
    for (const Joining& one : joinings()) units += one.width() + 2 * node + between;
    const float unit = std::min({(s.area.h - foot) / (2 + 2 * node), s.area.w / units, 30.0f});
    float x = s.area.x + (s.area.w - unit * units) / 2;
    for (const Joining& one : joinings()) {
        const float left = one.left(), w = unit * (one.width() + 2 * node);
        draw_joining(s, one, {x + unit * (node - left), s.area.y + (s.area.h - foot) / 2 - unit}, unit);
        if (foot > 0)
            s.c.text(x + w / 2, s.area.bottom() - foot / 2, one.name, s.text(), s.c.theme->t2, Align::center);
        x += w + unit * between;
    }
}

// The fragment of C that the 32 lanes of a warp hold between them, and the cells of one lane.
void inside_picture(const Sheet& s) {
    constexpr int lane = 13;
    const Theme& t = *s.c.theme;
    const inside::PartInfo& C = inside::info(inside::Part::C);
    struct Lying {
        bool on_side;
        float label, g;
    };
    const auto lying = [&](bool on_side, float label) {
        const auto [w, h] =
            on_side ? std::pair(px(C.rows), px(C.columns)) : std::pair(px(C.columns), px(C.rows));
        return Lying{on_side, label,
                     std::floor(std::min({s.area.w / w, (s.area.h - label) / h, s.big ? 24.0f : 18.0f}))};
    };
    // Lying on its side: doors are wider than high. Where they are not it stands, without words.
    Lying how = lying(true, s.big ? 28 : 22);
    if (how.g < 3) how = lying(true, 0);
    if (how.g < 3) how = lying(false, 0);
    const auto [on_side, label, g] = how;
    if (g < 2) return;
    const float w = g * px(on_side ? C.rows : C.columns), h = g * px(on_side ? C.columns : C.rows),
                x = s.area.x + (s.area.w - w) / 2, y = s.area.y + (s.area.h - label - h) / 2;
    for (int row = 0; row < C.rows; ++row)
        for (int column = 0; column < C.columns; ++column) {
            const int of = inside::holder(inside::Part::C, row, column).lane;
            const ImU32 hue_here =
                of == lane ? t.t1 : with_alpha(hue(t, Role::S), .28f + .5f * px(of % 4) / 3);
            const float across = px(on_side ? row : column), down = px(on_side ? column : row);
            s.c.rect(x + g * across + .5f, y + g * down + .5f, g - 1, g - 1, hue_here,
                     std::min(3.0f, g * .2f));
        }
    if (label == 0) return;
    const std::string words[] = {"lane " + str(lane) + " of 32", "lane " + str(lane)};
    for (const std::string& text : words) {
        if (text_width(Face::regular, s.text(), text) > s.area.w) continue;
        return void(
            s.c.text(x + w / 2, y + h + label / 2 + 1, text, s.text(), t.t2, Face::regular, Align::center));
    }
}

// O as the CPU's walk has it beside what the kernel wrote; frames until it has run.
void gpu_picture(const Sheet& s) {
    const Theme& t = *s.c.theme;
    const Problem& p = s.page.forward->problem();
    const KernelComparison* shown = s.page.compared.get();
    const char* const names[] = {cpu_side, kernel_side};
    // On stage only where both names have room below the cells.
    float named = s.big ? 10.0f : 0.0f;
    for (const char* name : names) named += text_width(Face::regular, s.text(), name);
    const float label = !s.big ? 22 : named <= s.area.w ? 28 : 0, sign = s.big ? 34 : 24;
    const float g = std::floor(std::min(
        {(s.area.w - sign) / (2 * px(p.d())), (s.area.h - label) / px(p.N()), s.big ? 24.0f : 18.0f}));
    const float w = g * px(p.d()), h = g * px(p.N()), y = s.area.y + (s.area.h - label - h) / 2;
    const ThreeWays O = shown ? output_values(*shown, Slot::O) : ThreeWays{};
    const std::pair<const char*, const Matrix*> sides[] = {{names[0], &O.cpu}, {names[1], &O.kernel}};
    const auto half_of = [&](const char* name) {
        return std::max(w, label > 0 ? text_width(Face::regular, s.text(), name) : 0) / 2;
    };
    const float left = half_of(sides[0].first), right = half_of(sides[1].first);
    const float apart = std::max(w + sign, left + right + 10);
    float x = s.area.x + (s.area.w - apart + left - right) / 2;
    const float between = x + apart / 2;
    for (const auto& [name, A] : sides) {
        if (A->size() > 0)
            draw_cells(s.c,
                       {.A = *A, .role = Role::O, .x = x - w / 2, .y = y, .w = g, .h = g, .with_sign = true});
        else
            s.c.to_come(x - w / 2 + 1, y + 1, w - 2, h - 2);
        if (label > 0) s.c.text(x, y + h + label / 2 + 1, name, s.text(), t.t2, Align::center);
        x += apart;
    }
    // Both are rounded, even where they are rounded alike.
    if (shown) s.c.text(between, y + h / 2, "≈", s.letter(), t.t1, Align::center);
}

}  // namespace tilewalk::ui

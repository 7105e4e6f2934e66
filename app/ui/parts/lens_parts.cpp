#include "app/ui/parts/lens_parts.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/parts/stage_transfer.h"
#include "app/ui/state/motion.h"
#include "core/base/numbers.h"
#include "core/walk/formula.h"
#include "core/walk/printed_table.h"
#include "core/walk/traffic.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <memory>

namespace tilewalk::ui {

namespace {

float mono_width(const std::string& text, float size) { return text_width(Face::mono, size, text); }

// A row of the table: one of the two that are multiplied, or the products.
struct DotRow {
    std::vector<double> values;
    Role role;
    const char* sign;
    Line name;
    MatrixDigits digits;
    std::shared_ptr<const FormulaNumbers> formula{};
    int more = 0;       ///< decimals than the matrix has, of what that does not show exactly
    bool even = false;  ///< all numbers have these

    std::string text(std::size_t n, int digit_count) const {
        const double v = values[n];
        std::string out = digits.text(v, digit_count);
        if (digit_count != number_style().digits || !std::isfinite(v)) return out;
        if (more > 0 && digits.plain() && (even || read_shown(out).value != v))
            out = format_fixed(v, digits.decimals(digit_count) + more);
        return formula ? formula->text({}, v, out) : out;
    }
    float widest(int digit_count) const {
        float out = 0;
        for (std::size_t n = 0; n < values.size(); ++n)
            out = std::max(out, mono_width(text(n, digit_count), size::small));
        return out;
    }
    // All numbers of a row have the same digits, as many as have room; 0: not even two have.
    int digits_within(float w) const {
        for (const int some : digit_choices(2))
            if (widest(some) <= w) return some;
        return 0;
    }
};

Line in_hue(Line line, Role role) {
    for (Span& span : line) span.role = role;
    return line;
}

// On stage the factors of each product come to just it: with more decimals, or where the formula has their
// texts, rather with fewer decimals of the products; at best both they and their sum.
struct MoreDecimals {
    int factors = 0, products = 0;  // at least, than their matrices have
};
void come_to_products(std::array<DotRow, 3>& rows, const MoreDecimals& least,
                      const std::function<bool(int)>& sum_comes, bool told) {
    const int all = number_style().digits, usual = rows[2].more;
    const auto come = [&](int factors, int products) {
        rows[0].more = rows[1].more = factors, rows[2].more = products;
        for (std::size_t n = 0; n < rows[2].values.size(); ++n) {
            const double shown =
                read_shown(rows[0].text(n, all)).value * read_shown(rows[1].text(n, all)).value;
            if (std::isfinite(shown) && !comes_to(shown, rows[2].text(n, all))) return false;
        }
        return true;
    };
    for (int more = least.products; far_type() && told && more <= 3; ++more)
        if (sum_comes(more) && come(least.factors, more)) return;
    for (int more = usual; far_type() && told && more >= 0; --more)
        if (come(least.factors, more)) return;
    if (far_type() && decimals_of_all([&](int more) { return come(more, usual); }, usual)) return;
    rows[0].more = rows[1].more = rows[2].more = usual;
}

std::string sum_text(const Dot& d, double sum) {
    if (sum != d.total) return format_short(sum);
    std::string text = d.total_digits ? text_alone(*d.total_digits, sum) : format_short(sum);
    return d.formula ? formula_text(*d.formula, d.product_role, sum, text) : text;
}

// No screen has room for more of them as numbers: how these would be written nobody asks.
constexpr std::size_t most_in_numbers = 80;

std::array<DotRow, 3> rows_of(const Dot& d) {
    std::vector<double> products;
    for (std::size_t n = 0; n < d.q.size(); ++n) products.push_back(d.q[n] * d.k[n]);
    const auto digits_of = [](const std::vector<double>& values, const MatrixDigits* known) {
        MatrixDigits own;
        own.take(values);
        return known ? *known : own;
    };
    const auto formula = d.formula ? std::make_shared<const FormulaNumbers>(*d.formula) : nullptr;
    std::array<DotRow, 3> rows = {
        {{d.q, d.q_role, "", in_hue(d.q_name, d.q_role), digits_of(d.q, d.q_digits), formula},
         {d.k, d.k_role, "×", in_hue(d.k_name, d.k_role), digits_of(d.k, d.k_digits), formula},
         {products, d.product_role, "=", {}, digits_of(products, nullptr)}}};
    rows[2].even = true;
    if (products.size() > most_in_numbers) return rows;
    const int all = number_style().digits;
    // Products with the decimals of their factors, and up to three more until they come to just the shown
    // sum.
    const int of_products = rows[2].digits.decimals(all);
    MoreDecimals least;
    for (std::size_t r = 0; r < 2; ++r)
        for (std::size_t n = 0; n < products.size(); ++n) {
            const double unit = read_shown(rows[r].text(n, all)).unit;
            const int decimals = unit > 0 ? static_cast<int>(std::lround(-std::log10(unit))) : 0;
            least.factors = std::max(least.factors, decimals - rows[r].digits.decimals(all));
            least.products = std::max(least.products, decimals - of_products);
        }
    const auto sum_comes = [&](int more) {
        rows[2].more = more;
        double sum = 0;
        for (std::size_t n = 0; n < products.size(); ++n) sum += read_shown(rows[2].text(n, all)).value;
        return more <= 3 && comes_to(d.scale * sum, sum_text(d, d.total));
    };
    if (!decimals_of_all(sum_comes, least.products)) rows[2].more = least.products;
    come_to_products(rows, least, sum_comes, d.formula && !d.formula->numbers.empty());
    return rows;
}

constexpr float widest_on_stage = 104;
constexpr float dot_edge = 22, dot_sum = 150;  // the signs at the left; names and the sum at the right

float widest_cell(const std::array<DotRow, 3>& rows) {
    constexpr float widest = 96;
    if (rows[0].values.size() > most_in_numbers) return widest;
    float out = 58;
    for (const DotRow& row : rows) out = std::max(out, row.widest(number_style().digits) + 10);
    return std::min(out, widest);
}

// Without room for two digits of all, those that have some.
void number_within(const Canvas& c, float x, float y, float w, const DotRow& row, std::size_t n, int digits) {
    const std::string text = digits > 0 ? row.text(n, digits) : format_number(row.values[n], 2);
    if (mono_width(text, size::small) <= w) c.text(x, y, text, size::small, 0, Face::mono, Align::center);
}

}  // namespace

float width_of(const Dot& d) { return dot_edge + widest_cell(rows_of(d)) * px(d.q.size()) + dot_sum; }

namespace {

Span sum_number(const Dot& d, double sum) { return number(sum_text(d, sum), Role::none, true); }
std::string before_sum(double scale, const char* sign) {
    return (scale == 1 ? "Σ" : "Σ × " + format_short(scale)) + "  " + sign + "  ";
}

// "=" where the products as they are shown come to the sum as it is shown.
const char* sign_of_shown(const Dot& d, const DotRow& products, int digits) {
    if (products.values.size() > most_in_numbers) {  // none of them is shown
        const double shown = read_shown(sum_text(d, d.total)).value;
        return std::abs(shown - d.total) <= 1e-9 * std::abs(d.total) ? "=" : "≈";
    }
    NumberLine shown;
    shown.comes_to = 0;
    for (std::size_t n = 0; n < products.values.size(); ++n)
        *shown.comes_to += read_shown(products.text(n, digits)).value;
    *shown.comes_to *= read_shown(format_short(d.scale)).value;
    return sign_before(shown, sum_text(d, d.total));
}

// The same, and the formula has it so.
const char* sign_of_sum(const Dot& d, const DotRow& products, int digits) {
    const Line result = d.formula ? d.formula->result : Line{};
    if (result.size() > 1 && result.back().text == sum_text(d, d.total) &&
        result[result.size() - 2].text.ends_with("≈ "))
        return "≈";
    return sign_of_shown(d, products, digits);
}

// The same of each product and its factors, in cells of that width.
const char* sign_of_products(const std::array<DotRow, 3>& rows, float w) {
    const auto shown = [&](std::size_t r, std::size_t n) {
        return rows[r].text(n, rows[r].digits_within(w));
    };
    for (std::size_t n = 0; n < rows[2].values.size(); ++n) {
        NumberLine factors;
        factors.comes_to = read_shown(shown(0, n)).value * read_shown(shown(1, n)).value;
        if (const char* sign = sign_before(factors, shown(2, n)); *sign != '=') return sign;
    }
    return "=";
}

// What the names at the right and the sum take of a table.
float beside_cells(const Canvas& c, const Dot& d) {
    float out = rich_width(c, pieces(before_sum(d.scale, "≈"), sum_number(d, d.total)), size::lead);
    for (const Line& name : {d.q_name, d.k_name}) out = std::max(out, rich_width(c, name, size::small));
    return std::min(dot_sum, out + 14);
}

// "S = Σ × 0.5 ≈ 1.2", with as many of the words as have room. The factor stays: without it the products do
// not come to the sum.
void sum_within(const Canvas& c, float x, float y, float w, const Dot& d, double sum, const char* sign) {
    const bool plain_sum = d.scale == 1;
    const Line named = d.name.empty() ? Line{} : pieces(d.name, "  =  "),
               brief = d.name.empty() || !plain_sum ? Line{} : pieces(d.name, "  ", sign, "  ");
    const std::string least = plain_sum ? "" : "× " + format_short(d.scale) + " ";
    for (const Line& words :
         {pieces(named, before_sum(d.scale, sign)), brief, pieces(before_sum(d.scale, sign))}) {
        const Line line = pieces(words, sum_number(d, sum));
        if (words.empty() || rich_width(c, line, size::lead) > w) continue;
        return void(c.rich(x, y, line, size::lead, Align::left, c.theme->t2));
    }
    c.rich(x, y, pieces(least, sign, " ", sum_number(d, sum)), size::lead, Align::left, c.theme->t2);
}

constexpr float sum_h = 24, least_cell_w = 22;

// Where the rows of a table lie; where cells have no room for numbers the products are bars.
struct DotTable {
    Rect pane;
    float cell_w, row, gap, top;
    bool numbers, names, below;  ///< the names at the right; the sum below, where there are no names
    float right() const { return pane.x + dot_edge + cell_w * px(columns); }
    float y_of(std::size_t r) const { return top + px(r) * (row + gap); }
    std::size_t columns;
};

// On stage cells have the room that there is, and what they leave lies on both sides; a narrow pane has no
// names.
DotTable table_in(const Canvas& c, const Rect& all, const Dot& d, const std::array<DotRow, 3>& rows) {
    DotTable out{};
    out.columns = d.q.size();
    out.below = all.h >= 96;
    const float edges = dot_edge + 4, beside_names = all.w - edges - beside_cells(c, d);
    out.names = !far_type() || !out.below || beside_names / px(out.columns) >= 34;
    const float room = out.names ? beside_names : all.w - edges,
                most = far_type() ? std::max(widest_cell(rows), widest_on_stage) : widest_cell(rows);
    out.cell_w = std::min(most, room / px(out.columns));
    out.numbers = out.cell_w >= least_cell_w && std::ranges::all_of(rows, [&](const DotRow& row) {
                      return row.digits_within(out.cell_w - 3) > 0;
                  });
    const float free =
        out.numbers && far_type() ? std::max(0.0f, room - out.cell_w * px(out.columns)) / 2 : 0;
    out.pane = {all.x + free, all.y, all.w - free, all.h};
    const float h = out.names ? all.h : all.h - sum_h - 6;
    out.row = std::min(34.0f, h / 3.2f), out.gap = out.row > 26 ? 5.0f : 2.0f;
    out.top = all.y + (h - 3 * out.row - 2 * out.gap) / 2;
    return out;
}

// `lit`: the pair that is being multiplied; of the products those up to it are there.
void dot_row(const Canvas& c, const DotTable& table, const DotRow& row, std::size_t r, std::size_t lit,
             std::size_t there) {
    const Theme& t = *c.theme;
    const float y = table.y_of(r), w = table.cell_w;
    const int digits = row.digits_within(w - 3);
    if (*row.sign) c.text(table.pane.x + 8, y + table.row / 2, row.sign, size::lead, t.t2, Align::center);
    for (std::size_t n = 0; n < std::min(there, row.values.size()); ++n) {
        const float x = table.pane.x + dot_edge + w * px(n);
        const ImU32 colour = hue(t, row.role);
        // What is negative has no hue, as in the matrices.
        const double v = row.values[n];
        c.rect(x + 1, y, w - 2, table.row, mix(t.well, v < 0 ? t.t3 : colour, v != 0 ? .26f : .08f),
               radius::cell);
        if (n == lit) c.frame(x + 1, y, w - 2, table.row, colour, 2, radius::cell);
        number_within(c, x + w / 2, y + table.row / 2, w - 3, row, n, digits);
    }
    if (table.names && r < 2) c.rich(table.right() + 12, y + table.row / 2, row.name, size::small);
}

}  // namespace

bool sum_holds(const Dot& d) { return *sign_of_shown(d, rows_of(d)[2], number_style().digits) == '='; }

void dot(const Canvas& c, const Rect& pane, const Dot& d, float phase) {
    std::array<DotRow, 3> rows = rows_of(d);
    const std::vector<double>& products = rows[2].values;
    // Pair by pair: a product lights up with its factors, and the sum so far has it.
    double so_far = 0;
    const std::size_t none = d.q.size();
    std::size_t lit = none;
    for (std::size_t n = 0; n < d.q.size(); ++n) {
        const float there = turn_of(phase, during::terms, n, d.q.size());
        if (there > 0) so_far += products[n];
        if (there > 0 && phase < during::terms.to) lit = n;
    }
    const bool done = phase >= during::terms.to;
    const DotTable table = table_in(c, pane, d, rows);
    if (table.numbers) rows[2].sign = sign_of_products(rows, table.cell_w - 3);
    for (std::size_t r = 0; r < 3 && table.numbers; ++r)
        dot_row(c, table, rows[r], r, lit, r < 2 || done ? none : lit == none ? 0 : lit + 1);
    // Too many to read: the products as bars, the sum below them, or beside them in a low pane.
    if (!table.numbers) {
        std::vector<Bar> list;
        for (double v : products) list.push_back({"", v, d.product_role});
        const Rect all{pane.x, pane.y, pane.w - (table.below ? 0 : dot_sum),
                       pane.h - (table.below ? sum_h : 0)};
        bars(c, all, list, false, extent(list), phase);
    }
    const bool beside = table.numbers && table.names;
    const float x = beside          ? table.right() + 12
                    : table.numbers ? table.pane.x + dot_edge
                    : table.below   ? pane.x
                                    : pane.right() - dot_sum + 16;
    const float y = beside                         ? table.y_of(2) + table.row / 2
                    : table.numbers || table.below ? pane.bottom() - sum_h / 2 + 4
                                                   : pane.y + pane.h / 2;
    const int digits = table.numbers ? rows[2].digits_within(table.cell_w - 3) : 0;
    const char* sign = digits > 0 ? sign_of_sum(d, rows[2], digits) : "=";
    sum_within(c, x, y, pane.right() - x, d, done ? d.total : so_far * d.scale, done ? sign : "=");
}

Extent extent(const std::vector<Bar>& list) {
    Extent out;
    for (const Bar& b : list)
        for (const double v : {b.waits ? 0 : b.value, b.before.value_or(b.value)})
            if (std::isfinite(v)) out = join(out, {v, v});
    return out;
}

namespace {

// Where the bars of one pane lie.
struct BarPlot {
    float slot, w, top, h, zero, unit;
    bool bare;     // neither numbers nor names
    bool within;   // the largest is called so
    bool joined;   // in a low pane both in one line below: "k0  2.885"
    bool aside;    // or both at the right of the bar, below each other
    float deeper;  // room below all bars for what leaves the axis
    double base;   // where the bars begin; beyond a break of the axis where that is not 0
    float y(double value) const { return zero - px(value - base) * unit; }
    float bottom() const { return top + h; }
};

// In a narrow pane on stage "max" stands with the number of the largest bar, else at the right.
bool mark_within(const Rect& pane) { return far_type() && pane.w < 240; }

std::string label_of_largest(const std::vector<Bar>& list) {
    const Bar* best = &list.front();
    for (const Bar& b : list)
        if (b.value > best->value || std::isnan(best->value)) best = &b;
    return "max " + best->text();
}

constexpr float before_mark = 18;  // from the last bar to the words at the end of the line

float label_of_mark(const Rect& pane, const std::vector<Bar>& list, bool mark) {
    if (!mark || mark_within(pane)) return 0;
    return far_type() ? before_mark + text_width(Face::semibold, size::body, label_of_largest(list)) : 110;
}

float slot_of_bar(const Rect& pane, const std::vector<Bar>& list, bool mark) {
    const float most = far_type() ? 140 : 120;
    return std::min(most, (pane.w - label_of_mark(pane, list, mark)) / px(list.size()));
}

std::string joined_label(const Bar& b) { return b.label + (b.label.empty() ? "" : "  ") + b.text(); }

// Numbers above and names below would leave bars less than half of the height.
bool joins_labels(const Rect& pane, const std::vector<Bar>& list, float slot, float around) {
    if (!far_type() || pane.h - around >= .5f * pane.h) return false;
    return std::ranges::all_of(list, [&](const Bar& b) {
        return text_width(Face::regular, size::small, joined_label(b)) + 4 <= slot;
    });
}

// What they take at the right of their bars, which have at least a third of their places; 0: too much.
float width_of_labels_aside(const std::vector<Bar>& list, float slot) {
    float w = 0;
    for (const Bar& b : list) {
        if (!std::isfinite(b.value)) return 0;
        w = std::max({w, text_width(Face::regular, size::small, b.label), mono_width(b.text(), size::small)});
    }
    return w + 14 <= .6f * slot ? w + 14 : 0;
}

// Numbers so close to each other that bars from zero would all look the same: 1001 and 1003.
std::optional<Extent> far_from_zero(const std::vector<Bar>& list) {
    constexpr double told_apart = .05;
    Extent out{INFINITY, -INFINITY};
    for (const Bar& b : list) {
        if (!std::isfinite(b.value) || b.waits || b.before) return std::nullopt;
        out = join(out, {b.value, b.value});
    }
    const bool close = out.lo > 0 && out.hi > out.lo && out.hi - out.lo < told_apart * out.hi;
    return close ? std::optional(out) : std::nullopt;
}

BarPlot bar_plot(const Rect& pane, const std::vector<Bar>& list, bool mark, Extent scale) {
    BarPlot p{};
    p.slot = slot_of_bar(pane, list, mark);
    p.within = mark && mark_within(pane);
    float above = 18, below = 20 + (scale.lo < 0 ? 16.0f : 0.0f);
    // On stage what many bars leave out of names and numbers is theirs.
    p.bare = far_type() && p.slot <= mono_width("−0", size::small) + 2;
    if (p.bare) below = 4;
    const bool infinite = std::ranges::any_of(list, [](const Bar& b) { return std::isinf(b.value); });
    p.deeper = infinite ? (scale.lo < 0 ? 6.0f : 16.0f) : 0;
    below += p.deeper;
    p.joined = joins_labels(pane, list, p.slot, above + below);
    const float labels = p.joined && pane.h >= 34 ? width_of_labels_aside(list, p.slot) : 0;
    p.aside = labels > 0;
    if (p.joined) above = 4, below = p.aside ? 4 : 21 + p.deeper;
    // Bar and words of one key stand nearer to each other than to the next.
    constexpr float apart = 10;
    p.w = p.aside ? std::min(.42f * p.slot, p.slot - labels - apart) : std::max(p.slot * .62f, 1.0f);
    p.top = pane.y + above;
    p.h = std::max(pane.h - above - below, 8.0f);
    const float span = px(scale.hi - scale.lo);
    p.unit = span > 1e-30f ? p.h / span : 0;
    p.zero = p.top + (p.unit > 0 ? px(scale.hi) * p.unit : p.h);  // zeros alone stand at the foot
    if (const auto close = mark ? far_from_zero(list) : std::nullopt) {
        p.base = 2 * close->lo - close->hi;  // the smallest is as high as the largest stands above it
        p.unit = p.h / px(close->hi - p.base), p.zero = p.top + p.h;
    }
    return p;
}

// The bar does not begin at zero.
void draw_break(const Canvas& c, const BarPlot& p, float x) {
    if (p.base == 0 || p.h < 24) return;
    constexpr float slope = 4, gap = 5;
    const float y = p.zero - 12;
    c.polygon({{x - 3, y + slope},
               {x + p.w + 3, y - slope},
               {x + p.w + 3, y - slope + gap},
               {x - 3, y + slope + gap}},
              c.theme->well);
    for (const float down : {0.0f, gap})
        c.line({x - 5, y + slope + down}, {x + p.w + 5, y - slope + down}, c.theme->t2, 1.4f);
}

// `line`: where the dashed line of the largest runs; no number lies on it. `there`: how much of the bar has
// grown. `towers`: its number has room above all the others.
struct BarAt {
    float x;
    bool best;
    float line, there;
    bool towers;
};
void draw_bar(const Canvas& c, const BarPlot& p, const Bar& b, const BarAt& at) {
    const auto [x, best, line, there, towers] = at;
    const Theme& t = *c.theme;
    const float mid = x + p.w / 2, y = p.y(there < 1 ? b.value * static_cast<double>(there) : b.value);
    const ImU32 colour = best ? t.focus : hue(t, b.role);
    const float top = std::min(y, p.zero), h = std::max(std::abs(p.zero - y), 1.5f);
    if (b.value == 0) {  // nothing, on the axis
        c.line({x, p.zero}, {x + p.w, p.zero}, colour);
    } else {
        c.rect(x, top, p.w, h, mix(t.well, hue(t, b.role), .34f), radius::bar);
        c.frame(x, top, p.w, h, colour, best ? 2.2f : 1.3f, radius::bar);
        draw_break(c, p, x);
    }
    if (there < 1 || p.joined) return;
    std::string value = b.text();
    if (const std::string named = "max " + value;
        best && p.within && b.value >= 0 && mono_width(named, size::small) + 4 <= p.slot)
        value = named;
    if (!towers && (p.bare || p.slot <= mono_width(value, 13) + 2)) return;
    const bool on_line = !best && h >= 36 && std::abs(y - 9 - line) < 9;
    c.text(mid, b.value < 0 || on_line ? y + 9 : y - 9, value, size::small, 0, Face::mono, Align::center);
}

// How far it went before, unless that would run through the number.
void draw_before(const Canvas& c, const BarPlot& p, const Bar& b, float x) {
    if (!b.before || !std::isfinite(*b.before) || *b.before == b.value) return;
    const float y = p.y(*b.before), h = std::abs(p.zero - y);
    const float number_y =
        std::isfinite(b.value) ? p.y(b.value) + (b.value < 0 ? 9.0f : -9.0f) : p.bottom() - 24;
    if (h < 3 || (!p.bare && std::abs(y - number_y) < 10)) return;
    c.dashed_line({x, y}, {x + p.w, y}, c.theme->t2, 1.4f, {3, 3});
    if (std::isfinite(b.value) || p.bare) return;
    // Beside the arrow to −∞: nothing else says what that was.
    const std::string was = b.digits ? text_alone(*b.digits, *b.before) : format_short(*b.before);
    constexpr float beside_arrow = 9, line = 20;
    if (mono_width(was, size::small) + beside_arrow + 2 <= p.slot / 2 && h >= line)
        c.text(x + p.w / 2 - beside_arrow, y < p.zero ? y + line / 2 : y - line / 2, was, size::small,
               c.theme->t2, Face::mono, Align::right);
}

// No bar is long enough for −∞: an arrow from zero down, below all bars.
void draw_infinite(const Canvas& c, const BarPlot& p, float mid) {
    const float foot = p.bottom() + p.deeper - 1, half = std::min(5.0f, p.slot * .4f);
    c.line({mid, p.zero}, {mid, foot - half}, c.theme->t3, std::min(2.4f, half));
    c.polygon({{mid - half, foot - 1.5f * half}, {mid + half, foot - 1.5f * half}, {mid, foot}}, c.theme->t3);
    // Beside the arrow, below zero: above it would be the number of a bar.
    const float w = mono_width("−∞", size::small), y = (p.zero + foot) / 2 + 1;
    if (p.bare || p.joined || p.slot <= w + 2) return;
    if (p.slot / 2 > half + 4 + w && foot - p.zero > 14)
        c.text(mid + half + 4, y, "−∞", size::small, 0, Face::mono);
    else
        c.text(mid, p.zero - 9, "−∞", size::small, 0, Face::mono, Align::center);
}

}  // namespace

// Every other bar ends well below it, so its number may be wider than its place.
static bool towers(const BarPlot& p, const Rect& pane, const std::vector<Bar>& list, std::size_t n) {
    const float y = p.y(list[n].value), half = mono_width(list[n].text(), size::small) / 2,
                mid = pane.x + p.slot * (px(n) + .5f);
    if (list[n].value <= 0 || mid - half < pane.x - 8 || mid + half > pane.right()) return false;
    for (std::size_t m = 0; m < list.size(); ++m)
        if (m != n && std::isfinite(list[m].value) && p.y(list[m].value) < y + 20) return false;
    return true;
}

// On stage few bars stand in the middle of a wide pane.
static Rect pane_of_bars(const Rect& all, const std::vector<Bar>& list, bool mark) {
    const float w = slot_of_bar(all, list, mark) * px(list.size()) + label_of_mark(all, list, mark);
    const float free = far_type() ? std::max(all.w - std::max(w, 240.0f), 0.0f) : 0;
    return {all.x + free / 2, all.y, all.w - free, all.h};
}

// Below its bar, a wide one also below what narrow neighbours leave.
static bool label_fits(const std::vector<Bar>& list, std::size_t n, float slot) {
    const auto width = [&](std::size_t at) { return text_width(Face::regular, size::small, list[at].label); };
    const float w = width(n);
    if (w + 2 < slot) return true;
    const bool left = n == 0 || (w + width(n - 1)) / 2 + 8 < slot,
               right = n + 1 == list.size() || (w + width(n + 1)) / 2 + 8 < slot;
    return left && right && w < 1.2f * slot;
}

// Where not all numbered bars have room for their names, every second one has, every fourth …
static std::size_t label_step(const std::vector<Bar>& list, float slot) {
    const bool numbered = std::ranges::all_of(list, [](const Bar& b) {
        return !b.label.empty() && std::isdigit(static_cast<unsigned char>(b.label.back()));
    });
    float widest = 0;
    for (const Bar& b : list) widest = std::max(widest, text_width(Face::regular, size::small, b.label));
    std::size_t step = 1;
    while (numbered && step < list.size() && px(step) * slot < widest + 2) step *= 2;
    return step;
}

// Its name above its number.
static void draw_label_aside(const Canvas& c, const Rect& pane, const Bar& b, float x, bool there,
                             bool largest) {
    const Theme& t = *c.theme;
    const float mid = pane.middle();
    c.text(x, mid - 8, b.label, size::small, t.t2);
    if (there) c.text(x, mid + 8, b.text(), size::small, largest ? t.t1 : t.t2, Face::mono);
}

void bars(const Canvas& c, const Rect& all, const std::vector<Bar>& list, bool mark, Extent scale,
          float phase) {
    const Theme& t = *c.theme;
    const Rect pane = pane_of_bars(all, list, mark);
    if (far_type() && std::ranges::all_of(list, [](const Bar& b) { return b.value == -INFINITY; })) {
        c.paragraph(pane.x, pane.y + pane.h * .3f, pane.w, "Only −∞: no key is visible.", size::lead, t.t2,
                    2);
        return;
    }
    const BarPlot p = bar_plot(pane, list, mark, scale);
    double best = -INFINITY;
    for (const Bar& b : list) best = std::max(best, b.value);
    const float right = pane.x + p.slot * px(list.size());
    const std::size_t step = label_step(list, p.slot);
    if (!p.aside) c.line({pane.x, p.zero}, {right, p.zero}, t.line2);
    for (std::size_t n = 0; n < list.size(); ++n) {
        const float x = pane.x + p.slot * px(n) + (p.aside ? 4 : (p.slot - p.w) / 2), mid = x + p.w / 2;
        // With a mark the bars were there before; a line rises to the highest of them.
        const float there = mark ? 1 : turn_of(phase, during::terms, n, list.size());
        const bool chosen = mark && list[n].value == best && phase >= during::terms.to;
        if (p.aside) {
            c.line({x - 4, p.zero}, {x + p.w + 4, p.zero}, t.line2);
            // Words belong to the bar before them, not to the next one.
            if (n > 0) c.line({x - 12, pane.y}, {x - 12, pane.bottom()}, t.line);
            draw_label_aside(c, pane, list[n], x + p.w + 8, there >= 1, list[n].value == best && mark);
        }
        if (list[n].waits) {
            c.text(mid, pane.bottom() - 8, list[n].label, size::small, t.t3, Align::center);
            continue;
        }
        if (std::isnan(list[n].value)) continue;  // it has no height; the sentence says where it comes from
        draw_before(c, p, list[n], x);
        if (std::isinf(list[n].value) && there > 0)
            draw_infinite(c, p, mid);
        else if (!std::isinf(list[n].value) && there > 0)
            draw_bar(c, p, list[n], {x, chosen, mark ? p.y(best) : -1e9f, there, towers(p, pane, list, n)});
        if (p.aside) continue;
        if (p.joined)
            c.text(mid, pane.bottom() - 8, there < 1 ? list[n].label : joined_label(list[n]), size::small,
                   list[n].value == best && mark ? t.t1 : t.t2, Align::center);
        else if (!p.bare && n % step == 0 && (step > 1 || label_fits(list, n, p.slot)))
            c.text(mid, pane.bottom() - 8, list[n].label, size::small, t.t2, Align::center);
    }
    if (!mark || !std::isfinite(best)) return;
    const float risen = over(phase, during::terms);
    const float level = risen < 1 ? p.bottom() + (p.y(best) - p.bottom()) * risen : p.y(best);
    const bool within = mark_within(pane);
    c.dashed_line({pane.x, level}, {within ? right : right + 12, level}, t.focus, 1.6f);
    if (risen < 1 || within) return;
    c.text(right + before_mark, p.y(best), label_of_largest(list), size::body, 0, Face::semibold);
}

Rect below_axes_of_areas(const Canvas& c, const Rect& a, float least) {
    if (!far_type() || a.h < least) return a;  // a low pane is all for the boxes
    const Span P = symbol("P", Role::S), dP = symbol("dP", Role::S), D = symbol("D", Role::D);
    const Line full = pieces("width ", P, ", height ", dP, " − ", D, ": area ", symbol("dS", Role::S)),
               brief = pieces("width ", P, ", height ", dP, " − ", D);
    for (const Line& line : {full, brief})
        if (rich_width(c, line, size::small) <= a.w) {
            c.rich(a.x, a.y + 7, line, size::small);
            return {a.x, a.y + 20, a.w, a.h - 20};
        }
    return a;
}

void no_scale(const Canvas& c, const Rect& pane) {
    const int lines = std::max(2, static_cast<int>((pane.h - 8) / (size::lead * 1.45f)));
    c.paragraph(
        pane.x, pane.y + 8, pane.w,
        "These numbers are NaN, ∞ or too large to be drawn to scale. The formula says where they come from.",
        size::lead, c.theme->t2, far_type() ? lines : 2);
}

static void traffic_bar(const Canvas& c, const Rect& a, std::int64_t bytes, std::int64_t most, bool strong) {
    c.rect(a.x, a.y, a.w, a.h, c.theme->panel, radius::bar);
    if (bytes > 0)
        c.rect(a.x, a.y, std::max(a.w * px(bytes) / px(most), 2.0f), a.h,
               strong ? c.theme->t1 : c.theme->line2, radius::bar);
}

void traffic_bars(const Canvas& c, const AppState& state, const Rect& pane) {
    const Theme& t = *c.theme;
    const int k = state.cursor.step;
    const Trace& trace = *state.trace;
    std::vector<std::pair<std::string, std::int64_t>> list = {
        {"this step", moved_by(trace, k)},
        {trace.workers() < 2 ? "so far" : "by now", moved_when_done(trace, k).total()},
        {"whole run", state.lesson->model(*state.problem).total()}};
    const Rival& rival = state.lesson->rival;
    if (rival.standard) list.push_back({"standard", rival.model(*state.problem).total()});
    std::int64_t most = 1;
    for (const auto& [label, bytes] : list) most = std::max(most, bytes);
    const float row = std::min(34.0f, pane.h / px(list.size())), h = std::min(16.0f, row - 5);
    float names = 0, numbers = 0;
    for (const auto& [label, bytes] : list) {
        names = std::max(names, text_width(Face::medium, size::body, label));
        numbers = std::max(numbers, text_width(Face::mono, size::body, bytes_text(bytes)));
    }
    const float beside = pane.right() - pane.x - names - numbers - 30;
    // In a narrow pane a bar has all of its width, below the words.
    const float pitch = std::min(42.0f, pane.h / px(list.size()));
    if (beside < 60 && pitch >= 30) {
        if (names + numbers + 6 > pane.w) list[2].first = "in all";
        for (std::size_t n = 0; n < list.size(); ++n) {
            const auto& [label, bytes] = list[n];
            const float y = pane.y + pitch * px(n) + 8;
            const bool strong = n == 0;
            c.text(pane.x, y, label, size::body, strong ? t.t1 : t.t2, strong ? Face::medium : Face::regular);
            c.text(pane.right(), y, bytes_text(bytes), size::body, 0, Face::mono, Align::right);
            traffic_bar(c, {pane.x, y + 11, pane.w, 8}, bytes, most, strong);
        }
        return;
    }
    const float x = pane.x + names + 16;
    for (std::size_t n = 0; n < list.size(); ++n) {
        const auto& [label, bytes] = list[n];
        const float y = pane.y + row * px(n) + row / 2;
        const bool strong = n == 0;
        c.text(pane.x + 2, y, label, size::body, strong ? t.t1 : t.t2, strong ? Face::medium : Face::regular);
        traffic_bar(c, {x, y - h / 2, beside, h}, bytes, most, strong);
        c.text(x + beside + 12, y, bytes_text(bytes), size::body, 0, Face::mono);
    }
}

}  // namespace tilewalk::ui

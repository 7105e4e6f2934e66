#include "app/ui/parts/lens_parts.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/state/motion.h"
#include "core/base/numbers.h"
#include "core/walk/printed_sum.h"

#include <algorithm>
#include <array>

namespace tilewalk::ui {

namespace {

float width_of(const std::string& text, float size = 14) { return text_width(Face::mono, size, text); }

// Where zero lies and how many px one unit takes, so that everything from lo to hi fits into w.
struct Axis {
    float zero, unit;
    float at(double v) const { return zero + px(v) * unit; }
};

Axis axis_for(double lo, double hi, float x, float w) {
    // Where all are 0 no scale suits, nor for what a float cannot tell from 0.
    const float range = px(hi - lo), unit = range > 1e-30f ? w / range : 0;
    return {x - px(lo) * unit, unit};
}

ImU32 fill_of(const Canvas& c, Role role, bool first) {
    return mix(c.theme->well, hue(*c.theme, role), first ? .22f : .32f);
}

// What is left of the old value while it shrinks; `shrunk` 0 … 1 is how far that has come.
double left_over(const Stack& s, float shrunk) {
    const double end = s.divisor != 0 ? s.total : s.old * s.alpha;
    return shrunk < 1 ? s.old + (end - s.old) * static_cast<double>(shrunk) : end;
}

std::string part_text(const Stack& s, std::size_t n);

// It stands where its part of the new sum will be.
void shrinking_bar(const Canvas& c, const Stack& s, const Axis& axis, float y, float h, float shrunk) {
    const float a = axis.at(0), b = axis.at(left_over(s, shrunk));
    if (shrunk >= 1 || std::abs(b - a) < .5f) return;
    const Rect bar{std::min(a, b) + .5f, y, std::max(std::abs(b - a) - 1, 1.0f), h};
    c.rect(bar.x, bar.y, bar.w, bar.h, fill_of(c, s.parts.front().role, true), radius::bar);
    c.frame(bar.x, bar.y, bar.w, bar.h, hue(*c.theme, s.parts.front().role), 1.4f, radius::bar);
    note_part(c, bar, "shrinking bar");
}

// " → 1.044": what is left of the old value, where the bar of that is too short for its number.
std::string left_of_old(const Stack& s, const Axis& axis) {
    if (s.divisor != 0 || s.parts.size() < 2 || s.parts.front().value == 0) return {};
    const std::string text = part_text(s, 0);
    const float w = px(std::abs(s.parts.front().value)) * axis.unit;
    return w > width_of(text) + 9 ? "" : " → " + text;
}

// The old value as a hatched bar, and the wedge that shows how it shrinks to its part of the new one.
void old_bar(const Canvas& c, const Rect& pane, const Stack& s, const Axis& axis, float y_old, float y_new,
             float h, float shrunk, bool told_below = false) {
    const Theme& t = *c.theme;
    const Role role = info(s.symbol).role;
    const float a = axis.at(0), b = axis.at(s.old), b2 = axis.at(left_over(s, shrunk));
    const float left = std::min(a, b), w = std::max(std::abs(b - a), 1.0f);
    const ImU32 wedge = s.divisor != 0 ? hue(t, Role::l) : hue(t, Role::alpha);
    if (std::abs(b - a) > 2) {
        c.polygon({{std::min(a, b), y_old + h},
                   {std::max(a, b), y_old + h},
                   {std::max(a, b2), y_new},
                   {std::min(a, b2), y_new}},
                  with_alpha(wedge, .14f));
        c.line({b, y_old + h}, {b2, y_new}, wedge, 1.4f);
        c.rect(left, y_old, w, h, mix(t.well, hue(t, role), .14f), radius::bar);
        c.hatch(left + 1, y_old + 1, std::max(w - 2, 0.0f), h - 2, mix(t.well, t.t3, .5f), 8);
        c.frame(left, y_old, w, h, t.line2, 1, radius::bar);
    }
    // The label in the bar if it fits, else beside it; the factor inside the wedge or beside that.
    const auto told = [&](Role of, double v) {
        return s.formula ? formula_text(*s.formula, of, v, format_short(v)) : format_short(v);
    };
    std::string factor = s.divisor != 0 ? "÷ " + told(Role::l, s.divisor) : "× " + told(Role::alpha, s.alpha);
    Line label = pieces("old ", slot_symbol(s.symbol), number("  " + told(role, s.old)));
    // On stage the factor stands with the number where it has room neither beside the bar nor in its wedge.
    const bool no_wedge = y_new - y_old - h < 16;
    const float fw = text_width(Face::semibold, size::body, factor), right = std::max({a, b, b2}) + 10;
    const bool with_factor = far_type() && no_wedge && right + fw > pane.right() && shrunk >= 1;
    if (with_factor) label = pieces(label, number("  " + factor, s.divisor != 0 ? Role::l : Role::alpha));
    const float lw = rich_width(c, label, size::body);
    const bool inside = lw + 20 <= w;
    const float lx = !inside      ? std::min(std::max(a, b) + 10, pane.right() - lw)
                     : far_type() ? left + (w - lw) / 2
                                  : left + 8;
    if (inside) c.rect(lx - 5, y_old + 2, lw + 10, h - 4, t.well, radius::bar);
    c.rich(lx, y_old + h / 2, label, size::body);
    const float narrow = std::min(std::abs(b - a), std::abs(b2 - a));
    if (shrunk < 1 || with_factor) return;
    if (no_wedge) {  // beside the old bar, on stage, where the formula is not at the side
        const float x = std::max(right, lx + lw + 8);
        if (!far_type()) return;
        for (const std::string& words : {factor + (told_below ? "" : left_of_old(s, axis)), factor}) {
            if (x + text_width(Face::semibold, size::body, words) > pane.right()) continue;
            return void(c.text(x, y_old + h / 2, words, size::body, wedge, Face::semibold));
        }
        return;
    }
    const float fx = narrow > fw + 20 ? std::min({a, b, b2}) + 10 : right;
    const float fitting = std::min(fx, pane.right() - fw), mid = (y_old + h + y_new) / 2;
    c.text(fitting, mid, factor, size::body, wedge, Face::semibold);
    const Line added = s.added.empty() ? s.added : pieces("+ ", s.added);
    const float aw = rich_width(c, added, size::body), from = std::max(right, fitting + fw + 20),
                end = std::max(axis.at(0), axis.at(s.total));
    if (!added.empty() && from + aw <= end) c.rich(end, mid, added, size::body, Align::right);
}

// How much of the nth term is there: first what is left of the old value, then one new term after another.
float grown(const Stack& s, std::size_t n, float phase) {
    if (!s.has_old) return turn_of(phase, during::terms, n, s.parts.size());
    if (n == 0) return over(phase, during::shrinking) < 1 ? 0.0f : 1.0f;
    return turn_of(phase, during::appending, n - 1, s.parts.size() - 1);
}

// All terms of one sum have the same decimals.
std::string part_text(const Stack& s, std::size_t n) {
    const bool whole =
        std::ranges::all_of(s.parts, [](const Part& p) { return p.value == std::round(p.value); });
    const double v = s.parts[n].value;
    std::string text =
        std::abs(v) >= 1000 ? format_short(v) : format_fixed(v, whole ? 0 : number_style().digits - 1);
    return s.formula ? formula_text(*s.formula, s.parts[n].role, v, std::move(text)) : text;
}

// Of few terms the last, too short for its number, has it at its end: so much room it takes.
float beside_last(const Stack& s, float unit) {
    const std::size_t n = s.parts.size() - 1;
    if (s.parts.size() < 2 || s.parts.size() > 3 || s.parts[n].value <= 0) return 0;
    const float w = width_of(part_text(s, n));
    return px(s.parts[n].value) * unit - 1 > w + 8 || px(s.parts[n].value) * unit < 1 ? 0 : w + 8;
}

// Of many new terms what they come to, on a plate over them; no width: none.
struct Subtotal {
    std::string text;
    Rect plate{};
};
Subtotal subtotal_of(const Stack& s, const Axis& axis, float y, float h, bool low) {
    const bool one_way = std::ranges::none_of(s.parts, [](const Part& p) { return p.value < 0; });
    if (!s.has_old || s.parts.size() < 5 || !one_way || h < (low ? 16.0f : 20.0f)) return {};
    if (s.parts.front().value == 0) return {};  // it is the total
    const double first = s.parts.front().value;
    const float left = axis.at(first), right = axis.at(s.total);
    const std::string text = str(s.parts.size() - 1) + " new " + format_short(s.total - first);
    const float w = width_of(text, size::small) + 10;
    if (w + 4 > right - left) return {};
    return {text, {(left + right - w) / 2, y + 2, w, h - 4}};
}

void draw_subtotal(const Canvas& c, const Subtotal& all) {
    const Rect& a = all.plate;
    if (a.w == 0) return;
    c.rect(a.x, a.y, a.w, a.h, c.theme->well, radius::bar);
    c.text(a.x + a.w / 2, a.middle(), all.text, size::small, 0, Face::mono, Align::center);
}

// Where the terms stand, and what of their numbers has a place beside them.
struct PartsRow {
    Axis axis;
    float y, h;
    bool mixed = false;  ///< some run back: each has a lane of its own
    bool below = false;  ///< numbers without room in their bars stand below them
    bool last_beside = false;
    Rect plate{};       ///< where no number stands
    float left, right;  ///< of the pane
    float lane(const Stack& s) const { return mixed ? h / px(s.parts.size()) : h; }
};

// Its number in the bar, beside it in its lane, or below it. Returns the right end of what stands below.
float part_number(const Canvas& c, const Stack& s, std::size_t n, const PartsRow& row, const Rect& bar,
                  float labelled) {
    const std::string text = part_text(s, n), with_name = s.parts[n].old ? "old " + text : text;
    const float room = bar.w - 8, low = far_type() ? 14.0f : 17.0f, mid = bar.x + bar.w / 2;
    const bool last = row.last_beside && n + 1 == s.parts.size();
    if (!last && row.lane(s) >= low)
        for (const std::string& words : {with_name, text}) {
            const float half = width_of(words) / 2 + 4;
            const bool covered =
                row.plate.w > 0 && mid + half > row.plate.x && mid - half < row.plate.right();
            if (width_of(words) >= room || covered) continue;
            c.text(mid, bar.middle(), words, size::body, 0, Face::mono, Align::center);
            return labelled;
        }
    if (last || (row.mixed && far_type() && row.lane(s) >= low)) {
        const bool right = bar.right() + 6 + width_of(text) <= row.right;
        c.text(right ? bar.right() + 6 : bar.x - 6, bar.middle(), text, size::body, 0, Face::mono,
               right ? Align::left : Align::right);
        return labelled;
    }
    const float w = width_of(text, size::small), x = std::clamp(mid - w / 2, row.left, row.right - w);
    if (!row.below || row.mixed || bar.w <= 5 || x <= labelled) return labelled;
    c.text(x, row.y + row.h + 11, text, size::small, 0, Face::mono);
    return x + w + 6;
}

// The terms end to end. A negative term runs back; each term of a mixed row gets a lane of its own.
void parts_row(const Canvas& c, const Stack& s, const PartsRow& row, float phase) {
    float labelled = -1e9f;  // end of the last number below: they must not touch
    double at = 0;
    const float lane = row.lane(s);
    for (std::size_t n = 0; n < s.parts.size(); ++n) {
        const Part& p = s.parts[n];
        const float there = grown(s, n, phase);
        if (there == 0) continue;
        const float x1 = row.axis.at(at),
                    x2 = row.axis.at(there < 1 ? at + p.value * static_cast<double>(there) : at + p.value);
        at += p.value;
        const Rect bar{std::min(x1, x2) + .5f, row.mixed ? row.y + lane * px(n) : row.y,
                       std::max(std::abs(x2 - x1) - 1, 1.0f), lane - (row.mixed ? 1 : 0)};
        if (std::abs(x2 - x1) < .5f) continue;
        c.rect(bar.x, bar.y, bar.w, bar.h, fill_of(c, p.role, n == 0), radius::bar);
        c.frame(bar.x, bar.y, bar.w, bar.h, hue(*c.theme, p.role), 1.4f, radius::bar);
        if (phase < 1) note_part(c, {bar.x, bar.y, bar.w, lane}, "term " + str(n));
        if (there == 1) labelled = part_number(c, s, n, row, bar, labelled);
    }
}

// Where what runs to the left begins.
void zero_mark(const Canvas& c, const Stack& s, const Axis& axis, float top, float bottom) {
    const float x = axis.at(0);
    c.line({x, top - 4}, {x, bottom}, c.theme->t3, 1.5f);
    const auto first = std::ranges::find_if(s.parts, [](const Part& p) { return p.value != 0; });
    const float aside = first != s.parts.end() && first->value < 0 ? 9 : -9;
    c.text(x + aside, top + 7, "0", size::small, c.theme->t2, Face::mono, Align::center);
}

// Where the printed terms miss the printed total, it says so.
Line total_label(const Stack& s) {
    const std::string total = format_short(s.total);
    std::vector<std::string> terms;
    for (std::size_t n = 0; n < s.parts.size(); ++n) terms.push_back(part_text(s, n));
    if (s.parts.size() >= 5 && s.has_old) terms = {terms[0], format_short(s.total - s.parts[0].value)};
    const bool holds = terms.size() < 2 || *sign_before_total(terms, total) == '=';
    const Line label =
        pieces(slot_symbol(s.symbol), number((holds ? "  " : " ≈ ") + total, Role::none, true));
    return s.has_old ? pieces("new ", label) : label;
}

void nothing_but_zeros(const Canvas& c, const Rect& pane, const Stack& s) {
    const float y = pane.y + pane.h * .45f;
    const Line zero = pieces(slot_symbol(s.symbol), "  =  0"), whole = pieces(zero, ": every term is 0");
    if (rich_width(c, whole, size::lead) <= pane.w) return void(c.rich(pane.x, y, whole, size::lead));
    c.rich(pane.x, y, zero, size::lead);
    c.paragraph(pane.x, y + size::lead + 8, pane.w, "every term is 0", size::lead, 0, 2);
}

enum class TotalAt { below, beside, within };

void total_line(const Canvas& c, const Rect& pane, const Stack& s, const Axis& axis, float y, TotalAt at,
                float beside) {
    const Theme& t = *c.theme;
    const float a = std::min(axis.at(0), axis.at(s.total)), b = std::max(axis.at(0), axis.at(s.total));
    const Line label = total_label(s);
    const float w = rich_width(c, label, size::lead), mid = (a + b) / 2;
    if (at == TotalAt::within) {
        c.line({a, y}, {mid - w / 2 - 10, y}, t.focus, 2);
        c.line({mid + w / 2 + 10, y}, {b, y}, t.focus, 2);
        c.rich(mid - w / 2, y, label, size::lead);
    } else {
        c.line({a, y}, {b, y}, t.focus, 2);
    }
    if (s.total < 0)
        c.polygon({{a - 2, y}, {a + 7, y - 4.5f}, {a + 7, y + 4.5f}}, t.focus);
    else
        c.line({a + 1, y - 5}, {a + 1, y + 1}, t.focus, 2);
    c.line({b - 1, y - 5}, {b - 1, y + 1}, t.focus, 2);
    if (at == TotalAt::below)
        c.rich(std::clamp(mid - w / 2, pane.x, pane.right() - w), y + 16, label, size::lead);
    else if (at == TotalAt::beside)
        c.rich(b + beside + w + 12 < pane.right() + 16 ? b + beside + 12 : std::max(pane.x, a - w - 12),
               y - 2, label, size::lead);
}

// "= 11.804", where the number has no bracket.
Line brief_total(const Stack& s) {
    const Line label = total_label(s);
    const bool near = !label.empty() && label.back().text.find("≈") != std::string::npos;
    return pieces(near ? "≈ " : "= ", number(format_short(s.total), Role::none, true));
}

// On stage in a pane too low for a bracket: the total stands behind the bars, the numbers that have no room
// in them below.
void flat_stack(const Canvas& c, const Rect& pane, const Stack& s, Extent scale, float phase) {
    const Line total = brief_total(s);
    const float total_w = rich_width(c, total, size::lead), gap = 5, below = 19,
                h = std::clamp((pane.h - gap - below) / (s.has_old ? 2 : 1), 14.0f, 22.0f),
                y = s.has_old ? pane.y + h + gap : pane.y + std::max(0.0f, (pane.h - h - below) / 2);
    const Axis axis = axis_for(scale.lo, scale.hi, pane.x, pane.w - total_w - 14);
    const float shrunk = over(phase, during::shrinking);
    if (s.has_old) {
        old_bar(c, pane, s, axis, pane.y, y, h, shrunk, true);
        shrinking_bar(c, s, axis, y, h, shrunk);
    }
    const Subtotal all = phase < 1 ? Subtotal{} : subtotal_of(s, axis, y, h, true);
    parts_row(c, s, {axis, y, h, false, true, false, all.plate, pane.x, pane.right()}, phase);
    draw_subtotal(c, all);
    const float there = over(phase, during::sum);
    if (there > 0)
        c.faded(there).rich(std::max(axis.at(0), axis.at(s.total)) + 12, y + h / 2, total, size::lead);
}

}  // namespace

Extent extent(const Stack& s) {
    Extent out{std::min(0.0, s.has_old ? s.old : 0.0), std::max(0.0, s.has_old ? s.old : 0.0)};
    double at = 0;
    for (const Part& p : s.parts) {
        at += p.value;
        out = join(out, {at, at});
    }
    return out;
}

Extent join(Extent a, Extent b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

void stack(const Canvas& c, const Rect& pane, const Stack& s, Extent scale, float phase) {
    const Extent own = extent(s);
    if (own.hi - own.lo == 0) return nothing_but_zeros(c, pane, s);
    const auto [lo, hi] = scale;
    const bool mixed = std::ranges::any_of(s.parts, [](const Part& p) { return p.value < 0; }) &&
                       std::ranges::any_of(s.parts, [](const Part& p) { return p.value > 0; });
    if (far_type() && !s.parts.empty() && !mixed && pane.h < (s.has_old ? 64.0f : 57.0f))
        return flat_stack(c, pane, s, scale, phase);
    // No room below the line: the label stands beside it, or on stage in it where that is long enough.
    const bool low = pane.h < (s.has_old && far_type() ? 130 : 110);
    const float total_w = rich_width(c, total_label(s), size::lead);
    const Axis whole = axis_for(lo, hi, pane.x, pane.w);
    const bool within = low && !mixed && far_type() && pane.h >= 57 &&
                        std::abs(whole.at(s.total) - whole.at(0)) >= total_w + 60;
    const float label = low && !within ? std::max(130.0f, total_w + 26) : 0;
    Axis axis = axis_for(lo, hi, pane.x, pane.w - label);
    const float beside = low && !mixed && !s.parts.empty() ? beside_last(s, axis.unit) : 0;
    if (beside > 0) axis = axis_for(lo, hi, pane.x, pane.w - label - beside);
    const bool very_low = pane.h < 64;
    const bool large = far_type();
    float h = very_low ? (large && !within ? 16 : 14) : low ? 18 : 24;
    // On stage bars take the height that what stands between and below them leaves; where there is some, the
    // factor stands in its wedge.
    const float between = very_low ? 7 : !low ? 26 : large && s.has_old && pane.h >= 76 ? 20 : 12;
    if (large && low) {
        const float bars = s.has_old ? 2 : 1, around = within ? (very_low ? 22 : 26) : very_low ? 14 : 18;
        h = std::clamp((pane.h - around - (bars - 1) * between) / bars, h, 34.0f);
    }
    const float top = pane.y + (very_low || within ? 0 : 6);
    const float y_parts = s.has_old ? top + h + between : top + (low ? 4 : 14);
    const float room = pane.bottom() - y_parts - (within ? 26 : low ? (mixed ? 16 : 10) : 50);
    const float parts_h = mixed ? std::clamp(px(s.parts.size()) * 20, h, std::max(h, room)) : h;
    const float shrunk = over(phase, during::shrinking);
    if (s.has_old) old_bar(c, pane, s, axis, top, y_parts, h, shrunk);
    if (s.has_old)
        shrinking_bar(c, s, axis, y_parts, mixed ? parts_h / px(s.parts.size()) - 1 : parts_h, shrunk);
    const Subtotal all = phase < 1 ? Subtotal{} : subtotal_of(s, axis, y_parts, parts_h, low);
    parts_row(c, s, {axis, y_parts, parts_h, mixed, !low, beside > 0, all.plate, pane.x, pane.right()},
              phase);
    if (mixed && !s.has_old) zero_mark(c, s, axis, y_parts, y_parts + parts_h);
    draw_subtotal(c, all);
    const float there = over(phase, during::sum), below = within  ? 14.0f
                                                          : low   ? (mixed ? 13.0f : 7.0f)
                                                          : mixed ? 12.0f
                                                                  : 24.0f;
    const TotalAt at = within ? TotalAt::within : low ? TotalAt::beside : TotalAt::below;
    if (there > 0) total_line(c.faded(there), pane, s, axis, y_parts + parts_h + below, at, beside);
}

namespace {

// A row of the table: one of the two that are multiplied, or the products.
struct DotRow {
    std::vector<double> values;
    Role role;
    const char* sign;
    std::string name;
    MatrixDigits digits;

    std::string text(std::size_t n, int digit_count) const { return digits.text(values[n], digit_count); }
    float widest(int digit_count) const {
        float out = 0;
        for (std::size_t n = 0; n < values.size(); ++n)
            out = std::max(out, width_of(text(n, digit_count), size::small));
        return out;
    }
    // All numbers of a row have the same digits, as many as have room; 0: not even two have.
    int digits_within(float w) const {
        for (const int some : digit_choices(2))
            if (widest(some) <= w) return some;
        return 0;
    }
};

std::array<DotRow, 3> rows_of(const Dot& d) {
    std::vector<double> products;
    for (std::size_t n = 0; n < d.q.size(); ++n) products.push_back(d.q[n] * d.k[n]);
    const auto digits_of = [](const std::vector<double>& values, const MatrixDigits* known) {
        MatrixDigits own;
        for (const double v : values) own.take(v);
        return known ? *known : own;
    };
    return {{{d.q, d.q_role, "", d.q_name, digits_of(d.q, d.q_digits)},
             {d.k, d.k_role, "×", d.k_name, digits_of(d.k, d.k_digits)},
             {products, d.product_role, "=", "", digits_of(products, nullptr)}}};
}

constexpr float dot_edge = 22, dot_sum = 150;  // the signs at the left; names and the sum at the right

float widest_cell(const std::array<DotRow, 3>& rows) {
    float out = 58;
    for (const DotRow& row : rows) out = std::max(out, row.widest(number_style().digits) + 10);
    return std::min(out, 96.0f);
}

// Without room for two digits of all, those that have some.
void number_within(const Canvas& c, float x, float y, float w, const DotRow& row, std::size_t n, int digits) {
    const std::string text = digits > 0 ? row.text(n, digits) : format_number(row.values[n], 2);
    if (width_of(text, size::small) <= w) c.text(x, y, text, size::small, 0, Face::mono, Align::center);
}

}  // namespace

float width_of(const Dot& d) { return dot_edge + widest_cell(rows_of(d)) * px(d.q.size()) + dot_sum; }

namespace {

Span sum_number(double sum) { return number(format_short(sum), Role::none, true); }
std::string before_sum(double scale) {
    return scale == 1 ? "Σ  =  " : "Σ × " + format_short(scale) + "  =  ";
}

// What the names at the right and the sum take of a table.
float beside_cells(const Canvas& c, const Dot& d) {
    float out = rich_width(c, pieces(before_sum(d.scale), sum_number(d.total)), size::lead);
    for (const std::string& name : {d.q_name, d.k_name})
        out = std::max(out, text_width(Face::medium, size::small, name));
    return std::min(dot_sum, out + 14);
}

// "S = Σ × 0.5 = 1.2", with as many of the words as have room.
void sum_within(const Canvas& c, float x, float y, float w, const Dot& d, double sum) {
    const Line named = d.name.empty() ? Line{} : pieces(d.name, "  =  ");
    for (const Line& words : {pieces(named, before_sum(d.scale)), named, pieces(before_sum(d.scale))}) {
        const Line line = pieces(words, sum_number(sum));
        if (words.empty() || rich_width(c, line, size::lead) > w) continue;
        return void(c.rich(x, y, line, size::lead, Align::left, c.theme->t2));
    }
    c.rich(x, y, pieces("= ", sum_number(sum)), size::lead, Align::left, c.theme->t2);
}

}  // namespace

void dot(const Canvas& c, const Rect& pane, const Dot& d, float phase) {
    const Theme& t = *c.theme;
    const std::array<DotRow, 3> rows = rows_of(d);
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
    const auto is_there = [&](std::size_t row, std::size_t n) {
        return row < 2 || done || (lit != none && n <= lit);
    };
    // Too many to read: the products as bars, the sum below them, or beside them in a low pane.
    const float sum_h = 24, room = pane.w - dot_edge - 4 - beside_cells(c, d),
                cell_w = std::min(widest_cell(rows), room / px(d.q.size()));
    const bool below = pane.h >= 96, table = cell_w >= 34;
    if (!table) {
        std::vector<Bar> list;
        for (double v : products) list.push_back({"", v, d.product_role});
        const Rect all{pane.x, pane.y, pane.w - (below ? 0 : dot_sum), pane.h - (below ? sum_h : 0)};
        bars(c, all, list, false, extent(list), phase);
    }
    const float row = std::min(34.0f, pane.h / 3.2f), gap = row > 26 ? 5.0f : 2.0f,
                top = pane.y + (pane.h - 3 * row - 2 * gap) / 2;
    for (std::size_t r = 0; r < 3 && table; ++r) {
        const float y = top + px(r) * (row + gap);
        const int digits = rows[r].digits_within(cell_w - 3);
        c.text(pane.x + 8, y + row / 2, rows[r].sign, size::lead, t.t2, Align::center);
        for (std::size_t n = 0; n < rows[r].values.size(); ++n) {
            if (!is_there(r, n)) break;
            const float x = pane.x + dot_edge + cell_w * px(n);
            const ImU32 colour = hue(t, rows[r].role);
            c.rect(x + 1, y, cell_w - 2, row, mix(t.well, colour, rows[r].values[n] != 0 ? .26f : .08f),
                   radius::cell);
            if (n == lit) c.frame(x + 1, y, cell_w - 2, row, colour, 2, radius::cell);
            number_within(c, x + cell_w / 2, y + row / 2, cell_w - 3, rows[r], n, digits);
        }
    }
    const float x = table   ? pane.x + dot_edge + cell_w * px(d.q.size()) + 12
                    : below ? pane.x
                            : pane.right() - dot_sum + 16;
    const float y = table   ? top + 2 * (row + gap) + row / 2
                    : below ? pane.bottom() - sum_h / 2 + 4
                            : pane.y + pane.h / 2;
    sum_within(c, x, y, pane.right() - x, d, done ? d.total : so_far * d.scale);
    for (std::size_t r = 0; r < 2 && table; ++r)
        c.text(x, top + px(r) * (row + gap) + row / 2, rows[r].name, size::small, hue(t, rows[r].role),
               Face::medium);
}

Extent extent(const std::vector<Bar>& list) {
    Extent out;
    for (const Bar& b : list)
        for (const double v : {b.value, b.before.value_or(b.value)})
            if (std::isfinite(v)) out = join(out, {v, v});
    return out;
}

namespace {

// Where the bars of one pane lie.
struct BarPlot {
    float slot, w, top, h, zero, unit;
    bool bare;  // neither numbers nor names
    float y(double value) const { return zero - px(value) * unit; }
    float bottom() const { return top + h; }
};

// In a narrow pane on stage "max" stands with the number of the largest bar, else at the right.
bool mark_within(const Rect& pane) { return far_type() && pane.w < 240; }

BarPlot bar_plot(const Rect& pane, const std::vector<Bar>& list, bool mark, Extent scale) {
    const float room = pane.w - (mark && !mark_within(pane) ? 110.0f : 0.0f);  // the label of the mark
    BarPlot p{};
    p.slot = std::min(120.0f, room / px(list.size()));
    float above = 18, below = 20 + (scale.lo < 0 ? 16.0f : 0.0f);
    // On stage what many bars leave out of names and numbers is theirs.
    p.bare = far_type() && p.slot <= width_of("−0", size::small) + 2;
    if (p.bare) above = 8, below = 4;
    p.w = std::max(p.slot * .62f, 1.0f);
    p.top = pane.y + above;
    p.h = std::max(pane.h - above - below, 8.0f);
    const float span = px(scale.hi - scale.lo);
    p.unit = span > 1e-30f ? p.h / span : 0;
    p.zero = p.top + px(scale.hi) * p.unit;
    return p;
}

// `line`: where the dashed line of the largest runs; no number lies on it. `there`: how much of the bar has
// grown.
void draw_bar(const Canvas& c, const BarPlot& p, const Bar& b, float x, bool best, float line, float there) {
    const Theme& t = *c.theme;
    const float mid = x + p.w / 2, y = p.y(there < 1 ? b.value * static_cast<double>(there) : b.value);
    const ImU32 colour = best ? t.focus : hue(t, b.role);
    const float top = std::min(y, p.zero), h = std::max(std::abs(p.zero - y), 1.5f);
    c.rect(x, top, p.w, h, mix(t.well, hue(t, b.role), .34f), radius::bar);
    c.frame(x, top, p.w, h, colour, best ? 2.2f : 1.3f, radius::bar);
    if (there < 1) return;
    const std::string value = format_short(b.value);
    if (p.bare || p.slot <= width_of(value, 13) + 2) return;
    const bool on_line = !best && h >= 36 && std::abs(y - 9 - line) < 9;
    c.text(mid, b.value < 0 || on_line ? y + 9 : y - 9, value, size::small, 0, Face::mono, Align::center);
}

// What it was before, unless its edge would run through the number.
void draw_before(const Canvas& c, const BarPlot& p, const Bar& b, float x) {
    if (!b.before || !std::isfinite(*b.before) || *b.before == b.value) return;
    const float y = p.y(*b.before), top = std::min(y, p.zero), h = std::abs(p.zero - y);
    const float number_y =
        std::isfinite(b.value) ? p.y(b.value) + (b.value < 0 ? 9.0f : -9.0f) : p.bottom() - 24;
    if (h < 3 || (!p.bare && std::abs(y - number_y) < 10)) return;
    c.dashed_frame(x, top, p.w, h, c.theme->t3, 1.2f, {3, 3});
}

// No bar is long enough for −∞: an arrow at the foot that points down.
void draw_infinite(const Canvas& c, const BarPlot& p, float mid) {
    const float foot = p.bottom() - 4, half = std::min(6.0f, p.slot * .4f);
    c.polygon({{mid - half, foot - 1.5f * half}, {mid + half, foot - 1.5f * half}, {mid, foot}}, c.theme->t3);
    if (!p.bare && p.slot > width_of("−∞", size::small) + 2)
        c.text(mid, foot - 20, "−∞", size::small, 0, Face::mono, Align::center);
}

}  // namespace

void bars(const Canvas& c, const Rect& pane, const std::vector<Bar>& list, bool mark, Extent scale,
          float phase) {
    const Theme& t = *c.theme;
    const BarPlot p = bar_plot(pane, list, mark, scale);
    double best = -INFINITY;
    for (const Bar& b : list) best = std::max(best, b.value);
    const float right = pane.x + p.slot * px(list.size());
    c.line({pane.x, p.zero}, {right, p.zero}, t.line2);
    for (std::size_t n = 0; n < list.size(); ++n) {
        const float x = pane.x + p.slot * px(n) + (p.slot - p.w) / 2, mid = x + p.w / 2;
        // With a mark the bars were there before; a line rises to the highest of them.
        const float there = mark ? 1 : turn_of(phase, during::terms, n, list.size());
        const bool chosen = mark && list[n].value == best && phase >= during::terms.to;
        draw_before(c, p, list[n], x);
        if (std::isinf(list[n].value) && there > 0)
            draw_infinite(c, p, mid);
        else if (!std::isinf(list[n].value) && there > 0)
            draw_bar(c, p, list[n], x, chosen, mark ? p.y(best) : -1e9f, there);
        if (!p.bare && p.slot > text_width(Face::regular, size::small, list[n].label) + 2)
            c.text(mid, pane.bottom() - 8, list[n].label, size::small, t.t2, Align::center);
    }
    if (!mark || !std::isfinite(best)) return;
    const float risen = over(phase, during::terms);
    const float level = risen < 1 ? p.bottom() + (p.y(best) - p.bottom()) * risen : p.y(best);
    const bool within = mark_within(pane);
    c.dashed_line({pane.x, level}, {within ? right : right + 12, level}, t.focus, 1.6f);
    if (risen < 1 || within) return;
    c.text(right + 18, p.y(best), "max " + format_short(best), size::body, 0, Face::semibold);
}

Rect below_axes_of_areas(const Canvas& c, const Rect& a) {
    if (!far_type() || a.h < 90) return a;  // a low pane is all for the boxes
    const Span P = symbol("P", Role::S), dP = symbol("dP", Role::S), D = symbol("D", Role::alpha);
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
    const auto total = [&](int n) {
        const Traffic so_far = n < 0 ? Traffic{} : state.trace->step(n).traffic;
        return so_far.hbm_read + so_far.hbm_write;
    };
    std::vector<std::pair<const char*, std::int64_t>> list = {
        {"this step", total(k) - total(k - 1)},
        {"so far", total(k)},
        {"whole run", state.lesson->model(*state.problem).total()}};
    const Rival& rival = state.lesson->rival;
    if (rival.standard) list.push_back({"standard", rival.model(*state.problem).total()});
    std::int64_t most = 1;
    for (const auto& [label, bytes] : list) most = std::max(most, bytes);
    const float row = std::min(34.0f, pane.h / px(list.size())), h = std::min(16.0f, row - 5);
    float names = 0, numbers = 0;
    for (const auto& [label, bytes] : list) {
        names = std::max(names, text_width(Face::medium, size::body, label));
        numbers = std::max(numbers, text_width(Face::mono, size::body, format_traffic(bytes)));
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
            c.text(pane.right(), y, format_traffic(bytes), size::body, 0, Face::mono, Align::right);
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
        c.text(x + beside + 12, y, format_traffic(bytes), size::body, 0, Face::mono);
    }
}

}  // namespace tilewalk::ui

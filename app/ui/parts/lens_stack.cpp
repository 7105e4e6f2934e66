// Terms of a sum as bars end to end, beside the value that they are added to.
#include "app/ui/parts/lens_parts.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/state/motion.h"
#include "core/base/numbers.h"
#include "core/walk/printed_sum.h"

#include <algorithm>

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

// As the formula has it.
std::string total_text(const Stack& s) {
    std::string text = format_short(s.total);
    return s.formula ? formula_text(*s.formula, info(s.symbol).role, s.total, text) : text;
}

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
struct OldBar {
    float y, y_new, h, shrunk;
    bool told_below = false;   ///< what is left of it has its number below
    bool comes = false;        ///< the step has not begun
    std::string subtotal{};    ///< what many new terms come to
    bool terms_there = false;  ///< all of them are
    bool no_wedge() const { return y_new - y - h < 16; }
};

void old_bar_shape(const Canvas& c, const Stack& s, const Axis& axis, const OldBar& at, ImU32 wedge) {
    const Theme& t = *c.theme;
    const float a = axis.at(0), b = axis.at(s.old), b2 = axis.at(left_over(s, at.shrunk)), foot = at.y + at.h;
    const float left = std::min(a, b), w = std::abs(b - a);
    if (w <= 2) return;
    if (!at.comes) {
        c.polygon(
            {{left, foot}, {std::max(a, b), foot}, {std::max(a, b2), at.y_new}, {std::min(a, b2), at.y_new}},
            with_alpha(wedge, .14f));
        c.line({b, foot}, {b2, at.y_new}, wedge, 1.4f);
    }
    c.rect(left, at.y, w, at.h, mix(t.well, hue(t, info(s.symbol).role), .14f), radius::bar);
    c.hatch(left + 1, at.y + 1, w - 2, at.h - 2, mix(t.well, t.t3, .5f), 8);
    c.frame(left, at.y, w, at.h, t.line2, 1, radius::bar);
}

// Of many new terms what they come to, above them or on a plate over them; no width: none.
struct Subtotal {
    std::string text;
    Rect plate{};
};

// "+ P̃" above the end of the bars, on stage with what many terms come to. Says whether that stands there.
bool added_above(const Canvas& c, const Stack& s, float from, float end, float mid, const OldBar& at) {
    const Line added = pieces("+ ", s.added), all = pieces(added, "  ", number(at.subtotal));
    const float w = rich_width(c, added, size::body), all_w = rich_width(c, all, size::body);
    if (far_type() && !at.subtotal.empty() && from + all_w <= end) {
        c.rich(end - all_w, mid, at.terms_there ? all : added, size::body);
        return true;
    }
    if (from + w <= end) c.rich(end, mid, added, size::body, Align::right);
    return false;
}

// "× 0.368 → 1.045" in the wedge, else beside it, without what is left where that has no room; at the end of
// the line what is added. Says whether what many terms come to stands there.
bool factor_in_wedge(const Canvas& c, const Rect& pane, const Stack& s, const Axis& axis, const OldBar& at,
                     const std::string& factor, const std::string& left_of_it, ImU32 wedge) {
    const float a = axis.at(0), b = axis.at(s.old), b2 = axis.at(left_over(s, at.shrunk)),
                right = std::max({a, b, b2}) + 10, above = std::abs(b - a), below = std::abs(b2 - a),
                narrow =
                    above < below ? .8f * above + .2f * below : .2f * above + .8f * below,  // at its text
        mid = (at.y + at.h + at.y_new) / 2;
    std::string told = factor + left_of_it;
    const auto place = [&](float w) { return narrow > w + 20 ? std::min({a, b, b2}) + 10 : right; };
    float w = text_width(Face::semibold, size::body, told);
    if (w > pane.w) told = factor, w = text_width(Face::semibold, size::body, told);
    const float x = std::min(place(w), pane.right() - w);
    c.text(x, mid, told, size::body, wedge, Face::semibold);
    if (s.added.empty()) return false;
    return added_above(c, s, std::max(right, x + w + 20), std::max(axis.at(0), axis.at(s.total)), mid, at);
}

// Says whether what many terms come to stands above them.
bool old_bar(const Canvas& c, const Rect& pane, const Stack& s, const Axis& axis, const OldBar& at) {
    const Theme& t = *c.theme;
    const Role role = info(s.symbol).role, by = s.divisor != 0 ? Role::l : s.shrinks_by;
    const float a = axis.at(0), b = axis.at(s.old), b2 = axis.at(left_over(s, at.shrunk)),
                left = std::min(a, b), w = std::max(std::abs(b - a), 1.0f), mid = at.y + at.h / 2;
    old_bar_shape(c, s, axis, at, hue(t, by));
    // The label in the bar if it fits, else beside it; the factor inside the wedge or beside that.
    const auto told = [&](Role of, double v) {
        return s.formula ? formula_text(*s.formula, of, v, format_short(v)) : format_short(v);
    };
    const std::string factor = s.divisor != 0 ? "÷ " + told(by, s.divisor) : "× " + told(by, s.alpha),
                      left_of_it = at.told_below || !far_type() ? "" : left_of_old(s, axis);
    Line label = pieces("old ", slot_symbol(s.symbol), number("  " + told(role, s.old)));
    const float fw = text_width(Face::semibold, size::body, factor), right = std::max({a, b, b2}) + 10;
    // Without the name, rather than that what is left of it has no number.
    const float rest = 18 + fw + text_width(Face::semibold, size::body, left_of_it);
    if (at.no_wedge() && !left_of_it.empty() &&
        std::max(a, b) + 10 + rich_width(c, label, size::body) + rest > pane.right())
        label = {number(told(role, s.old))};
    // Rather without the name, too, than at the edge of the bar.
    const auto has_place = [&](const Line& line) {
        const float lw = rich_width(c, line, size::body);
        return lw + 20 <= w || std::max(a, b) + 10 + lw <= pane.right();
    };
    if (const Line brief = pieces("old ", number(told(role, s.old))); !has_place(label) && has_place(brief))
        label = brief;
    // On stage the factor stands with the number where it has room neither beside the bar nor in its wedge.
    const bool with_factor = far_type() && at.no_wedge() && right + fw > pane.right() && at.shrunk >= 1;
    if (with_factor) label = pieces(label, number("  " + factor, by));
    const float lw = rich_width(c, label, size::body);
    const bool inside = lw + 20 <= w;
    const float lx = !inside      ? std::min(std::max(a, b) + 10, pane.right() - lw)
                     : far_type() ? left + (w - lw) / 2
                                  : left + 8;
    // No number stands on the hatching.
    const float end = std::max(a, b);  // which stays in sight
    if (lx < end) {
        const float plate = lx + lw + 5 < end ? lw + 10 : end - 3 - (lx - 5);
        c.rect(lx - 5, at.y + 2, plate, at.h - 4, t.well, radius::bar);
    }
    c.rich(lx, mid, label, size::body);
    if (at.shrunk < 1 || with_factor) return false;
    if (!at.no_wedge()) return factor_in_wedge(c, pane, s, axis, at, factor, left_of_it, hue(t, by));
    if (!far_type()) return false;  // the formula stands at the side
    const float x = std::max(right, lx + lw + 8);
    for (const std::string& words : {factor + left_of_it, factor}) {
        if (x + text_width(Face::semibold, size::body, words) > pane.right()) continue;
        c.text(x, mid, words, size::body, hue(t, by), Face::semibold);
        break;
    }
    return false;
}

// An empty bar of no length in place of what the step will make.
void still_to_come(const Canvas& c, const Rect& a) {
    c.to_come(a.x, a.y, std::min(a.w, 160.0f), a.h);
    c.text(a.x + std::min(a.w, 160.0f) / 2, a.middle(), "?", size::lead, c.theme->t1, Face::semibold,
           Align::center);
}

// How much of the nth term is there: first what is left of the old value, then one new term after another.
float grown(const Stack& s, std::size_t n, float phase) {
    if (!s.has_old) return turn_of(phase, during::terms, n, s.parts.size());
    if (n == 0) return over(phase, during::shrinking) < 1 ? 0.0f : 1.0f;
    return turn_of(phase, during::appending, n - 1, s.parts.size() - 1);
}

std::string part_text(const Stack& s, std::size_t n, int decimals) {
    const double v = s.parts[n].value;
    std::string text = std::abs(v) >= 1000 ? format_short(v) : format_fixed(v, decimals);
    return s.formula ? formula_text(*s.formula, s.parts[n].role, v, text) : text;
}

// All terms of one sum have the same decimals; more, up to three, where they come to just the shown total
// then.
int decimals_of_parts(const Stack& s) {
    const bool whole =
        std::ranges::all_of(s.parts, [](const Part& p) { return p.value == std::round(p.value); });
    if (whole) return 0;
    const ShownNumber total = read_shown(total_text(s));
    const int least = number_style().digits - 1;
    const auto tiny = [](const Part& p) { return p.value != 0 && std::abs(p.value) < 1e-3; };
    if (std::ranges::any_of(s.parts, tiny)) return least;  // powers of ten
    for (int decimals = least; decimals <= least + 3 && s.parts.size() > 1; ++decimals) {
        double sum = 0;
        for (std::size_t k = 0; k < s.parts.size(); ++k) sum += read_shown(part_text(s, k, decimals)).value;
        if (std::abs(sum - total.value) <= .5001 * total.unit) return decimals;
    }
    return least;
}

// Once for all terms: with hundreds of them this takes most of a frame's time.
std::string part_text(const Stack& s, std::size_t n) {
    if (s.decimals < 0) s.decimals = decimals_of_parts(s);
    return part_text(s, n, s.decimals);
}

// Of few terms the last, too short for its number, has it at its end: so much room it takes.
float beside_last(const Stack& s, float unit) {
    const std::size_t n = s.parts.size() - 1;
    if (s.parts.size() < 2 || s.parts.size() > 3 || s.parts[n].value <= 0) return 0;
    const float w = width_of(part_text(s, n));
    return px(s.parts[n].value) * unit - 1 > w + 8 || px(s.parts[n].value) * unit < 1 ? 0 : w + 8;
}

Subtotal subtotal_of(const Stack& s, const Axis& axis, float y, float h, bool low) {
    const bool one_way = std::ranges::none_of(s.parts, [](const Part& p) { return p.value < 0; });
    if (!s.has_old || s.parts.size() < 5 || !one_way || h < (low ? 16.0f : 20.0f)) return {};
    if (s.parts.front().value == 0) return {};  // it is the total
    const double first = s.parts.front().value;
    const float left = axis.at(first), right = axis.at(s.total);
    const std::string text = str(s.parts.size() - 1) + " new: " + format_short(s.total - first);
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

// In lanes of their own terms that run ahead are told from those that run back.
std::string signed_text(const Stack& s, std::size_t n, bool mixed) {
    const std::string text = s.parts[n].value == 0 ? "0" : part_text(s, n);
    return mixed && n > 0 && s.parts[n].value >= 0 ? "+" + text : text;
}

// Its number in the bar, beside it in its lane, or below it. Returns the right end of what stands below.
float part_number(const Canvas& c, const Stack& s, std::size_t n, const PartsRow& row, const Rect& bar,
                  float labelled) {
    const float low = far_type() ? 14.0f : 17.0f;
    const bool last = row.last_beside && n + 1 == s.parts.size(),
               below = row.below && !row.mixed && bar.w > 5,
               in_lane = row.lane(s) >= low && (bar.w > 8 || (row.mixed && far_type()));
    if (!last && !below && !in_lane) return labelled;
    const std::string text = signed_text(s, n, row.mixed), with_name = s.parts[n].old ? "old " + text : text;
    const float room = bar.w - 8, mid = bar.x + bar.w / 2;
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
    const float w = width_of(text, size::small), wanted = std::clamp(mid - w / 2, row.left, row.right - w);
    // Right of its neighbour's number it may still stand below its own bar.
    const float x = std::max(wanted, labelled + 2);
    if (!below || x > std::max(wanted, bar.right() - w / 3) || x + w > row.right) return labelled;
    c.text(x, row.y + row.h + 11, text, size::small, 0, Face::mono);
    return x + w + 6;
}

// A term of 0 has no bar: a line where it is added.
void nothing_in_lane(const Canvas& c, const Stack& s, std::size_t n, const PartsRow& row, const Rect& bar) {
    if (row.lane(s) < (far_type() ? 14.0f : 17.0f)) return;
    c.line({bar.x, bar.y + 1}, {bar.x, bar.bottom() - 1}, hue(*c.theme, s.parts[n].role), 1.4f);
    c.text(bar.x + 7, bar.middle(), signed_text(s, n, true), size::body, 0, Face::mono);
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
        if (row.mixed && n > 0 && p.value == 0 && there == 1) nothing_in_lane(c, s, n, row, bar);
        if (std::abs(x2 - x1) < .5f) continue;
        c.rect(bar.x, bar.y, bar.w, bar.h, fill_of(c, p.role, n == 0), radius::bar);
        c.frame(bar.x, bar.y, bar.w, bar.h, hue(*c.theme, p.role), 1.4f, radius::bar);
        if (phase < 1) note_part(c, {bar.x, bar.y, bar.w, lane}, "term " + str(n));
        if (there == 1) labelled = part_number(c, s, n, row, bar, labelled);
    }
}

// Where what runs to the left begins. `foot`: of the line of the total.
void zero_mark(const Canvas& c, const Stack& s, const Axis& axis, float top, float bottom, float foot) {
    const float x = axis.at(0);
    c.line({x, top - 4}, {x, bottom}, c.theme->t3, 1.5f);
    const auto first = std::ranges::find_if(s.parts, [](const Part& p) { return p.value != 0; });
    // On the other side of its bar, unless its number has no room in that: then before the line of the total,
    // or in the bar where that line runs to the left too.
    const bool left = first != s.parts.end() && first->value < 0;
    const bool beside =
        left && px(-first->value) * axis.unit <
                    width_of(part_text(s, static_cast<std::size_t>(first - s.parts.begin()))) + 9;
    const float aside = left && !beside ? 9 : -9;
    const float y = beside && s.total >= 0 ? foot : top + 7;
    c.text(x + aside, y, "0", size::small, c.theme->t2, Face::mono, Align::center);
}

// Some term has no room for its number in its bar: on stage the total has them all.
bool terms_untold(const Stack& s, float unit) {
    if (!far_type() || s.parts.size() < 2 || s.parts.size() > 4) return false;
    for (std::size_t n = 0; n < s.parts.size(); ++n) {
        const float w = px(std::abs(s.parts[n].value)) * unit;
        if (s.parts[n].value != 0 && w < width_of(part_text(s, n)) + 9) return true;
    }
    return false;
}

// Where the printed terms miss the printed total, it says so.
Line total_label(const Stack& s, bool with_terms = false) {
    const std::string total = total_text(s);
    std::vector<std::string> terms;
    for (std::size_t n = 0; n < s.parts.size(); ++n) terms.push_back(part_text(s, n));
    if (s.parts.size() >= 5 && s.has_old) terms = {terms[0], format_short(s.total - s.parts[0].value)};
    // As the formula has it, if there is one.
    const bool near = s.formula && s.formula->result.size() > 1 && terms.size() > 1 &&
                      s.formula->result[s.formula->result.size() - 2].text.ends_with("≈ ");
    const bool holds = !near && (terms.size() < 2 || *sign_before_total(terms, total) == '=');
    if (with_terms) {
        Line sum;
        for (std::size_t n = 0; n < s.parts.size(); ++n) {
            if (s.parts[n].value == 0) continue;
            const bool bracketed = s.parts[n].value < 0 && !sum.empty();
            const std::string text = bracketed ? "(" + part_text(s, n) + ")" : part_text(s, n);
            sum = pieces(sum, sum.empty() ? "" : " + ", number(text, s.parts[n].role));
        }
        return pieces(sum, holds ? " = " : " ≈ ", number(total, Role::none, true));
    }
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

constexpr float lowest_label = 8;  // of its middle above the end of the pane

void total_line(const Canvas& c, const Rect& pane, const Stack& s, const Axis& axis, float y, TotalAt at,
                float beside, const Line& label) {
    const Theme& t = *c.theme;
    const float a = std::min(axis.at(0), axis.at(s.total)), b = std::max(axis.at(0), axis.at(s.total));
    const float w = rich_width(c, label, size::lead),
                mid = std::clamp((a + b) / 2, pane.x + w / 2, std::max(pane.x + w / 2, pane.right() - w / 2));
    if (at == TotalAt::within) {
        // Not shorter than its two ends.
        if (w + 44 > b - a) return void(c.rich(mid - w / 2, y, label, size::lead));
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
               std::min(y - 2, pane.bottom() - lowest_label), label, size::lead);
}

// "= 11.804", where the number has no bracket.
Line brief_total(const Stack& s) {
    const Line label = total_label(s);
    const bool near = !label.empty() && label.back().text.find("≈") != std::string::npos;
    return pieces(near ? "≈ " : "= ", number(total_text(s), Role::none, true));
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
        old_bar(c, pane, s, axis, {pane.y, y, h, shrunk, true, phase < 0});
    }
    if (phase < 0) return still_to_come(c, {pane.x, y, pane.w, h});
    if (s.has_old) shrinking_bar(c, s, axis, y, h, shrunk);
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

Extent extent_of_rows(const Value& before, const Value& after, int row) {
    Extent out;
    for (const Value* const v : {&before, &after})
        for (Eigen::Index n = 0; n < v->data.cols(); ++n)
            if (const double x = v->data(row, n); std::isfinite(x)) out = join(out, {x, x});
    return out;
}

// Round numbers above the bars, at most four of them.
static void draw_ruler(const Canvas& c, const Axis& axis, const Extent& scale, float y, float right) {
    const double range = scale.hi - scale.lo, ten = std::pow(10.0, std::floor(std::log10(range / 4)));
    double step = 10 * ten;
    for (const double factor : {5.0, 2.0, 1.0})
        if (factor * ten >= range / 4) step = factor * ten;
    // Fewer of them in a narrow pane, rather than that they touch.
    const auto widest = [&] {
        float w = 0;
        for (double at = std::ceil(scale.lo / step) * step; at <= scale.hi; at += step)
            w = std::max(w, width_of(format_number(at, 3), size::small));
        return w;
    };
    while (step < range && px(step) * axis.unit < widest() + 8) step *= 2;
    const Theme& t = *c.theme;
    c.line({axis.at(scale.lo), y + 9}, {axis.at(scale.hi), y + 9}, t.line2);
    for (double at = std::ceil(scale.lo / step) * step; at <= scale.hi + 1e-9 * range; at += step) {
        const double value = std::abs(at) < 1e-9 * range ? 0 : at;
        const std::string text = format_number(value, 3);
        const float x = axis.at(value), half = width_of(text, size::small) / 2;
        c.line({x, y + 6}, {x, y + 12}, t.line2);
        if (x + half <= right + 4) c.text(x, y, text, size::small, t.t2, Face::mono, Align::center);
    }
}

void stack(const Canvas& c, const Rect& room, const Stack& s, Extent scale, float phase) {
    const Extent own = extent(s);
    if (own.hi - own.lo == 0) return nothing_but_zeros(c, room, s);
    constexpr float ruler_h = 16, least_below_ruler = 64;
    const bool ruler = far_type() && s.divisor != 0 && room.h - ruler_h >= least_below_ruler;
    const Rect pane = ruler ? Rect{room.x, room.y + ruler_h, room.w, room.h - ruler_h} : room;
    const auto [lo, hi] = scale;
    const bool mixed = std::ranges::any_of(s.parts, [](const Part& p) { return p.value < 0; }) &&
                       std::ranges::any_of(s.parts, [](const Part& p) { return p.value > 0; });
    if (far_type() && !s.parts.empty() && !mixed && pane.h < (s.has_old ? 64.0f : 57.0f))
        return flat_stack(c, pane, s, scale, phase);
    // No room below the line: the label stands beside it, or on stage in it where that is long enough.
    const bool low = pane.h < (s.has_old && far_type() ? 130 : 110);
    const Axis whole = axis_for(lo, hi, pane.x, pane.w);
    const bool untold = !mixed && pane.h >= 57 && terms_untold(s, whole.unit) &&
                        rich_width(c, total_label(s, true), size::lead) <= pane.w;
    const Line total = total_label(s, untold);
    const float total_w = rich_width(c, total, size::lead);
    const bool within = low && !mixed && far_type() && pane.h >= 57 &&
                        (untold || std::abs(whole.at(s.total) - whole.at(0)) >= total_w + 60);
    const float label = low && !within ? std::max(130.0f, total_w + 26) : 0;
    Axis axis = axis_for(lo, hi, pane.x, pane.w - label);
    const float beside = low && !mixed && !untold && !s.parts.empty() ? beside_last(s, axis.unit) : 0;
    if (beside > 0) axis = axis_for(lo, hi, pane.x, pane.w - label - beside);
    if (ruler) draw_ruler(c, axis, scale, room.y + 2, room.right());
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
    const float room_below = pane.bottom() - y_parts - (within ? 26 : low ? (mixed ? 16 : 10) : 50);
    const float parts_h = mixed ? std::clamp(px(s.parts.size()) * 20, h, std::max(h, room_below)) : h;
    const float shrunk = over(phase, during::shrinking);
    Subtotal all = phase < 0 ? Subtotal{} : subtotal_of(s, axis, y_parts, parts_h, low);
    const bool there_above =
        s.has_old &&
        old_bar(c, pane, s, axis, {top, y_parts, h, shrunk, false, phase < 0, all.text, phase >= 1});
    if (there_above || phase < 1) all = {};
    if (phase < 0) return still_to_come(c, {pane.x, y_parts, pane.w, parts_h});
    if (s.has_old)
        shrinking_bar(c, s, axis, y_parts, mixed ? parts_h / px(s.parts.size()) - 1 : parts_h, shrunk);
    parts_row(c, s, {axis, y_parts, parts_h, mixed, !low, beside > 0, all.plate, pane.x, pane.right()},
              phase);
    draw_subtotal(c, all);
    const float there = over(phase, during::sum), below = within  ? 14.0f
                                                          : low   ? (mixed ? 13.0f : 7.0f)
                                                          : mixed ? 12.0f
                                                                  : 24.0f;
    if (mixed && !s.has_old) zero_mark(c, s, axis, y_parts, y_parts + parts_h, y_parts + parts_h + below);
    const TotalAt at = within ? TotalAt::within : low ? TotalAt::beside : TotalAt::below;
    if (there > 0) total_line(c.faded(there), pane, s, axis, y_parts + parts_h + below, at, beside, total);
}

}  // namespace tilewalk::ui

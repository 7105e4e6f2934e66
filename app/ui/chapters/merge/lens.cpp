// The step to scale: the scores of a part on the curve of exp; the parts brought to the common maximum and
// laid end to end; of normalised parts width wᵢ × height Oᵢ, levelled.
#include "app/ui/chapters/merge/merge.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/lens_parts.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/state/motion.h"
#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/lessons/softmax/softmax.h"
#include "core/walk/printed_sum.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

const Role of_weights = info(Slot::w_part).role;

const Value& value_of(const MergeNow& now, Slot slot, int tile) {
    return *now.trace.live(slot, tile, now.k).value;
}

void nothing(const Canvas& c, const Rect& a, const char* why) {
    c.paragraph(a.x, a.y + a.h * .3f, a.w, why, size::lead, c.theme->t2);
}

// The scores of a part on the curve, measured from its maximum.
void draw_looking(const Canvas& c, const MergeNow& now, const Rect& a, float phase) {
    const KeyPart& part = now.parts[static_cast<std::size_t>(now.part)];
    const Matrix S = softmax_scores(now.trace.problem());
    const std::optional<double> sink = now.part == 0 ? now.trace.problem().logits.sink : std::nullopt;
    double most = sink.value_or(minus_infinity);
    for (int j = part.first; j <= part.last(); ++j) most = std::max(most, S(0, j));
    if (most == minus_infinity)
        return nothing(c, a, part.count == 0 ? "No keys: nothing to draw" : "The mask hides every key");
    if (now.trace.problem().switches.no_max)
        return nothing(c, a, "Nothing is subtracted: a weight is exp(S), however large that is");
    std::vector<CurvePoint> points;
    if (sink) points.push_back({*sink - most, "sink", Role::S});
    for (int j = part.first; j <= part.last(); ++j)
        points.push_back({S(0, j) - most, index_label(now.trace.problem(), "k", j), Role::S});
    curve(c, a, points, phase);
}

// What the logarithms L stand for: sums, measured from the largest, which may be added; bars of L may not.
void draw_sums_of_exponentials(const Canvas& c, const MergeNow& now, const Rect& a, float phase) {
    double most = minus_infinity;
    for (const int tile : now.rows()) most = std::max(most, now.number(Slot::L_part, tile).value_or(most));
    if (!std::isfinite(most)) return nothing(c, a, "No part has seen a key");
    std::vector<Bar> list;
    for (const int tile : now.rows())
        if (const auto L = now.number(Slot::L_part, tile))
            list.push_back({now.name(tile), std::exp(*L - most), Role::l});
    if (const auto L = now.result(Slot::L_part); L && std::isfinite(*L))
        list.push_back({now.result_name(), std::exp(*L - most), Role::l});
    const Line title = pieces("exp(", slot_symbol(Slot::L_part).front(), " − ", symbol("m", Role::m), ")");
    const float head = size::lead + 10;
    c.rich(a.x, a.y + size::lead / 2, title, size::lead, Align::left, c.theme->t2);
    bars(c, {a.x, a.y + head, a.w, a.h - head}, list, false, extent(list), phase);
}

void draw_maxima(const Canvas& c, const MergeNow& now, const Rect& a, float phase) {
    if (now.normalised) return draw_sums_of_exponentials(c, now, a, phase);
    const Slot slot = Slot::m_part;
    std::vector<Bar> list;
    for (const int tile : now.rows())
        if (const auto m = now.number(slot, tile); m && std::isfinite(*m))
            list.push_back({.label = now.name(tile),
                            .value = *m,
                            .role = info(slot).role,
                            .digits = &now.trace.digits(slot)});
    if (list.empty()) {
        return nothing(c, a, "No part has seen a key");
    }
    bars(c, a, list, true, extent(list), phase);
}

// Two shares of a whole
void draw_shares(const Canvas& c, const MergeNow& now, const Rect& a, float phase) {
    std::vector<Bar> list;
    for (const int tile : now.rows())
        if (const auto weight = now.number(Slot::w_part, tile)) {
            list.push_back({now.name(tile), *weight, of_weights});
            list.back().digits = &now.trace.digits(Slot::w_part);
        }
    if (!list.empty()) bars(c, a, list, false, extent(list), phase);
}

void draw_weights(const Canvas& c, const MergeNow& now, const Rect& a, float phase) {
    if (now.shared || now.trace.problem().switches.no_weights) return draw_shares(c, now, a, phase);
    const Slot slot = now.normalised ? Slot::L_part : Slot::m_part;
    const auto to = now.result(slot);
    std::vector<CurvePoint> points;
    for (const int tile : now.rows())
        if (const auto from = now.number(slot, tile);
            from && to && std::isfinite(*from) && std::isfinite(*to))
            points.push_back({.x = *from - *to,
                              .label = now.name(tile),
                              .role = of_weights,
                              .digits = &now.trace.digits(Slot::w_part)});
    if (points.empty())
        nothing(c, a, "No part has seen a key: every weight is 0");
    else
        curve(c, a, points, phase);
}

// ---- Parts end to end, at their own maxima above, at the common one below

struct Share {
    std::string name;
    double own, weight;             // at its own maximum, and what is left of it
    std::string own_text, factor;   // as the formula has both
    std::string plain_factor = {};  // as its column has it
    double now() const { return own * weight; }
};

std::vector<Share> shares(const MergeNow& now, Slot slot, int col, const Explanation& told) {
    std::vector<Share> out;
    const auto text = [&](Slot of, double v) {
        return formula_text(told, info(of).role, v, text_alone(now.trace.digits(of), v));
    };
    for (const int tile : now.rows()) {
        const auto own = now.number(slot, tile, col), weight = now.number(Slot::w_part, tile);
        if (own && weight && std::isfinite(*own))
            out.push_back({now.name(tile), *own, *weight, text(slot, *own),
                           "× " + text(Slot::w_part, *weight),
                           "× " + text_alone(now.trace.digits(Slot::w_part), *weight)});
    }
    return out;
}

bool bar_text(const Canvas& c, const Rect& bar, const std::string& text, ImU32 fill, Face face = Face::mono) {
    const bool room = text_width(face, size::small, text) <= bar.w - 6;
    if (room)
        c.text(bar.x + bar.w / 2, bar.middle(), text, size::small, ink_on(*c.theme, fill), face,
               Align::center);
    return room;
}

// Above a bar what has no room at it: "2.839 × 0.368". Returns where it ends.
float text_above(const Canvas& c, float x, float y, float right, const std::string& own,
                 const std::string& factor) {
    const float gap = own.empty() ? 0 : 6, own_w = text_width(Face::mono, size::small, own),
                factor_w = factor.empty() ? 0 : gap + text_width(Face::medium, size::small, factor);
    if (x + own_w + factor_w > right) return x;
    if (!own.empty()) c.text(x, y, own, size::small, c.theme->t2, Face::mono);
    if (!factor.empty())
        c.text(x + own_w + gap, y, factor, size::small, hue(*c.theme, of_weights), Face::medium);
    return x + own_w + factor_w;
}

float letter_y(const Rect& a) { return a.y + std::min(a.h / 2, 46.0f); }

// The number of a bar that is too short for it: left of the first one, below the letter of the sum, or right
// of the last one.
void beside_bar(const Canvas& c, const Rect& a, const Rect& bar, const std::string& text, bool first,
                bool last) {
    const float w = text_width(Face::mono, size::small, text), y = bar.middle();
    if (first && w <= 44 && y - letter_y(a) > 18)
        c.text(bar.x - 4, y, text, size::small, c.theme->t2, Face::mono, Align::right);
    else if (last && bar.right() + 5 + w <= a.right())
        c.text(bar.right() + 5, y, text, size::small, c.theme->t2, Face::mono);
}

// "=" where the printed terms come to the printed sum and the formula, if it is of that, has it so.
bool sum_holds(const std::vector<Share>& all, const std::string& whole, const Explanation& told) {
    std::vector<std::string> terms;
    for (const Share& share : all) terms.push_back(format_short(share.now()));
    const Line& result = told.result;
    const bool near =
        result.size() > 1 && result.back().text == whole && result[result.size() - 2].text.ends_with("≈ ");
    return !near && (terms.size() < 2 || *sign_before_total(terms, whole) == '=');
}

// With more decimals, where they come to just the printed sum then.
std::vector<std::string> told_terms(const std::vector<Share>& all, const std::string& whole) {
    std::vector<std::string> terms;
    for (const Share& share : all) terms.push_back(format_short(share.now()));
    if (all.size() < 2 || *sign_before_total(terms, whole) == '=') return terms;
    const ShownNumber total = read_shown(whole);
    for (int decimals = number_style().digits; decimals < number_style().digits + 3; ++decimals) {
        std::vector<std::string> longer;
        double sum = 0;
        for (const Share& share : all) {
            longer.push_back(format_fixed(share.now(), decimals));
            sum += read_shown(longer.back()).value;
        }
        if (std::abs(sum - total.value) <= .5001 * total.unit) return longer;
    }
    return terms;
}

// All terms have one sign: bars laid end to end, and the way of each to its place in the sum.
void end_to_end(const Canvas& c, const Rect& a, const std::vector<Share>& all, const Line& letter, Role role,
                double result, float phase, const Explanation& formula) {
    const Theme& t = *c.theme;
    double above = 0, below = 0;
    for (const Share& share : all) above += std::abs(share.own), below += std::abs(share.now());
    if (above == 0) return;
    const float gap = all.size() > 8 ? 2.0f : 8.0f, h = std::clamp(a.h * .17f, 18.0f, 26.0f);
    const float scale = (a.w - gap * px(all.size() - 1)) / static_cast<float>(std::max(above, below));
    const float y1 = a.y + (a.h > 100 ? 18.0f : 2.0f), y2 = y1 + h + std::clamp(a.h * .2f, 16.0f, 34.0f);
    const ImU32 quiet = mix(t.panel, hue(t, role), .2f), full = ramp(t, role, 1),
                wedge = with_alpha(hue(t, of_weights), .16f);
    const float moved = over(phase, during::shrinking);
    float x = a.x, to = a.x, named = a.x, above_free = a.x;
    for (const Share& share : all) {
        const float w = std::max(1.0f, static_cast<float>(std::abs(share.own)) * scale),
                    v = static_cast<float>(std::abs(share.now())) * scale;
        const float now_x = x + (to - x) * moved, now_w = w + (v - w) * moved;
        c.polygon({{x, y1 + h}, {x + w, y1 + h}, {now_x + now_w, y2}, {now_x, y2}}, wedge);
        c.line({x + w, y1 + h}, {now_x + now_w, y2}, with_alpha(hue(t, of_weights), .7f));
        c.line({x, y1 + h}, {now_x, y2}, with_alpha(hue(t, of_weights), .7f));
        const Rect before{x, y1, w, h}, after{now_x, y2, now_w, h};
        c.rect(before.x, before.y, before.w, before.h, quiet, radius::bar);
        c.hatch(before.x, before.y, before.w, before.h, with_alpha(hue(t, role), .5f), 6);
        const std::string &own = share.own_text, name = "part " + share.name + "  " + own;
        const bool both = all.size() > 1 && text_width(Face::mono, size::small, name) <= w - 6;
        const bool told = bar_text(c, before, both ? name : own, quiet);
        if (now_w > .5f) {
            c.rect(after.x, after.y, after.w, after.h, full, radius::bar);
            c.frame(after.x + .5f, after.y + .5f, after.w - 1, after.h - 1, hue(t, role), 1, radius::bar);
            if (!bar_text(c, after, format_short(share.now()), full) && moved >= 1)
                beside_bar(c, a, after, format_short(share.now()), &share == &all.front(),
                           &share == &all.back());
        }
        const std::string& factor = share.factor;
        // Inside its wedge, and not on the factor before it
        const float factor_w = text_width(Face::medium, size::small, factor),
                    at = std::max((x + now_x) / 2 + 8, named);
        const bool factor_told = at + factor_w < (x + w + now_x + now_w) / 2 + 12 && y2 - y1 - h >= 18;
        if (factor_told) {
            c.text(at, (y1 + h + y2) / 2, factor, size::small, hue(t, of_weights), Face::medium);
            named = at + factor_w + 8;
        }
        if ((!told || !factor_told) && w >= 4 && y1 - a.y >= 18 && x >= above_free)
            above_free =
                10 + text_above(c, x, y1 - 10, a.right(), told ? "" : own, factor_told ? "" : factor);
        x += w + gap, to += v;
    }
    const float there = over(phase, during::sum), line = y2 + h + 5;
    if (there <= 0 || line + 16 > a.bottom() + 4) return;
    const Canvas now = c.faded(there);
    now.line({a.x, line}, {to, line}, t.t1, 1.6f);
    for (const float end : {a.x + .8f, to - .8f}) now.line({end, line - 4}, {end, line}, t.t1, 1.6f);
    const std::string whole = format_short(result);
    const Line total = pieces(letter, sum_holds(all, whole, formula) ? "  " : " ≈ ", strong(whole));
    const float half = rich_width(c, total, size::lead) / 2;
    now.rich(std::clamp((a.x + to) / 2, a.x + half, a.right() - half), line + 13, total, size::lead,
             Align::center);
}

// In a narrow pane on stage: a bar for each part with its name, number and weight over it, what is left of it
// filled, and below them the sum.
constexpr float least_row_of_part = 27, most_row_of_part = 37, rows_of_sum = 50;
bool stands_narrow(const Rect& a, std::size_t parts) {
    return far_type() && a.w < 240 && a.h >= least_row_of_part * px(parts) + rows_of_sum;
}

void below_each_other(const Canvas& c, const Rect& a, const std::vector<Share>& all, const Line& letter,
                      Role role, double result, float phase, const Explanation& formula) {
    const Theme& t = *c.theme;
    double most = std::abs(result);
    for (const Share& share : all) most = std::max(most, std::abs(share.own));
    if (most == 0) return;
    const ImU32 quiet = mix(t.panel, hue(t, role), .2f), full = ramp(t, role, 1);
    const auto width = [&](double v) { return a.w * static_cast<float>(std::abs(v) / most); };
    const float row_of_part = std::min((a.h - rows_of_sum) / px(all.size()), most_row_of_part);
    const float moved = over(phase, during::shrinking),
                h = row_of_part - 22 + (row_of_part < 34 ? 6.0f : 0.0f), first = a.y + 8,
                y2 = first + row_of_part * px(all.size()) + 2;
    const std::string whole = format_short(result);
    const std::vector<std::string> terms = told_terms(all, whole);
    constexpr float before_factor = 5;
    // With the decimals of the formula, if those of all have room beside the names.
    const bool as_told = std::ranges::all_of(all, [&](const Share& share) {
        const float room = a.w - text_width(Face::semibold, size::body, share.name) - 3 - before_factor;
        return text_width(Face::mono, size::small, share.own_text) +
                   text_width(Face::medium, size::small, share.factor) <=
               room;
    });
    float y = first, x = a.x;
    bool told = true;  // each bar of the sum has its number
    for (const Share& share : all) {
        const float own = std::max(1.0f, width(share.own)), left = own + (width(share.now()) - own) * moved;
        c.text(a.x, y, share.name, size::body, t.t2, Face::semibold);
        const std::string &factor = as_told ? share.factor : share.plain_factor,
                          own_text = as_told ? share.own_text : format_short(share.own);
        const float factor_w = text_width(Face::medium, size::small, factor);
        c.text(a.right() - factor_w, y, factor, size::small, hue(t, of_weights), Face::medium);
        c.text(a.right() - factor_w - before_factor, y, own_text, size::small, t.t1, Face::mono,
               Align::right);
        c.rect(a.x, y + 10, own, h, quiet, radius::bar);
        if (own - left > 2) c.hatch(a.x + left, y + 10, own - left, h, with_alpha(hue(t, role), .5f), 6);
        c.rect(a.x, y + 10, left, h, full, radius::bar);
        c.frame(a.x + .5f, y + 10.5f, std::max(left - 1, 1.0f), h - 1, hue(t, role), 1, radius::bar);
        const float v = width(share.now()), there = over(phase, during::sum);
        if (there > 0) {
            const Canvas now = c.faded(there);
            now.rect(x, y2, std::max(v, 1.0f), h + 2, full, radius::bar);
            now.frame(x + .5f, y2 + .5f, std::max(v - 1, 1.0f), h + 1, hue(t, role), 1, radius::bar);
            told &=
                bar_text(now, {x, y2, v, h + 2}, terms[static_cast<std::size_t>(&share - all.data())], full);
        }
        x += v, y += row_of_part;
    }
    c.line({a.x, y2 - 6}, {a.right(), y2 - 6}, t.line2);
    const Line total = pieces(letter, sum_holds(all, whole, formula) ? "  =  " : "  ≈  ", strong(whole));
    const Canvas there = c.faded(over(phase, during::sum));
    // Else they stand before the total.
    constexpr float line_h = 20;
    const std::string sum = joined(terms, " + ");
    const float below = y2 + h + 15;
    const bool both =
        !told && below + line_h + 10 <= a.bottom() && text_width(Face::mono, size::small, sum) <= a.w;
    if (both) there.text(a.x, below, sum, size::small, t.t2, Face::mono);
    there.rich(a.x, below + (both ? line_h : 0), total, size::lead);
}

// Terms of both signs: a bar each, from zero, what is left of it over what it was.
void about_zero(const Canvas& c, const Rect& a, const std::vector<Share>& all, Slot slot, double result) {
    const Theme& t = *c.theme;
    const Role role = info(slot).role;
    double lo = std::min(0.0, result), hi = std::max(0.0, result);
    for (const Share& share : all) lo = std::min(lo, share.own), hi = std::max(hi, share.own);
    if (hi == lo) return;
    const float names = 48, rows = px(all.size() + 1), row = std::min(34.0f, a.h / rows);
    const float numbers = 64, w = a.w - names - numbers;
    const auto x_of = [&](double v) { return a.x + names + w * static_cast<float>((v - lo) / (hi - lo)); };
    const auto draw = [&](float y, double v, float h, ImU32 fill, bool hatched) {
        const float x0 = std::min(x_of(0), x_of(v)), bar = std::max(1.0f, std::abs(x_of(v) - x_of(0)));
        c.rect(x0, y, bar, h, fill, radius::bar);
        if (hatched) c.hatch(x0, y, bar, h, with_alpha(hue(t, role), .5f), 6);
    };
    float y = a.y;
    for (const Share& share : all) {
        const float h = std::max(6.0f, row - 8);
        c.text(a.x + names - 8, y + h / 2, share.name, size::small, t.t2, Face::medium, Align::right);
        draw(y, share.own, h, mix(t.panel, hue(t, role), .18f), true);
        draw(y + h * .25f, share.now(), h * .5f, hue(t, role), false);
        c.text(a.right(), y + h / 2, format_short(share.now(), 3), size::small, t.t2, Face::mono,
               Align::right);
        y += row;
    }
    const float h = std::max(6.0f, row - 8);
    c.rich(a.x + names - 8, y + h / 2, {slot_symbol(slot).front()}, size::lead, Align::right);
    draw(y, result, h, mix(t.panel, hue(t, role), .45f), false);
    c.text(a.right(), y + h / 2, format_short(result, 3), size::small, t.t1, Face::mono_bold, Align::right);
    c.line({x_of(0), a.y}, {x_of(0), y + h}, t.line2, 1.4f);
}

void draw_sum(const Canvas& c, const MergeNow& now, const Rect& a, Slot slot, int col, float phase,
              const Explanation& told) {
    const auto result = now.result(slot, col);
    const std::vector<Share> all = shares(now, slot, col, told);
    if (!result || !std::isfinite(*result)) return;
    const bool mixed = std::ranges::any_of(all, [](const Share& s) { return s.own < 0; }) &&
                       std::ranges::any_of(all, [](const Share& s) { return s.own > 0; });
    const float label = far_type() ? 34 : 46;  // holds the number of a first bar that is too short for it
    Line letter = {slot_symbol(slot).front()};
    const bool narrow = !mixed && stands_narrow(a, all.size());
    // Called as in the formula, "O[0,0]", where that has room.
    const std::string called = plain(told.result);
    const std::size_t from = called.find('['), to = called.find(']');
    const bool named = narrow && told.target.slot != Slot::count &&
                       info(told.target.slot).role == info(slot).role && from < to && to != std::string::npos;
    if (named)
        letter.push_back(word(called.substr(from, to + 1 - from)));
    else if (slot == Slot::O_part && now.trace.problem().d() > 1)
        letter.push_back(word("[" + str(col) + "]"));
    if (narrow) return below_each_other(c, a, all, letter, info(slot).role, *result, phase, told);
    c.rich(a.x, letter_y(a), letter, size::symbol);
    const Rect room{a.x + label, a.y, a.w - label, a.h};
    if (mixed)
        about_zero(c, room, all, slot, *result);
    else
        end_to_end(c, room, all, letter, info(slot).role, *result, phase, told);
}

// ---- Of normalised parts: as wide as its share, as high as its output; the level is the output of all

// What is written at a bar, `x` and `w` of it: where the text is wider, it is beside a higher bar. `free`:
// where what stands there already ends, `end`: where the room does. The middle of a number is within its bar
// or, of a thin one, as near as may be: elsewhere it would be that of another.
enum class Beside { none, left, right };
struct NumberOfBar {
    float x, w, y;
    float free, end;
    Beside higher = Beside::none;
};
float write_number(const Canvas& c, const NumberOfBar& bar, double v, ImU32 colour) {
    constexpr float least_apart = 8;
    for (const int digits : digit_choices(2)) {
        const std::string text = format_short(v, digits);
        const float text_w = text_width(Face::mono, size::small, text);
        const bool wider = text_w > bar.w;
        const float wanted = wider && bar.higher == Beside::right  ? bar.x + bar.w - text_w
                             : wider && bar.higher == Beside::left ? bar.x
                                                                   : bar.x + (bar.w - text_w) / 2;
        const float at = std::min(std::max(wanted, bar.free), bar.end - text_w);
        if (at < bar.free || std::abs(at - wanted) > std::max(least_apart, bar.w / 2)) continue;
        c.text(at, bar.y, text, size::small, colour, Face::mono);
        return at + text_w + 5;
    }
    return bar.free;
}

// Heights at which a number of a bar may stand: in it, where it has room, else above it; the first of them
// that the line of the level does not strike through.
float height_of_number(const Rect& bar, float text_w, bool up, float level) {
    constexpr float half = 9;
    std::vector<float> heights;
    const bool inside = text_w + 6 <= bar.w;
    const auto in_bar = [&](float y) {
        if (inside && y - half >= bar.y && y + half <= bar.bottom()) heights.push_back(y);
    };
    in_bar(up ? bar.y + half + 1 : bar.bottom() - half - 1);
    in_bar(level + half + 1);
    heights.push_back(up ? bar.y - half - 1 : bar.bottom() - half - 1);
    heights.push_back(level - half - 1);
    return *std::ranges::find_if(heights, [&](float y) { return std::abs(y - level) > half; });
}

void draw_level(const Canvas& c, const MergeNow& now, const Rect& a, int col, float phase,
                const Explanation& told) {
    const Theme& t = *c.theme;
    const std::vector<Share> all = shares(now, Slot::O_part, col, told);
    const auto result = now.result(Slot::O_part, col);
    if (!result) return;
    double lo = std::min(0.0, *result), hi = std::max(0.0, *result);
    for (const Share& share : all) lo = std::min(lo, share.own), hi = std::max(hi, share.own);
    if (hi == lo) hi = lo + 1;
    // In a narrow panel the bars have all of its width, and what they come to stands below them.
    const bool narrow = a.w < 260;
    const float top = a.y + 18, bottom = a.bottom() - (narrow ? 46 : 24), left = a.x + (narrow ? 4 : 8),
                w = a.w - (narrow ? 8 : 72), first = a.x - 14, end = narrow ? a.right() + 12 : left + w + 10;
    const auto y_of = [&](double v) {
        return bottom - (bottom - top) * static_cast<float>((v - lo) / (hi - lo));
    };
    const ImU32 fill = mix(t.panel, hue(t, Role::O), t.light ? .3f : .4f);
    const float number_w = text_width(Face::mono, size::small, "0.000");
    float x = left, weight_end = first, own_end = first, own_y = 0;
    for (const Share& share : all) {
        const float bw = w * static_cast<float>(share.weight);
        const float y0 = std::min(y_of(0), y_of(share.own)), h = std::abs(y_of(share.own) - y_of(0));
        if (bw < .5f) continue;
        c.rect(x + 1, y0, std::max(1.0f, bw - 2), h, fill, 2);
        c.frame(x + 1.5f, y0 + .5f, std::max(1.0f, bw - 3), h, hue(t, Role::O), 1, 2);
        const float y = height_of_number({x, y0, bw, h}, number_w, share.own >= 0, y_of(*result));
        const auto higher = [&](const Share& other) { return y_of(other.own) < y + 9; };
        const Beside beside = &share != &all.back() && higher((&share)[1])     ? Beside::right
                              : &share != &all.front() && higher((&share)[-1]) ? Beside::left
                                                                               : Beside::none;
        const bool in_bar = y > y0 && y < y0 + h;
        const float free = std::abs(y - own_y) < 15 ? own_end : first;
        own_end = write_number(c, {x, bw, y, free, end, beside}, share.own, in_bar ? ink_on(t, fill) : t.t2);
        own_y = y;
        c.line({x + 1, bottom + 5}, {x + bw - 1, bottom + 5}, hue(t, of_weights), 3);
        weight_end = write_number(c, {x, bw, bottom + 17, weight_end, end}, share.weight, hue(t, of_weights));
        x += bw;
    }
    c.line({left - 4, y_of(0)}, {left + w + 4, y_of(0)}, t.line2);
    const Canvas there = c.faded(over(phase, during::sum));
    there.line({left - 4, y_of(*result)}, {left + w + (narrow ? 4 : 6), y_of(*result)}, t.focus, 2.6f);
    if (narrow)
        there.text(a.x + a.w / 2, a.bottom() - 8, format_short(*result), size::lead, t.t1, Face::mono_bold,
                   Align::center);
    else
        there.text(left + w + 12, y_of(*result), format_short(*result), size::lead, t.t1, Face::mono_bold);
}

// O ÷ ℓ
void draw_division(const Canvas& c, const AppState& state, const MergeNow& now, const Rect& a, int col,
                   float phase) {
    const double l = value_of(now, Slot::l, 0).data(now.row, 0);
    const Value& before = *now.trace.live(Slot::Oi, now.k - 1).value;
    const Value& after = now.shared ? value_of(now, Slot::O_part, now.part) : value_of(now, Slot::Oi, 0);
    if (l == 0) return nothing(c, a, "No key was seen: there is nothing to divide");
    Stack out = division_stack(now.trace.problem(), before.data(now.row, col), l, after.data(now.row, col));
    out.formula = &state.explanation;
    stack(c, a, out, join(extent(out), extent_of_rows(before, after, now.row)), phase);
}

const char* caption_of(const MergeNow& now) {
    switch (now.trace.step(now.k).op) {
    case Op::part: return "every weight of the part, measured from its own maximum";
    case Op::merge_max: return "the larger one is the common maximum";
    case Op::merge_lse: return "exp of these adds up";
    case Op::merge_weights:
        return now.shared ? "the share of each part" : "each part, below the common maximum";
    case Op::merge_sum: return "brought to the common maximum, then added";
    case Op::merge_output:
        return now.normalised ? "width w × height O, levelled" : "brought to the common maximum, then added";
    case Op::normalize: return "divided by ℓ, once";
    default: return "";
    }
}

}  // namespace

// NaN and ∞, which only a broken walk has, are no lengths.
static bool has_lengths(const MergeNow& now) {
    for (const Slot slot : {Slot::m_part, Slot::l_part, Slot::L_part, Slot::w_part, Slot::O_part})
        for (const int tile : now.rows())
            if (const Held held = now.trace.live(slot, tile, now.k))
                for (Eigen::Index n = 0; n < held.value->data.size(); ++n)
                    if (const double v = held.value->data.data()[n]; std::isnan(v) || v == infinity)
                        return false;
    return true;
}

void draw_merge_lens(const Canvas& c, AppState& state, const MergeNow& now, const Rect& a) {
    c.well(a.x, a.y, a.w, a.h);
    const PanelPart part(c, "Lens", a);
    const Op op = op_now(state);
    // A low one has room for the drawing alone.
    const Rect inner =
        a.h < 130 ? Rect{a.x + 14, a.y + 8, a.w - 28, a.h - 16} : lens_title(c, a, caption_of(now));
    const float come = phase(state);
    const int col = merge_column(state);
    const Explanation& told = state.explanation;
    if (!is_load(op) && !is_store(op) && !has_lengths(now))
        return nothing(c, inner, "NaN and ∞ are no lengths: nothing to draw");
    switch (op) {
    case Op::init:
    case Op::part: return draw_looking(c, now, inner, come);
    case Op::merge_max:
    case Op::merge_lse: return draw_maxima(c, now, inner, come);
    case Op::merge_weights: return draw_weights(c, now, inner, come);
    case Op::merge_sum: return draw_sum(c, now, inner, Slot::l_part, 0, come, told);
    case Op::normalize: return draw_division(c, state, now, inner, col, come);
    case Op::load:
    case Op::store: return traffic_bars(c, state, inner);
    default: break;
    }
    if (now.normalised) return draw_level(c, now, inner, col, come, told);
    // ℓ above O where both have room: the same weights fit.
    if (inner.h < 190 || stands_narrow(inner, now.rows().size()))
        return draw_sum(c, now, inner, Slot::O_part, col, come, told);
    const float half = (inner.h - 14) / 2;
    draw_sum(c, now, {inner.x, inner.y, inner.w, half}, Slot::l_part, 0, 1, told);
    c.line({inner.x, inner.y + half + 7}, {inner.right(), inner.y + half + 7}, c.theme->line);
    draw_sum(c, now, {inner.x, inner.y + half + 14, inner.w, half}, Slot::O_part, col, come, told);
}

}  // namespace tilewalk::ui

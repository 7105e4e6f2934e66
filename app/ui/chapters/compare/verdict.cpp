// The verdict: how far the kernel is from fp64, as a multiple of what standard attention in its type is.
#include "app/ui/chapters/compare/compare.h"
#include "app/ui/kit/empty.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

namespace tilewalk::ui {

namespace {

// 7.76×10⁻⁴ in pieces
Line power_of_ten(double x, bool result = false) {
    if (x == 0 || !std::isfinite(x) || std::abs(x) >= 1e-3)
        return {number(three_digits(x), Role::none, result)};
    const int power = static_cast<int>(std::floor(std::log10(std::abs(x))));
    return pieces(number(format_fixed(x / std::pow(10.0, power), 2), Role::none, result), "×10",
                  super("−" + str(-power)));
}

Line largest_error(Slot slot, const char* of) {
    return pieces("max | ", slot_symbol(slot), sub(of), " − ", slot_symbol(slot), sub("64"), " |");
}

Line formula(const OutputVerdict& v) {
    return pieces(largest_error(v.slot, "kernel"), "   ≤   " + format_number(v.factor) + " · ",
                  largest_error(v.slot, "standard"), "  +  2 roundings");
}

// The limit with the digits, and behind the sign, that it has everywhere else.
Line numbers(const OutputVerdict& v) {
    const Line limit =
        v.limit() < 1e-3 ? power_of_ten(v.limit(), true) : Line{number(limit_text(v), Role::none, true)};
    const bool near = v.limit() < 1e-3 || formula_text(v).find("≈") != std::string::npos;
    return pieces(power_of_ten(v.error, true), v.passed() ? "   ≤   " : "   >   ",
                  format_number(v.factor) + " · ", power_of_ten(v.standard), "  +  ", power_of_ten(v.floor),
                  near ? "  ≈  " : "  =  ", limit);
}

void sign(const Canvas& c, bool passed, float x, float y, float r) {
    const Theme& t = *c.theme;
    if (passed) {
        c.ring(x, y, r, t.t1, 2.2f);
        const Point tick[] = {
            {x - r * .4f, y + r * .02f}, {x - r * .1f, y + r * .32f}, {x + r * .42f, y - r * .3f}};
        c.polyline(tick, t.t1, 2.6f);
        return;
    }
    c.polygon({{x, y - r}, {x + r, y}, {x, y + r}, {x - r, y}}, t.danger);
    c.cross(x, y, r * .3f, t.panel, 3);
}

// In two lines.
std::string subtitle(const KernelComparison& c, float w) {
    const std::string all = verdict_words(c);
    const float h = paragraph_height(w, all, size::small, 0, Face::regular, 1.3f);
    return h < 2.5f * 1.3f * size::small ? all : verdict_words(c, true);
}

// Below the gauge: 1 ×, with what that is if there is room, 2 × and the limit, from the right as far as they
// fit; those that are named have a tick.
void gauge_marks(const Canvas& c, const OutputVerdict& v, const Rect& a, float size,
                 const std::function<float(double)>& X) {
    const std::string one = "1 ×";
    const std::vector<std::pair<double, std::vector<std::string>>> marks = {
        {v.limit(), {"limit " + limit_text(v), limit_text(v)}},
        {v.factor * v.standard, {format_number(v.factor) + " ×"}},
        {v.standard,
         {"standard's error, " + three_digits(v.standard), "standard " + three_digits(v.standard), one}}};
    float free = a.right() + 10;
    for (const auto& [error, texts] : marks)
        for (const std::string& text : texts) {
            const float w = text_width(Face::regular, size, text);
            const float at = std::clamp(X(error), a.x + w / 2, a.right() - w / 2);
            // Below another mark than its own it would be that one's.
            const bool aside = std::abs(at - X(error)) > w / 4;
            if (at + w / 2 + size * 1.4f > free || (aside && text != one)) continue;
            c.text(at, a.bottom() + size * .9f, text, size, c.theme->t2, Face::regular, Align::center);
            if (error != v.limit())
                c.line({X(error), a.y - 1}, {X(error), a.bottom() + 4}, c.theme->t2, 1.5f);
            free = at - w / 2;
            break;
        }
}

// Standard's error and two roundings, with a digit more where else they would not come to the printed limit.
std::string parts_of_limit(const OutputVerdict& v) {
    const auto parts = [&](const auto& text_of) { return std::pair(text_of(v.standard), text_of(v.floor)); };
    auto [standard, floor] = parts(three_digits);
    const bool in_powers = v.limit() < 1e-3;
    for (int digits = 4; !in_powers && digits <= 5; ++digits) {
        const ShownNumber limit = read_shown(limit_text(v));
        const double sum = v.factor * read_shown(standard).value + read_shown(floor).value;
        if (std::abs(sum - limit.value) <= .5001 * limit.unit) break;
        std::tie(standard, floor) = parts([&](double x) { return significant(x, digits); });
    }
    return standard + " + " + floor;
}

// Above it: the ratio beside the error, and what the limit is.
void gauge_words(const Canvas& c, const OutputVerdict& v, const Rect& a, float size, float error_x,
                 float limit_x) {
    const Theme& t = *c.theme;
    const std::string text = times_text(v.ratio());
    const float ratio_w = text_width(Face::semibold, size * 1.5f, text);
    // With what it is made of, where there is room
    const std::string factor = "limit " + format_number(v.factor) + " × ";
    std::string label = factor + parts_of_limit(v) + ", 2 roundings";
    if (ratio_w + 24 + text_width(Face::medium, size, label) > a.w) label = factor + "+ 2 roundings";
    const float label_w = text_width(Face::medium, size, label);
    if (error_x > limit_x) {  // the error's end has its number, what it should be stands before it
        const float ratio_x = std::min(error_x - ratio_w / 2, a.right() - ratio_w), end = ratio_x - 20;
        c.text(ratio_x, a.y - size * .95f, text, size * 1.5f, t.t1, Face::semibold);
        if (a.x + label_w <= end)
            c.text(std::clamp(limit_x, a.x + label_w / 2, end - label_w / 2), a.y - size * .85f, label, size,
                   t.t2, Face::medium, Align::center);
        return;
    }
    const float limit_at = std::clamp(limit_x, a.x + label_w / 2, a.right() - label_w / 2);
    const float before = limit_at - label_w / 2 - 12 - ratio_w;
    const float at = std::clamp(error_x - ratio_w / 2, a.x, std::max(a.x, before));
    c.text(at, a.y - size * .95f, text, size * 1.5f, t.t1, Face::semibold);
    if (at + ratio_w + 8 <= limit_at - label_w / 2)
        c.text(limit_at, a.y - size * .85f, label, size, t.t2, Face::medium, Align::center);
}

}  // namespace

// Its end is not that of the error, which lies far beyond it: broken, and an arrow head.
static void goes_on(const Canvas& c, const Rect& bar, ImU32 fill) {
    note_part(c, bar, "gauge goes on");
    const float slant = bar.h * .4f, x = bar.right() - 3 * bar.h;
    for (const float at : {x, x + .5f * bar.h})
        c.line({at - slant / 2, bar.bottom() + 2}, {at + slant / 2, bar.y - 2}, c.theme->panel, 3);
    c.polygon({{bar.right(), bar.y - 4},
               {bar.right() + .6f * bar.h, bar.middle()},
               {bar.right(), bar.bottom() + 4}},
              fill);
}

// The error on the scale of the whole limit, which has marks at the standard's error, at twice that and at
// its end. Nothing else is filled: a second fill would be read as an error.
void error_gauge(const Canvas& c, const OutputVerdict& v, const Rect& a, float size) {
    const Theme& t = *c.theme;
    const double limit = v.limit(), largest = std::isfinite(v.error) ? v.error : infinity;
    const double full = std::max(1.25 * limit, std::min(1.12 * largest, 4 * limit));
    const auto X = [&](double error) {
        return full > 0 ? a.x + a.w * px(std::min(error, full) / full) : a.x;
    };
    const float h = std::max(12.0f, size), y = a.middle() - h / 2, edge = full > 0 ? X(limit) : a.right();
    const ImU32 strong = v.passed() ? t.t1 : t.danger;
    c.rect(a.x, y, a.w, h, t.well, radius::cell);
    c.crossed(edge, y, a.right() - edge, h, t.t3, 8);
    c.rect(a.x, y, std::max(2.0f, X(v.error) - a.x), h, strong, radius::cell);
    c.frame(a.x + .5f, y + .5f, a.w - 1, h - 1, t.line2, 1, radius::cell);
    c.line({edge, y - 4}, {edge, y + h + 4}, t.panel, 7);  // or it is lost in a fill that goes on beyond it
    c.line({edge, y - 4}, {edge, y + h + 4}, strong, 2.5f);
    if (largest > full) goes_on(c, {a.x, y, a.w, h}, strong);
    gauge_words(c, v, {a.x, y, a.w, h}, size, X(v.error), edge);
    gauge_marks(c, v, {a.x, y, a.w, h}, size, X);
}

void compare_to_come(const Canvas& c, AppState& state, const Rect& a) {
    const ComparePage& page = *state.comparing;
    const char* const title = page.run               ? "Running"
                              : page.failure.empty() ? "Nothing compared yet"
                                                     : "It cannot be compared";
    const Panel panel(c, "Verdict", a, title);
    EmptyState empty{.words = page.failure};
    if (page.run) {
        empty.words =
            "The kernel runs and writes down what it holds; then the CPU walks through the same tiles.";
        empty.progress = compare_status(state);
        empty.first = {"##cancel comparison", "Cancel (Esc)", "Stop", false};
    } else {
        if (page.failure.empty())
            empty.words =
                "Run sets what the kernel writes down of itself beside the CPU's walk of the same tiles.";
        empty.first = {"##first comparison", "Run (Space)", "Run the kernel and the CPU's walk (Space)"};
    }
    if (!empty_state(c, a, empty).first) return;
    page.run ? cancel_comparison(state) : start_comparison(state);
}

void compare_verdict(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Verdict", a);
    const Theme& t = *c.theme;
    const KernelComparison& shown = *state.comparing->shown;
    const OutputVerdict& v = shown.nearest();
    const bool narrow = a.w < 1150;
    const float x = a.x + 18, r = a.h > 90 ? 25 : 21, words = narrow ? 290 : 380;
    sign(c, shown.passed(), x + r, a.middle(), r);
    const float text_x = x + 2 * r + 16, text_w = words - 2 * r - 34;
    c.text_within(text_x, a.middle() - 15, text_w, shown.passed() ? "Within the rule" : "Beyond the rule", 22,
                  t.t1, Face::semibold);
    c.paragraph(text_x, a.middle() + 3, text_w, subtitle(shown, text_w), size::small, t.t2, 2, Face::regular,
                1.3f);
    const float gauge_x = a.x + words + 12, rest = a.right() - 18 - gauge_x;
    const Line symbols = formula(v), values = numbers(v);
    const float size = narrow ? 14 : 17;
    const float formula_w = std::max(rich_width(c, symbols, size), rich_width(c, values, size));
    const bool fits = rest - formula_w - 30 >= 150;
    const float gauge_w = fits ? rest - formula_w - 36 : rest;
    error_gauge(c, v, {gauge_x, a.y, std::min(gauge_w, 560.0f), a.h + 6}, 14);
    if (fits) {
        const float at = gauge_x + std::min(gauge_w, 560.0f) + 36;
        c.rich(at, a.middle() - 17, symbols, size, Align::left, t.t2);
        c.rich(at, a.middle() + 19, values, size, Align::left, t.t2);
    }
}

}  // namespace tilewalk::ui

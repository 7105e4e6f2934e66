// The page as a whole, and small parts that its panels share.
#include "app/ui/chapters/compare/compare.h"

#include "app/ui/kit/items.h"
#include "app/ui/kit/page_frame.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tilewalk::ui {

std::string device_text(const KernelRun& run) {
    if (run.device == "cuda") return run.device_name + (run.driver.empty() ? "" : ", driver " + run.driver);
    return "emulator: the kernel's source, run by the CPU";
}

std::string significant(double x, int digits, bool zeros) {
    if (!std::isfinite(x)) return format_number(x);
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, zeros ? "%#.*g" : "%.*g", digits, x);
    return buffer[0] == '-' ? "−" + std::string(buffer + 1) : std::string(buffer);
}

// Nine digits of each, with their last zeros unless both are integers.
Digits digits_of(double x, double other, int digits) {
    const auto whole = [](double v) {
        return !std::isfinite(v) || (std::abs(v) < 1e9 && v == std::round(v));
    };
    const bool zeros = !whole(x) || !whole(other);
    Digits out{significant(x, digits, zeros)};
    const std::string beside = significant(other, digits, zeros);
    while (out.same < out.text.size() && out.same < beside.size() && out.text[out.same] == beside[out.same])
        ++out.same;
    if (out.text == beside) out.same = out.text.size();
    // Not within a letter of several bytes
    while (out.same > 0 && out.same < out.text.size() && continues_character(out.text[out.same])) --out.same;
    return out;
}

float draw_digits(const Canvas& c, float x, float y, const Digits& digits, float size) {
    const Theme& t = *c.theme;
    const float start = x;
    if (digits.same > 0) x += c.text(x, y, digits.text.substr(0, digits.same), size, t.t1, Face::mono);
    const std::string rest = digits.text.substr(digits.same);
    if (rest.empty()) return x - start;
    const float w = text_width(Face::mono_bold, size, rest);
    c.rect(x - 1, y - size * .65f, w + 2, size * 1.3f, t.t1, radius::bar);
    c.text(x, y, rest, size, t.inv, Face::mono_bold);
    return x + w - start;
}

std::string ulp_text(double ulp) {
    if (!std::isfinite(ulp)) return "∞";
    if (ulp < 999.5) return format_number(ulp, ulp < 10 && ulp != std::floor(ulp) ? 2 : 3);
    int power = static_cast<int>(std::floor(std::log10(ulp)));
    long digit = std::lround(ulp / std::pow(10.0, power));
    if (digit == 10) digit = 1, ++power;
    return str(digit) + "e" + str(power);
}

std::string ulp_count(double ulp) {
    return ulp >= 999.5 && ulp < 99999.5 ? format_count(std::llround(ulp)) : ulp_text(ulp);
}

std::string finding_words(const KernelComparison& c) {
    std::string text = finding_text(c);
    if (const std::string fault = fault_text(c); !fault.empty()) text = fault;
    if (text.starts_with("all ")) return "Rounding explains every difference from the CPU's walk";
    if (text.starts_with("first")) text[0] = 'F';
    if (text.starts_with("the ")) text[0] = 'T';
    return text;
}

std::string times_text(double ratio) {
    return std::isfinite(ratio) ? format_fixed(ratio, ratio < 99.995 ? 2 : 0) + " ×" : "∞";
}

std::string verdict_words(const KernelComparison& c, bool brief) {
    const OutputVerdict& v = c.nearest();
    const std::string standard = "standard attention in " + std::string(name(format_of(c.kernel->dtype)));
    const std::string of = std::string(info(v.slot).symbol) + ": ",
                      rule = format_number(v.factor) + " × and 2 roundings";
    if (!std::isfinite(v.error))
        return of + "NaN or ∞" +
               (brief ? "; standard is finite" : ", where " + standard + " is finite; the rule: " + rule);
    if (!std::isfinite(v.ratio())) return of + "off, where " + standard + " is exact";
    return of + times_text(v.ratio()) +
           (brief ? " standard's error; rule: " : " the error of " + standard + "; the rule: ") + rule;
}

void compare_view(const Canvas& c, AppState& state, const Rect& a) {
    constexpr float gap = space::margin;
    const PageFrame frame = page_frame_below(a, Foot::bar, true);
    const Rect& body = frame.body;
    const ComparePage& page = compare_page(state);
    compare_choices(c, state, frame.strip);
    if (page.shown) {
        const float band = a.h > from::high_page ? 100 : 84, top = body.y + band + gap,
                    h = body.bottom() - top,
                    left = std::floor((body.w - gap) * (a.w < from::wide_page ? .5f : .485f));
        compare_verdict(c, state, {body.x, body.y, body.w, band});
        compare_rows(c, state, {body.x, top, left, h});
        compare_map(c, state, {body.x + left + gap, top, body.w - left - gap, h});
    } else {
        compare_to_come(c, state, body);
    }
    compare_controls(c, state, frame.foot);
}

}  // namespace tilewalk::ui

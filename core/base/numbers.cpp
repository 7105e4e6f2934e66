#include "core/base/numbers.h"

#include "core/base/rounding.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace tilewalk {

namespace {

constexpr std::string_view thin_space = "\u2009";  // between thousands

const char* const minus = "−";
// Set by the interface; walks that are built in the background write sentences, too.
std::atomic<NumberStyle> style = NumberStyle{};
static_assert(std::atomic<NumberStyle>::is_always_lock_free);  // clang would need a library for it

int digits_or_style(int digits) { return digits > 0 ? digits : style.load().digits; }

// Exactly between two numbers with so many decimals; fewer than none: between two tens, two hundreds.
bool is_halfway(double value, int decimals) {
    constexpr int exact_powers = 22;  // the largest power of ten that a double has exactly
    if (!std::isfinite(value) || std::abs(decimals) > exact_powers) return false;
    const double unit = std::pow(10.0, std::abs(decimals));
    const auto odd = [](double n) { return std::abs(std::fmod(n, 2)) == 1; };
    if (decimals < 0) return std::fmod(2 * value, unit) == 0 && odd(2 * value / unit);
    const double halves = 2 * value * unit;
    return std::fma(2 * value, unit, -halves) == 0 && odd(halves);
}

// Printing leaves an even last digit as it is where the value lies half-way: 0.62 for 0.625, beside 0.38 for
// 0.375. People round away from zero; no digit is carried, for the digit is even.
void round_half_away(char& last, const char* printed, double value, int decimals) {
    if (is_halfway(value, decimals) && std::abs(std::strtod(printed, nullptr)) < std::abs(value)) ++last;
}

std::string fixed(double value, int decimals) {
    char buffer[400];
    std::snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
    std::string text = buffer;
    round_half_away(text.back(), buffer, value, decimals);
    return text;
}

// "1.23e-04"
std::string with_exponent(double value, int mantissa_decimals) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.*e", mantissa_decimals, value);
    std::string text = buffer;
    const std::size_t e = text.find('e');
    if (e != std::string::npos)
        round_half_away(text[e - 1], buffer, value, mantissa_decimals - std::stoi(text.substr(e + 1)));
    return text;
}

// "-0.000" must not show a sign, and the sign that is shown is a real minus.
std::string with_real_minus(std::string text) {
    if (text.empty() || text[0] != '-') return text;
    const bool zero = text.find_first_of("123456789") == std::string::npos;
    return (zero ? "" : minus) + text.substr(1);
}

// For people: the minus, and the decimal mark of their choice.
std::string written(std::string text) {
    if (style.load().comma) std::replace(text.begin(), text.end(), '.', ',');
    return with_real_minus(std::move(text));
}

constexpr std::string_view raised_digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
constexpr std::string_view raised_minus = "⁻";

std::string superscript(int n) {
    std::string out(n < 0 ? raised_minus : "");
    for (char c : std::to_string(std::abs(n))) out += raised_digits[c - '0'];
    return out;
}

int read_superscript(std::string_view text) {
    const bool negative = text.starts_with(raised_minus);
    if (negative) text.remove_prefix(raised_minus.size());
    int out = 0;
    for (int digit = 0; digit < 10 && !text.empty(); ++digit)
        if (text.starts_with(raised_digits[digit])) {
            out = 10 * out + digit;
            text.remove_prefix(raised_digits[digit].size());
            digit = -1;
        }
    return negative ? -out : out;
}

std::string scientific(double value, int mantissa_decimals) {
    const std::string text = with_exponent(value, mantissa_decimals);
    const std::size_t e = text.find('e');
    return written(text.substr(0, e)) + "×10" + superscript(std::stoi(text.substr(e + 1)));
}

// What is spelled as a word or needs no decimals; empty if neither.
std::string special(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
    if (value == std::round(value) && std::abs(value) < 1e6) return with_real_minus(fixed(value, 0));
    return {};
}

bool needs_power(double value) { return std::abs(value) < 1e-3 || std::abs(value) >= 1e6; }

// How many digits stand behind the point, before a power of ten.
int decimals_in(const std::string& text) {
    const std::size_t point = text.find_first_of(".,");
    if (point == std::string::npos) return 0;
    std::size_t end = text.find_first_not_of("0123456789", point + 1);
    if (end == std::string::npos) end = text.size();
    return static_cast<int>(end - point - 1);
}

}  // namespace

double as_printed(double value, int decimals, bool power) {
    return std::strtod((power ? with_exponent(value, decimals) : fixed(value, decimals)).c_str(), nullptr);
}

void set_number_style(NumberStyle wanted) {
    wanted.digits = std::clamp(wanted.digits, fewest_digits, most_digits);
    style = wanted;
}
NumberStyle number_style() { return style; }
const char* list_separator() { return style.load().comma ? "; " : ", "; }

int decimals_of(int digits, int whole) { return std::max(0, digits - std::max(1, whole)); }
int power_decimals(int digits) { return std::max(2, digits - 2); }

std::string format_number(double value, int digits) {
    digits = digits_or_style(digits);
    if (std::string word = special(value); !word.empty()) return word;
    if (needs_power(value)) return scientific(value, power_decimals(digits));
    const auto decimals_for = [&](double v) {
        return decimals_of(digits, 1 + static_cast<int>(std::floor(std::log10(std::abs(v)))));
    };
    std::string text = fixed(value, decimals_for(value));
    // Rounding may add a digit before the point: 9.9996 is 10.00, and 999999.7 is 10⁶.
    const double rounded = std::strtod(text.c_str(), nullptr);
    if (needs_power(rounded) && rounded != 0) return scientific(value, power_decimals(digits));
    if (rounded != 0) text = fixed(value, decimals_for(rounded));
    return written(std::move(text));
}

std::string format_short(double value, int digits) {
    digits = digits_or_style(digits);
    if (std::abs(value) >= 1e-3 && std::abs(value) < 1e6 && value != std::round(value)) {
        const int whole = std::max(1, 1 + static_cast<int>(std::floor(std::log10(std::abs(value)))));
        const int most = std::max(1, digits - 1 - std::max(0, whole - 3));
        double unit = 1;
        for (int decimals = 0; decimals <= std::max(2, most); ++decimals, unit *= 10) {
            const double scaled = value * unit;
            if (std::abs(scaled - std::round(scaled)) < 1e-9) return written(fixed(value, decimals));
        }
        return written(fixed(value, most));
    }
    return format_number(value, digits);
}

ShownNumber read_shown(const std::string& text) {
    constexpr std::string_view times = "×10";
    if (text == "NaN") return {std::nan(""), 0};
    const bool negative = text.starts_with(minus);
    const std::size_t first = negative ? std::string_view(minus).size() : 0, power = text.find(times);
    if (text.compare(first, std::string::npos, "∞") == 0) return {negative ? -HUGE_VAL : HUGE_VAL, 0};
    std::string digits = text.substr(first, power == std::string::npos ? power : power - first);
    std::replace(digits.begin(), digits.end(), ',', '.');
    for (std::size_t at; (at = digits.find(thin_space)) != std::string::npos;)
        digits.erase(at, thin_space.size());
    const int exponent = power == std::string::npos
                             ? 0
                             : read_superscript(std::string_view(text).substr(power + times.size()));
    const double value = std::strtod((digits + "e" + std::to_string(exponent)).c_str(), nullptr);
    return {negative ? -value : value, std::pow(10.0, exponent - decimals_in(digits))};
}

std::pair<std::string, std::string> format_apart(double a, double b) {
    std::string one = format_short(a), other = format_short(b);
    // 0.72 and 0.720 are not apart: what counts is whether they differ with the same decimals.
    int decimals = std::max(decimals_in(one), decimals_in(other));
    if (a == b || format_fixed(a, decimals) != format_fixed(b, decimals)) return {one, other};
    while (++decimals <= 17) {
        one = format_fixed(a, decimals), other = format_fixed(b, decimals);
        if (one != other) break;
    }
    return {one, other};
}

std::string format_fixed(double value, int decimals) {
    if (!std::isfinite(value)) return special(value);
    if (value != 0 && needs_power(value)) return scientific(value, std::max(2, decimals));
    return written(fixed(value, decimals));
}

void MatrixDigits::take(double value) {
    constexpr double close = 1e-9;
    if (!std::isfinite(value)) return;
    largest = std::max(largest, std::abs(value));
    if (exact == never_exact || value == std::round(value) || std::abs(value) >= 1e6) return;
    for (double unit = std::pow(10, exact); exact < never_exact; ++exact, unit *= 10)
        if (std::abs(value * unit - std::round(value * unit)) < close) return;
}

void MatrixDigits::take(std::span<const double> values) {
    std::size_t n = 0;
    while (n < values.size() && exact < never_exact) take(values[n++]);
    // The rest, often millions, can only be larger.
    for (; n < values.size(); ++n) {
        const double size = std::abs(values[n]);
        largest = size > largest && size <= std::numeric_limits<double>::max() ? size : largest;
    }
}

void MatrixDigits::join(const MatrixDigits& other) {
    exact = std::max(exact, other.exact);
    largest = std::max(largest, other.largest);
}

int MatrixDigits::decimals(int digits) const {
    digits = digits_or_style(digits);
    if (exact <= std::max(2, digits - 1)) return exact;
    const int beyond =
        largest >= 1000 ? static_cast<int>(std::log10(largest)) - 2 : 0;  // digits before the point
    return std::max(1, digits - 1 - beyond);
}

std::string MatrixDigits::text(double value, int digits) const {
    return plain() && std::isfinite(value) ? written(fixed(value, decimals(digits)))
                                           : format_fixed(value, decimals(digits));
}

std::string format_full(double value) {
    if (std::string word = special(value); !word.empty()) return word;
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    return written(std::string(buffer, end));
}

std::string format_large_size(double bytes) {
    static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = bytes;
    int unit = 0;
    // What would be rounded up to 1024 takes the next unit.
    while (value >= 1023.5 && unit < 6) value /= 1024, ++unit;
    // 4 GiB exactly is 4 GiB; 4.00 GiB is rounded.
    const int decimals = unit == 0 || value == std::floor(value) ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0;
    return written(fixed(value, decimals)) + " " + units[unit];
}

std::string format_size(std::int64_t bytes) { return format_large_size(static_cast<double>(bytes)); }

std::string format_time(double seconds) {
    const double us = seconds * 1e6;
    if (us < 0.9995) return format_number(us * 1e3, 3) + " ns";
    if (us < 999.5) return format_number(us, 3) + " µs";
    return us < 999.5e3 ? format_number(us / 1e3, 3) + " ms" : format_number(us / 1e6, 3) + " s";
}

std::string format_count(std::int64_t n) {
    std::string digits = std::to_string(std::abs(n));
    if (std::abs(n) >= 10000)
        for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
            digits.insert(static_cast<std::size_t>(at), thin_space);
    return (n < 0 ? minus : "") + digits;
}

}  // namespace tilewalk

#include "tests/core/expression.h"

#include "core/base/numbers.h"
#include "tests/core/problem/formats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewalk::test {

namespace {

struct Part {
    long double value = 0, terms = 0;
    long double grain = 0;  ///< how far it may be off because doubles near 0 are few
};

// The lessons compute in double: what is too large for it is ∞, and near 0 its numbers are few.
long double as_double(long double x) {
    if (std::abs(x) > std::numeric_limits<double>::max())
        return std::copysign(std::numeric_limits<long double>::infinity(), x);
    return std::abs(x) < std::numeric_limits<double>::min() ? static_cast<long double>(static_cast<double>(x))
                                                            : x;
}

struct Reader {
    std::string_view rest;
    bool ok = true;
    long double jump = 0;
    std::vector<Printed> numbers = {};

    bool take(std::string_view text) {
        if (rest.substr(0, text.size()) != text) return false;
        rest.remove_prefix(text.size());
        return true;
    }
    void expect(std::string_view text) { ok = take(text) && ok; }
    bool digit_next() const { return !rest.empty() && rest[0] >= '0' && rest[0] <= '9'; }

    // Digits with at most one point; the number of digits after it decides the unit.
    void digits(Printed& out) {
        std::string text;
        std::size_t point = std::string::npos;
        const char mark = number_style().comma ? ',' : '.';
        while (digit_next() || (!rest.empty() && rest[0] == mark && point == std::string::npos)) {
            if (rest[0] == mark) point = text.size();
            text += rest[0] == mark ? '.' : rest[0];
            rest.remove_prefix(1);
        }
        if (text.empty() || text[0] == '.' || text.back() == '.') ok = false;
        const int decimals = point == std::string::npos ? 0 : static_cast<int>(text.size() - point) - 1;
        out.value = ok ? std::stold(text) : 0;
        out.unit = std::pow(10.0L, -decimals);
    }
    int superscript() {
        static const char* const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
        const bool negative = take("⁻");
        int n = 0, count = 0;
        for (bool found = true; found;) {
            found = false;
            for (int digit = 0; digit < 10 && !found; ++digit)
                if (take(raised[digit])) n = 10 * n + digit, found = true, ++count;
        }
        if (count == 0) ok = false;
        return negative ? -n : n;
    }
    Printed number(bool sign_allowed) {
        Printed out;
        const bool negative = take("−");
        if (negative && !sign_allowed) ok = false;
        if (take("∞"))
            out.value = std::numeric_limits<long double>::infinity();
        else if (!negative && take("NaN"))
            out.value = std::numeric_limits<long double>::quiet_NaN();
        else
            digits(out);
        if (rest.substr(0, 4) == "×10") {  // × is two bytes; without spaces around it belongs to the number
            expect("×10");
            out.power = true;
            const long double factor = std::pow(10.0L, superscript());
            out.value *= factor;
            out.unit *= factor;
        }
        if (negative) out.value = -out.value;
        if (std::abs(out.value) < std::numeric_limits<double>::min())
            out.value = static_cast<double>(out.value);  // doubles are few there
        return out;
    }

    // As a double, which rounds to a multiple of the least one near 0
    static Part stored(long double value, long double terms, long double grain) {
        const bool few = std::abs(value) < std::numeric_limits<double>::min() && value != 0;
        const long double more = few ? std::numeric_limits<double>::denorm_min() : 0;
        // Of ∞ ÷ ∞ and 0 · ∞ neither is known: a number that comes of it (448 ÷ ∞) is exact.
        return {as_double(value), std::isnan(terms) ? 0 : terms, std::isfinite(grain) ? grain + more : more};
    }

    Part atom(bool first) {
        if (take("(")) return bracket();
        if (take("exp(")) {
            const Part x = bracket();
            const long double e = as_double(std::exp(x.value));
            return stored(std::exp(x.value), e * (1 + x.terms), e * x.grain);
        }
        if (take("ln(")) {
            const Part x = bracket();
            const long double l = std::log(x.value);
            return {l, std::isfinite(l) ? 1 + std::abs(l) : 0, x.grain > 0 ? x.grain / x.value : 0};
        }
        if (take("tanh(")) {
            const Part x = bracket();
            const long double t = std::tanh(x.value), slope = 1 - t * t;
            return {t, std::abs(t) + slope * x.terms, slope * x.grain};
        }
        if (take("max(")) return maximum();
        for (const auto& [name, format] : format_names())
            if (take(name + "(")) {
                const Part x = bracket();
                const long double noise = 1e-13L * x.terms + x.grain, rounded = nearest(format, x.value);
                for (long double other : {nearest(format, x.value - noise), nearest(format, x.value + noise)})
                    if (other != rounded && std::isfinite(other))
                        jump = std::max(jump, std::abs(other - rounded));
                return {rounded, x.terms, x.grain};
            }
        numbers.push_back(number(first));
        const long double v = numbers.back().value;
        return stored(v, std::isfinite(v) ? std::abs(v) : 0, 0);
    }
    Part bracket() {
        const Part out = additive();
        expect(")");
        return out;
    }
    Part maximum() {
        Part out = additive();
        while (take(number_style().comma ? "; " : ", ")) {
            const Part next = additive();
            out = {std::fmax(out.value, next.value), std::max(out.terms, next.terms),
                   std::max(out.grain, next.grain)};
        }
        expect(")");
        return out;
    }
    Part multiplicative(bool first) {
        Part out = atom(first);
        for (;;) {
            if (take(" × ")) {
                const Part next = atom(false);
                out = stored(out.value * next.value, out.terms * next.terms,
                             out.grain * std::abs(next.value) + next.grain * std::abs(out.value));
            } else if (take(" ÷ ")) {
                const Part next = atom(false);
                out = stored(out.value / next.value, out.terms / std::abs(next.value),
                             (out.grain + next.grain * std::abs(out.value / next.value)) /
                                 std::abs(next.value));
            } else
                return out;
        }
    }
    Part additive() {
        Part out = multiplicative(true);
        for (;;) {
            const bool plus = take(" + ");
            if (!plus && !take(" − ")) return out;
            const Part next = multiplicative(false);
            out = {as_double(plus ? out.value + next.value : out.value - next.value), out.terms + next.terms,
                   out.grain + next.grain};
        }
    }
};

}  // namespace

std::optional<Evaluated> evaluate(std::string_view text) {
    Reader reader{text};
    const Part all = reader.additive();
    if (!reader.ok || !reader.rest.empty()) return {};
    return Evaluated{all.value, all.terms, reader.jump, all.grain, std::move(reader.numbers)};
}

std::optional<Printed> read_number(std::string_view text) {
    Reader reader{text};
    const Printed out = reader.number(true);
    if (!reader.ok || !reader.rest.empty()) return {};
    return out;
}

bool rounds(const Printed& printed, double value) {
    if (!std::isfinite(value) || !std::isfinite(printed.value)) return printed.value == value;
    const long double slack = 1e-15L * std::abs(static_cast<long double>(value)) + 5e-324L;
    return std::abs(printed.value - value) <= printed.unit / 2 + slack;
}

std::string fault_of(const std::string& numbers, std::string_view sign, const Printed& shown, bool exact) {
    const auto formula = evaluate(numbers);
    if (!formula) return "not well formed";
    const std::string comes_to = "comes to " + std::to_string(static_cast<double>(formula->value));
    if (!std::isfinite(shown.value) || !std::isfinite(formula->value)) {
        const bool same =
            formula->value == shown.value || (std::isnan(shown.value) && std::isnan(formula->value));
        return same == (sign == "=") ? "" : comes_to;
    }
    const long double off = std::abs(formula->value - shown.value),
                      noise = 1e-13L * formula->terms + std::numeric_limits<double>::denorm_min() +
                              formula->grain + 1e-5L * shown.unit;
    const long double last = exact && !shown.power ? std::min(shown.unit, 0.001L) : shown.unit;
    const long double nearly = std::max(2 * last, 0.011L * std::abs(shown.value));
    if (sign == "=" && off > noise + formula->jump) return comes_to + ", and = is said";
    // Far below the digits of a double either sign is as true.
    const bool told_apart = 1e-15L * formula->terms + formula->grain < 1e-8L * shown.unit;
    if (sign == "≈" && told_apart && off <= 1e-8L * shown.unit && formula->jump == 0)
        return comes_to + ", and ≈ is said";
    return off <= nearly + noise + formula->jump ? "" : comes_to;
}

std::string sign_of_result(const std::string& before_number) {
    return before_number.ends_with("≈ ") ? "≈" : "=";
}

}  // namespace tilewalk::test

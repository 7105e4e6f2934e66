#include "core/walk/formula.h"

#include "core/base/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace tilewalk {

namespace {

constexpr int most_decimals = 17;

void collect(const Expr& e, std::vector<double>& leaves) {
    if (e.kind == Expr::Kind::number) leaves.push_back(e.value);
    for (const Expr& part : e.parts) collect(part, leaves);
}

// The fewest decimals that show every number exactly; where that cannot be done as many as a number below 10
// has, 3 of 4 digits.
int natural_decimals(const std::vector<double>& leaves) {
    const int most = number_style().digits - 1;
    for (int decimals = 0; decimals < most; ++decimals) {
        const double unit = std::pow(10.0, decimals);
        const bool exact = std::all_of(leaves.begin(), leaves.end(), [&](double v) {
            return !std::isfinite(v) ||
                   (std::abs(v) < 1e6 && std::abs(v * unit - std::round(v * unit)) < 1e-9);
        });
        if (exact) return decimals;
    }
    return most;
}

// The value of what format_fixed prints. Usual numbers are rounded by arithmetic, which is fast and differs
// from the print by less than any digit that is shown; the others are printed and read back.
double printed(double value, int decimals) {
    if (!std::isfinite(value) || value == 0) return value;
    const double size = std::abs(value);
    const bool power = size < 1e-3 || size >= 1e6;
    if (!power && decimals <= 8) {
        static constexpr double units[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
        const double scaled = value * units[decimals];
        // Halfway cases are common where numbers have few bits: 0.3125 is printed 0.312.
        const bool halfway = std::abs(scaled - std::trunc(scaled)) > 0.499999 &&
                             std::abs(scaled - std::trunc(scaled)) < 0.500001;
        if (!halfway) return std::round(scaled) / units[decimals];
    }
    char buffer[400];
    std::snprintf(buffer, sizeof buffer, power ? "%.*e" : "%.*f", power ? std::max(2, decimals) : decimals,
                  value);
    return std::strtod(buffer, nullptr);
}

constexpr int exactly = -1;  // decimals that stand for the stored values

double evaluate(const Expr& e, int decimals) {
    if (e.kind == Expr::Kind::number) return decimals == exactly ? e.value : printed(e.value, decimals);
    double out = evaluate(e.parts[0], decimals);
    if (e.kind == Expr::Kind::rounded) return round_to(e.format, out);
    if (e.kind == Expr::Kind::exponential) return std::exp(out);
    if (e.kind == Expr::Kind::logarithm) return std::log(out);
    if (e.kind == Expr::Kind::tangent) return std::tanh(out);
    for (std::size_t n = 1; n < e.parts.size(); ++n)
        out = combined(e.kind, out, evaluate(e.parts[n], decimals));
    return out;
}

// The shown result and the worth of one unit in its last printed digit, by the rules of format_short.
struct Shown {
    double value, unit;
    bool exact = false;  // an integer, or a number that few decimals show exactly
};

Shown shown(double result) {
    if (!std::isfinite(result)) return {result, 0};
    const double size = std::abs(result);
    const int digits = number_style().digits;
    if (result == std::round(result) && size < 1e6) return {result, 1, true};
    const double shortest = std::pow(10.0, std::max(2, digits - 2));
    if (size >= 1e-3 && size < 1e3 && std::abs(result * shortest - std::round(result * shortest)) < 1e-9)
        return {result, 1 / shortest, true};
    const int whole = static_cast<int>(std::floor(std::log10(size)));
    const bool power = size < 1e-3 || size >= 1e6;
    const double unit =
        std::pow(10.0, power ? whole - power_decimals(digits) : -decimals_of(digits, whole + 1));
    return {std::nearbyint(result / unit) * unit, unit};  // halfway cases as they are printed
}

// How large the terms of the outermost sum are: where they cancel, the result is no more exact than this
// allows.
double magnitude(const Expr& e, int decimals) {
    if (e.kind == Expr::Kind::rounded) return magnitude(e.parts[0], decimals);
    if (e.kind == Expr::Kind::product && e.parts.size() == 2 && e.parts[1].kind == Expr::Kind::sum)
        return std::abs(evaluate(e.parts[0], decimals)) * magnitude(e.parts[1], decimals);
    if (e.kind != Expr::Kind::sum && e.kind != Expr::Kind::difference) return 0;
    double total = 0;
    for (const Expr& part : e.parts) total += std::abs(evaluate(part, decimals));
    return total;
}

bool agrees(const Expr& e, int decimals, Shown target) {
    const double value = evaluate(e, decimals);
    if (!std::isfinite(target.value))
        return value == target.value || (std::isnan(value) && std::isnan(target.value));
    // A result that is shown exactly should come out as it is; elsewhere stay clear of the last digit.
    const double fine = 0.7 * std::pow(10.0, -std::max(3, number_style().digits - 1));
    const double tolerance = target.exact ? fine : 0.7 * target.unit;
    return std::abs(value - target.value) <= std::max(tolerance, 1e-14 * magnitude(e, decimals));
}

bool binds_looser(Expr::Kind inner, Expr::Kind outer) {
    using K = Expr::Kind;
    const bool additive = inner == K::sum || inner == K::difference;
    if (outer == K::sum || outer == K::difference) return additive;
    if (outer == K::product || outer == K::quotient) return additive || inner == K::quotient;
    return false;
}

class Writer {
public:
    explicit Writer(int decimals) : decimals_(decimals) {}

    // `first`: nothing stands before it in its bracket, so a minus sign needs no bracket of its own.
    void put(const Expr& e, bool first) {
        using K = Expr::Kind;
        if (e.kind == K::number) return number(e, first);
        if (e.kind == K::exponential) return call("exp(", e);
        if (e.kind == K::logarithm) return call("ln(", e);
        if (e.kind == K::tangent) return call("tanh(", e);
        if (e.kind == K::maximum) return call("max(", e);
        if (e.kind == K::rounded) return call(name(e.format) + std::string("("), e);
        for (std::size_t n = 0; n < e.parts.size(); ++n) {
            if (n > 0) line.push_back(word(sign_of(e.kind)));
            const bool brackets = binds_looser(e.parts[n].kind, e.kind);
            if (brackets) line.push_back(word("("));
            put(e.parts[n], brackets || (first && n == 0));
            if (brackets) line.push_back(word(")"));
        }
    }
    Line line;

private:
    void number(const Expr& e, bool first) {
        std::string text = format_fixed(e.value, decimals_);
        const bool brackets = !first && (std::signbit(e.value) && text.compare(0, 3, "−") == 0);
        line.push_back({brackets ? "(" + text + ")" : text, e.role, Span::Face::number});
    }
    void call(std::string name, const Expr& e) {
        line.push_back(word(std::move(name)));
        for (std::size_t n = 0; n < e.parts.size(); ++n) {
            if (n > 0) line.push_back(word(list_separator()));
            put(e.parts[n], true);
        }
        line.push_back(word(")"));
    }
    int decimals_;
};

}  // namespace

Expr dot(const Numbers& a, const Numbers& b, std::optional<Expr> first) {
    Numbers terms;
    if (first) terms.push_back(std::move(*first));
    for (std::size_t n = 0; n < a.size(); ++n) terms.push_back(product({a[n], b[n]}));
    return sum(std::move(terms));
}

const char* sign_of(Expr::Kind kind) {
    using K = Expr::Kind;
    return kind == K::sum ? " + " : kind == K::product ? " × " : kind == K::difference ? " − " : " ÷ ";
}

double combined(Expr::Kind kind, double left, double right) {
    switch (kind) {
    case Expr::Kind::sum: return left + right;
    case Expr::Kind::product: return left * right;
    case Expr::Kind::difference: return left - right;
    case Expr::Kind::maximum: return std::fmax(left, right);
    default: return left / right;
    }
}

double evaluate(const Expr& expr) { return evaluate(expr, exactly); }

Line write(const Expr& expr, double result) {
    std::vector<double> leaves;
    collect(expr, leaves);
    int decimals = natural_decimals(leaves);
    const Shown target = shown(result);
    while (decimals < most_decimals && !agrees(expr, decimals, target)) ++decimals;
    Writer writer(decimals);
    writer.put(expr, true);
    return std::move(writer.line);
}

Span word(std::string text) { return {std::move(text)}; }

Span symbol(Slot slot) {
    const SlotInfo& s = info(slot);
    Span span{s.symbol, s.role, Span::Face::symbol};
    span.tilde = s.tilde;
    return span;
}

}  // namespace tilewalk

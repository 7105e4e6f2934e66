#include "core/walk/formula.h"

#include "core/base/beside_matrix.h"
#include "core/base/exactly.h"
#include "core/base/rounding.h"
#include "core/walk/printed_sum.h"
#include "core/walk/printed_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

namespace tilewalk {

namespace {

constexpr int most_decimals = 17;
constexpr int more_for_result = 3;  // at most, so that operands come to just the shown result

// The numbers that no slot holds; they share their decimals.
void collect(const Expr& e, std::vector<double>& leaves) {
    if (e.kind == Expr::Kind::number && !e.digits) leaves.push_back(e.value);
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

// The value of what is printed with so many decimals, of format_fixed as a power of ten where that is
// shorter. Usual numbers are rounded by arithmetic, which is fast and differs from the print by less than any
// digit that is shown; the others are printed and read back.
double printed(double value, int decimals, bool powers = true) {
    if (!std::isfinite(value) || value == 0) return value;
    const double size = std::abs(value);
    const bool power = powers && (size < 1e-3 || size >= 1e6);
    if (!power && decimals <= 8) {
        static constexpr double units[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
        const double scaled = value * units[decimals];
        // What lies half-way only after this product is printed by its own digits.
        const bool halfway = std::abs(scaled - std::trunc(scaled)) > 0.499999 &&
                             std::abs(scaled - std::trunc(scaled)) < 0.500001;
        if (!halfway) return std::round(scaled) / units[decimals];
    }
    return as_printed(value, power ? std::max(2, decimals) : decimals, power);
}

// What no slot holds is written as the number of a slot that it is; the scale and a cap have no role, and are
// as they are given.
using Digits = std::map<double, const MatrixDigits*>;
void collect(const Expr& e, Digits& known) {
    if (e.kind == Expr::Kind::number && e.digits && std::isfinite(e.value))
        known.try_emplace(e.value, e.digits);
    for (const Expr& part : e.parts) collect(part, known);
}
void follow(Expr& e, const Digits& known) {
    const bool loose = e.kind == Expr::Kind::number && !e.digits && e.role != Role::none;
    if (const auto slot = loose ? known.find(e.value) : known.end(); slot != known.end())
        e.digits = slot->second;
    for (Expr& part : e.parts) follow(part, known);
}

// With how many decimals numbers are printed: those of a slot as it has them, the others with `loose`; where
// that would mislead, all that are not exact with at least so many.
struct Decimals {
    int loose = 0;
    int at_least = 0;                         ///< 0: nothing misleads
    bool stored = false;                      ///< what is stored stands for itself
    std::vector<const MatrixDigits*> grow{};  ///< whose numbers have more then
};

// By its text; where that is a whole number of its last decimal, none is needed.
bool shows_exactly(const MatrixDigits& digits, double value) {
    if (digits.plain()) {
        constexpr double most_whole = 9007199254740992;  // 2^53
        const double units = value * std::pow(10.0, digits.decimals());
        if (units == std::round(units) && std::abs(units) < most_whole) return true;
    }
    return std::abs(read_shown(digits.text(value)).value - value) <= 1e-15 * std::abs(value);
}

// Matrices of which the formula has a number that their decimals do not show exactly.
void collect_inexact(const Expr& e, std::vector<const MatrixDigits*>& out) {
    const bool known = e.digits && std::ranges::find(out, e.digits) != out.end();
    if (e.kind == Expr::Kind::number && e.digits && !known && std::isfinite(e.value) &&
        !shows_exactly(*e.digits, e.value))
        out.push_back(e.digits);
    for (const Expr& part : e.parts) collect_inexact(part, out);
}

// Decimals of a number of a slot, and whether it is one of those that the slot writes without powers of ten.
// All of a slot have the same: 1.0000 beside 0.1353.
std::pair<int, bool> own_decimals(const Expr& e, const Decimals& decimals) {
    const int own = e.digits->decimals();
    const bool grows = std::ranges::find(decimals.grow, e.digits) != decimals.grow.end();
    if (decimals.at_least <= own || !grows) return {own, e.digits->plain()};
    return {decimals.at_least, false};
}

// Of a number that no slot holds: more than the others only where these do not show it exactly.
int loose_decimals(double value, const Decimals& decimals) {
    const bool exact = printed(value, decimals.loose) == value;
    return exact ? decimals.loose : std::max(decimals.loose, decimals.at_least);
}

double shown_value(const Expr& e, const Decimals& decimals) {
    if (decimals.stored) return e.value;
    if (!e.digits) return printed(e.value, loose_decimals(e.value, decimals));
    const auto [own, plain] = own_decimals(e, decimals);
    return printed(e.value, own, !plain);
}

std::string shown_text(const Expr& e, const Decimals& decimals) {
    if (!e.digits) return format_fixed(e.value, loose_decimals(e.value, decimals));
    const int shown = own_decimals(e, decimals).first;
    return shown == e.digits->decimals() ? e.digits->text(e.value) : format_fixed(e.value, shown);
}

double evaluate(const Expr& e, const Decimals& decimals) {
    if (e.kind == Expr::Kind::number) return shown_value(e, decimals);
    double out = evaluate(e.parts[0], decimals);
    if (e.kind == Expr::Kind::rounded) return round_to(e.format, out);
    if (e.kind == Expr::Kind::exponential) return exp_exactly(out);
    if (e.kind == Expr::Kind::logarithm) return log_exactly(out);
    if (e.kind == Expr::Kind::tangent) return tanh_exactly(out);
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
    const auto [value, unit] = read_shown(format_short(result));
    return {value, unit, std::abs(value - result) <= 1e-12 * std::abs(result)};
}

// How large the terms of the outermost sum are: where they cancel, the result is no more exact than this
// allows.
double magnitude(const Expr& e, const Decimals& decimals) {
    if (e.kind == Expr::Kind::rounded) return magnitude(e.parts[0], decimals);
    if (e.kind == Expr::Kind::product && e.parts.size() == 2 && e.parts[1].kind == Expr::Kind::sum)
        return std::abs(evaluate(e.parts[0], decimals)) * magnitude(e.parts[1], decimals);
    if (e.kind != Expr::Kind::sum && e.kind != Expr::Kind::difference) return 0;
    double total = 0;
    for (const Expr& part : e.parts) total += std::abs(evaluate(part, decimals));
    return total;
}

// Nobody who works it out would doubt the result: it is off by one and a half units of its last digit at
// most, or by less than a hundredth.
bool is_near(const Expr& e, const Decimals& decimals, Shown target) {
    const double value = evaluate(e, decimals);
    if (!std::isfinite(target.value))
        return value == target.value || (std::isnan(value) && std::isnan(target.value));
    const double fine = std::pow(10.0, -std::max(3, number_style().digits - 1));
    const double tolerance = std::max(1.5 * (target.exact ? std::min(fine, target.unit) : target.unit),
                                      .01 * std::abs(target.value));
    return std::abs(value - target.value) <= std::max(tolerance, 1e-14 * magnitude(e, decimals));
}

// Whoever works it out with the shown numbers comes to the shown result.
bool comes_to_shown(const Expr& e, const Decimals& decimals, Shown target) {
    const double value = evaluate(e, decimals);
    if (!std::isfinite(target.value))
        return value == target.value || (std::isnan(value) && std::isnan(target.value));
    const double fine = std::pow(10.0, 1 - number_style().digits),
                 unit = target.exact ? std::min(fine, target.unit) : target.unit;
    return std::abs(value - target.value) <= .5 * unit * (1 + 1e-9) + 1e-14 * std::abs(target.value);
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
    explicit Writer(const Decimals& decimals) : decimals_(decimals) {}

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
        std::string text = shown_text(e, decimals_);
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
    Decimals decimals_;
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

double evaluate(const Expr& expr) { return evaluate(expr, Decimals{.stored = true}); }

static Expr alike(Expr expr) {
    Digits known;
    collect(expr, known);
    if (!known.empty()) follow(expr, known);
    return expr;
}

static Decimals least_decimals(const Expr& expr) {
    std::vector<double> loose;
    collect(expr, loose);
    Decimals out{.loose = natural_decimals(loose)};
    collect_inexact(expr, out.grow);
    return out;
}

std::optional<int> decimals_of_all(const std::function<bool(int)>& all_come, int least) {
    for (int decimals = least; decimals <= number_style().digits - 1 + more_for_result; ++decimals)
        if (all_come(decimals)) return decimals;
    return {};
}

bool comes_to(double value, const std::string& shown) {
    const auto [target, unit] = read_shown(shown);
    return std::abs(value - target) <= .5 * unit * (1 + 1e-9) + 1e-14 * std::abs(target);
}

static NumberLine written(const Expr& expr, const Decimals& decimals) {
    Writer writer(decimals);
    writer.put(expr, true);
    NumberLine out(std::move(writer.line));
    out.comes_to = evaluate(expr, decimals);
    return out;
}

static thread_local int left_out = 0;
FormulasLeftOut::FormulasLeftOut() { ++left_out; }
FormulasLeftOut::~FormulasLeftOut() { --left_out; }

NumberLine write(const Expr& given, double result) {
    if (left_out > 0) return {};
    const Expr expr = alike(given);
    Decimals decimals = least_decimals(expr);
    const Shown target = shown(result);
    const auto comes = [&](int at_least) {
        decimals.at_least = at_least;
        return comes_to_shown(expr, decimals, target);
    };
    // Where large numbers cancel, near is enough.
    if (!decimals_of_all(comes, 0))
        while (decimals.at_least < most_decimals && !comes_to_shown(expr, decimals, target) &&
               !is_near(expr, decimals, target))
            ++decimals.at_least;
    return written(expr, decimals);
}

NumberLine write_beside(const Computed& one, const std::vector<Computed>& all) {
    if (left_out > 0) return {};
    std::vector<Computed> with_it = all;
    with_it.push_back(one);
    std::vector<Decimals> decimals;
    for (Computed& each : with_it)
        each.first = alike(std::move(each.first)), decimals.push_back(least_decimals(each.first));
    const auto all_come = [&](int at_least) {
        for (std::size_t n = 0; n < with_it.size(); ++n) {
            decimals[n].at_least = at_least;
            if (!comes_to_shown(with_it[n].first, decimals[n], shown(with_it[n].second))) return false;
        }
        return true;
    };
    if (!decimals_of_all(all_come, 0)) return write(one.first, one.second);
    return written(with_it.back().first, decimals.back());
}

const char* sign_before(const NumberLine& numbers, const std::string& shown) {
    if (!numbers.comes_to) return "=";
    const auto [value, unit] = read_shown(shown);
    const double comes_to = *numbers.comes_to;
    if (!std::isfinite(value) || !std::isfinite(comes_to))
        return comes_to == value || (std::isnan(comes_to) && std::isnan(value)) ? "=" : "≈";
    // A number that was rounded stands behind "≈", however near the shown ones come to it.
    const double noise = 1e-6 * unit + 1e-13 * std::abs(value);
    return std::abs(comes_to - value) <= noise ? "=" : "≈";
}

const char* sign_before_total(const std::vector<std::string>& terms, const std::string& total) {
    NumberLine sum;
    sum.comes_to = 0;
    for (const std::string& term : terms) *sum.comes_to += read_shown(term).value;
    return sign_before(sum, total);
}

void set_sign(const NumberLine& numbers, Line& result) {
    if (numbers.empty() || result.size() < 2) return;
    std::string& before = result[result.size() - 2].text;
    if (before.ends_with("= "))
        before.replace(before.size() - 2, 1, sign_before(numbers, result.back().text));
}

Span word(std::string text) { return {std::move(text)}; }

Span symbol(Slot slot) {
    const SlotInfo& s = info(slot);
    Span span{s.symbol, s.role, Span::Face::symbol};
    span.tilde = s.tilde;
    return span;
}

}  // namespace tilewalk

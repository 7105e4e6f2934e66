#include "core/base/exactly.h"

#include <array>
#include <cmath>
#include <optional>

namespace tilewalk {

namespace {

/// A number as the sum of two, the second of them below the last digit of the first: 106 bits.
struct Pair {
    double high = 0, low = 0;
};

// |a| ≥ |b|, or a is 0
Pair quick_sum(double a, double b) {
    const double high = a + b;
    return {high, b - (high - a)};
}

Pair sum(double a, double b) {
    const double high = a + b, of_b = high - a;
    return {high, (a - (high - of_b)) + (b - of_b)};
}

Pair product(double a, double b) {
    // In halves, whose products are exact (Dekker)
    const auto upper = [](double x) {
        const double far = x * 134217729.0;  // 2²⁷ + 1
        return far - (far - x);
    };
    const double high = a * b, a1 = upper(a), b1 = upper(b), a2 = a - a1, b2 = b - b1;
    return {high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2};
}

Pair operator+(const Pair& a, const Pair& b) {
    const Pair high = sum(a.high, b.high), low = sum(a.low, b.low);
    const Pair most = quick_sum(high.high, high.low + low.high);
    return quick_sum(most.high, most.low + low.low);
}

Pair operator*(const Pair& a, const Pair& b) {
    const Pair high = product(a.high, b.high);
    return quick_sum(high.high, high.low + (a.high * b.low + a.low * b.high));
}

Pair operator/(const Pair& a, const Pair& b) {
    const double first = a.high / b.high;
    const Pair rest = a + Pair{-first, 0} * b;
    const double second = rest.high / b.high;
    const Pair last = rest + Pair{-second, 0} * b;
    return quick_sum(first, second) + Pair{last.high / b.high, 0};
}

Pair scaled(const Pair& a, int exponent) {
    return {std::ldexp(a.high, exponent), std::ldexp(a.low, exponent)};
}

// ln 2 in three pieces; k times the first two is exact for |k| < 2¹¹.
constexpr double ln2[] = {0x1.62e42feep-1, 0x1.a39ef357938p-33, 0x1.1d9cc01f97b58p-75};

// exp(r) − 1 for |r| < 1: of 1/256 of it by its series; (1 + e)² − 1 = 2 e + e², eight times.
Pair series(const Pair& r) {
    const Pair small = scaled(r, -8);
    Pair e;
    for (int n = 10; n >= 1; --n) e = (e + Pair{1, 0}) * small / Pair{static_cast<double>(n), 0};
    for (int n = 0; n < 8; ++n) e = scaled(e, 1) + e * e;
    return e;
}

/// x = k ln 2 + r with |r| ≤ ½ ln 2, and exp(r) − 1
struct Exponential {
    int k;
    Pair less_one;
};

Exponential exponential(double x) {
    const double k = std::floor(x / (ln2[0] + ln2[1]) + 0.5);
    const Pair r = sum(x, -k * ln2[0]) + Pair{-k * ln2[1], 0} + product(-k, ln2[2]);
    return {static_cast<int>(k), series(r)};
}

// Fractions of two's power that exp_quickly() looks up: 2^(i / 128)
constexpr int steps = 128;
std::array<Pair, steps> powers_of_steps() {
    std::array<Pair, steps> out;
    for (int i = 0; i < steps; ++i)
        out[static_cast<std::size_t>(i)] =
            Pair{1, 0} + series(scaled((Pair{ln2[0], ln2[1]} + Pair{ln2[2], 0}) * Pair{1.0 * i, 0}, -7));
    return out;
}

// exp(x) for |x| < 700, to 2⁻⁶⁵ of itself; nothing where that does not settle the last digit, once in some
// thousand times. x = (n + i / 128) ln 2 + r: 2ⁿ is exact, r so small that few terms of the series are left.
std::optional<double> exp_quickly(double x) {
    static const std::array<Pair, steps> powers = powers_of_steps();
    const double k = std::floor(x * (steps / (ln2[0] + ln2[1])) + 0.5), part = k / steps;
    const int whole = static_cast<int>(k), i = whole & (steps - 1);
    const Pair most = sum(x, -part * ln2[0]), rest = product(-part, ln2[1]);
    const Pair both = sum(most.high, rest.high);
    const Pair r = quick_sum(both.high, both.low + most.low + rest.low - part * ln2[2]);
    const double h = r.high;
    const double beyond =
        h * h * (1.0 / 2 + h * (1.0 / 6 + h * (1.0 / 24 + h * (1.0 / 120 + h / 720)))) + h * r.low;
    const Pair e = quick_sum(h, r.low + beyond), power = powers[static_cast<std::size_t>(i)];
    const Pair times = product(power.high, e.high), sums = quick_sum(power.high, times.high);
    const Pair out =
        quick_sum(sums.high, sums.low + (times.low + power.high * e.low + power.low * e.high + power.low));
    const double error = out.high * 0x1p-65;
    if (out.high + (out.low + error) != out.high || out.high + (out.low - error) != out.high) return {};
    return std::ldexp(out.high, (whole - i) / steps);
}

// exp(x) − 1 for |x| < 100
Pair exponential_less_one(double x) {
    const Exponential e = exponential(x);
    if (e.k == 0) return e.less_one;
    return scaled(Pair{1, 0} + e.less_one, e.k) + Pair{-1, 0};
}

// ln(1 + r) for |r| ≤ 2⁻⁸ by its series
double log_near_one(double r) {
    Pair out;
    for (int n = 14; n >= 1; --n)
        out = Pair{r, 0} * (Pair{1, 0} / Pair{static_cast<double>(n), 0} + Pair{-out.high, -out.low});
    return out.high;
}

}  // namespace

double exp_exactly(double x) {
    if (!(std::abs(x) < 746)) return std::exp(x);  // ∞, 0, NaN
    if (std::abs(x) < 700)
        if (const auto settled = exp_quickly(x)) return *settled;
    const Exponential e = exponential(x);
    return std::ldexp((Pair{1, 0} + e.less_one).high, e.k);
}

double log_exactly(double x) {
    if (!(x > 0 && x < infinity)) return std::log(x);
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);
    if (std::abs(x - 1) <= 0x1p-8) return log_near_one(x - 1);
    // From a first guess y, whatever its last digit: ln x = y + ln(x exp(−y)), and x exp(−y) is nearly 1.
    const double y = std::log(x);
    const Exponential e = exponential(-y);
    const Pair left = scaled(Pair{fraction, 0} * (Pair{1, 0} + e.less_one), exponent + e.k) + Pair{-1, 0};
    return (Pair{y, 0} + left + Pair{-0.5, 0} * left * left).high;
}

double tanh_exactly(double x) {
    if (std::abs(x) < 0x1p-30) return x;
    if (std::abs(x) > 20) return std::copysign(1.0, x);
    const Pair e = exponential_less_one(2 * x);
    return (e / (e + Pair{2, 0})).high;
}

Matrix exp_exactly(const Matrix& A) {
    return A.unaryExpr([](double x) { return exp_exactly(x); });
}

Matrix log_exactly(const Matrix& A) {
    return A.unaryExpr([](double x) { return log_exactly(x); });
}

}  // namespace tilewalk

#include "core/problem/savings.h"

#include "core/base/numbers.h"

#include <cmath>
#include <numbers>

namespace tilewalk {

// What is measured from an old maximum may be 2^τ times too large.
std::optional<std::string> check_savings(const Savings& savings) {
    if (!savings.lazy || (*savings.lazy >= 0 && *savings.lazy <= most_lazy)) return {};
    return "The threshold of lazy rescaling is " + format_number(*savings.lazy) + "; expected 0 to " +
           format_number(most_lazy) + " powers of two.";
}

double rise(double old, double now) { return (now - old) * std::numbers::log2e; }

Matrix lazy_maximum(double threshold, const Matrix& m_old, const Matrix& m_tile) {
    Matrix m = m_old.cwiseMax(m_tile);
    for (Eigen::Index r = 0; r < m.rows(); ++r)
        if (rise(m_old(r, 0), m(r, 0)) <= threshold) m(r, 0) = m_old(r, 0);
    return m;
}

std::span<const double, 4> cubic_coefficients() {
    static constexpr double p[] = {1, 0.695146143436431884765625, 0.227564394474029541015625,
                                   0.077119089663028717041015625};
    return p;
}

Exp2Parts cubic_exp2(double x) {
    // Below the smallest normal number of fp32 there is nothing, −∞ among it
    constexpr double least = -127;
    if (x <= least) return {x, least, 0, 1, 0};
    if (!std::isfinite(x)) return {x, x, 0, 1, x};
    // x = whole + part
    const double whole = std::floor(x), part = x - whole;
    // p(part), from the inside out
    const auto p = cubic_coefficients();
    const double polynomial = ((p[3] * part + p[2]) * part + p[1]) * part + p[0];
    // · 2^whole: an addition to the exponent's bits
    const int exponent = static_cast<int>(std::fmin(whole, 2000));
    return {x, whole, part, polynomial, std::ldexp(polynomial, exponent)};
}

Exp2Parts cubic_exp(double s) { return cubic_exp2(s * std::numbers::log2e); }

Matrix cubic_exp(Matrix A) {
    for (Eigen::Index n = 0; n < A.size(); ++n) A.data()[n] = cubic_exp(A.data()[n]).value;
    return A;
}

static std::string title_of(const Savings& savings, const char* lazy, const char* cubic) {
    std::string out = savings.lazy ? lazy + format_full(*savings.lazy) : std::string();
    if (savings.cubic) out += (out.empty() ? "" : ", ") + std::string(cubic);
    return out;
}

std::string savings_title(const Savings& savings) {
    return title_of(savings, "lazy rescaling, τ = ", "cubic exp2");
}

std::string brief_savings_title(const Savings& savings) { return title_of(savings, "lazy τ = ", "cubic"); }

}  // namespace tilewalk

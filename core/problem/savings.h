// What kernels for newer GPUs save in the softmax of a tile, as FlashAttention-4 does (docs/blackwell.md):
// O is rescaled only where the maximum rises by enough, and exp is a polynomial beside the units for it.
#pragma once

#include "core/problem/problem.h"

#include <span>
#include <string>

namespace tilewalk {

/// The largest τ: weights stay below 2^τ, and what sums them in fp32 finite.
constexpr double most_lazy = 100;
/// The threshold that FlashAttention-4 has for 16-bit inputs: a factor of 256.
constexpr double published_lazy = 8;

/// How far a maximum rises from `old` to `now`, in powers of two: a factor of 2^(this) between the weights.
double rise(double old, double now);
/// m after a tile with these maxima: the old one where it would rise by at most τ.              (Br × 1)
Matrix lazy_maximum(double threshold, const Matrix& m_old, const Matrix& m_tile);

/// 2^x in parts, Cody and Waite's way: x = whole + part, and 2^part from a polynomial.
struct Exp2Parts {
    double x, whole, part;  ///< 0 ≤ part < 1
    double polynomial;      ///< ≈ 2^part
    double value;           ///< polynomial · 2^whole; 0 from x = −127 down, as in fp32
};
/// 1, p₁, p₂, p₃ of 1 + p₁ f + p₂ f² + p₃ f³ ≈ 2^f.
std::span<const double, 4> cubic_coefficients();
Exp2Parts cubic_exp2(double x);
/// exp(s) as 2^(s · log₂ e) by the cubic.
Exp2Parts cubic_exp(double s);
Matrix cubic_exp(Matrix A);

/// "lazy rescaling, τ = 8, cubic exp2"; empty: nothing is saved.
std::string savings_title(const Savings& savings);
/// The same where there is little room: "lazy τ = 8, cubic".
std::string brief_savings_title(const Savings& savings);

}  // namespace tilewalk

// The tiles of flash_eigen(): the steps of core/lessons/flash_forward.cpp and flash_backward.cpp, in their
// order.
#include "core/cpu/eigen/level.h"

#include <cmath>
#include <limits>

namespace tilewalk::cpu::TILEWALK_LEVEL {

namespace {

// Tensors lie in memory by rows. S and its likes lie by columns, so that the queries of a tile lie side by
// side: maximum, exponential and sum of its rows take many queries at a time.
using Rows = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using ConstRows = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using Tile = Eigen::Map<Eigen::MatrixXf>;
using Column = Eigen::Map<Eigen::ArrayXf>;
using ConstColumn = Eigen::Map<const Eigen::ArrayXf>;

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

float scale(const FlashTile& t) { return 1 / std::sqrt(static_cast<float>(t.w.d)); }

ConstRows queries(const FlashTile& t, const float* X) { return {X + t.row * t.w.d, t.rows, t.w.d}; }
Rows queries(const FlashTile& t, float* X) { return {X + t.row * t.w.d, t.rows, t.w.d}; }
ConstRows keys(const FlashTile& t, const float* X) { return {X + t.key * t.w.d, t.keys, t.w.d}; }
Rows keys(const FlashTile& t, float* X) { return {X + t.key * t.w.d, t.keys, t.w.d}; }

bool cut_by_mask(const FlashTile& t) {
    const std::int64_t last = t.row + t.rows - 1;
    return t.w.first_key(last) > t.key || t.w.last_key(t.row) < t.key + t.keys - 1;
}

// Puts `value` where a query of the tile must not look.
void hide(const FlashTile& t, Tile& X, float value) {
    for (std::int64_t r = 0; r < t.rows; ++r) {
        const std::int64_t first = t.w.first_key(t.row + r) - t.key, last = t.w.last_key(t.row + r) - t.key;
        for (std::int64_t c = 0; c < t.keys; ++c)
            if (c < first || c > last) X(r, c) = value;
    }
}

}  // namespace

void flash_begin(const FlashTile& t) {
    // m ← −∞, ℓ ← 0, O ← 0
    Column(t.m, t.rows).setConstant(minus_infinity);
    Column(t.l, t.rows).setZero();
    queries(t, t.O).setZero();
}

void flash_forward(const FlashTile& t) {
    Column m(t.m, t.rows), m_tile(t.m_tile, t.rows), base(t.base, t.rows), alpha(t.alpha, t.rows),
        l(t.l, t.rows);
    Rows Oi = queries(t, t.O);
    Tile S(t.S, t.rows, t.keys);
    const bool cut = cut_by_mask(t);

    // S = scale · Qᵢ Kⱼᵀ                                                                     (Br × Bc)
    S.noalias() = scale(t) * queries(t, t.Q) * keys(t, t.K).transpose();

    // Cut the tile with the mask: −∞ where a query must not look
    if (cut) hide(t, S, minus_infinity);

    // m̃ = rowmax(S),  m_old ← m,  m ← max(m, m̃)                                              (Br × 1)
    m_tile = S.rowwise().maxCoeff();
    alpha = m;
    m = m.max(m_tile);

    // α = exp(m_old − m). A row that has seen no key yet has m = −∞ on both sides; 0 stands in for m there,
    // so that α and P̃ do not become NaN.
    base = (m == minus_infinity).select(0.0f, m);
    alpha = (alpha - base).exp();

    // P̃ = exp(S − m), not yet normalised, in the place of S. Eigen's exp gives 1e-38 for −∞.  (Br × Bc)
    Tile& P = S;
    P = (S.array().colwise() - base).exp().matrix();
    if (cut) hide(t, P, 0);

    // ℓ ← α ⊙ ℓ + rowsum(P̃)                                                                  (Br × 1)
    Column& row_sum = m_tile;
    row_sum = P.rowwise().sum();
    l = alpha * l + row_sum;

    // O ← α ⊙ O + P̃ Vⱼ, still unnormalised                                                   (Br × d)
    Oi.array().colwise() *= alpha;
    Oi.noalias() += P * keys(t, t.V);
}

void flash_end(const FlashTile& t) {
    // Normalise once: O ← O ⊘ ℓ, L = m + ln ℓ. A row that saw no key has ℓ = 0; it keeps O = 0 and has L =
    // −∞.
    for (std::int64_t r = 0; r < t.rows; ++r) {
        const bool seen = t.l[r] > 0;
        queries(t, t.O).row(r) *= seen ? 1 / t.l[r] : 0;
        t.L[t.row + r] = seen ? t.m[r] + std::log(t.l[r]) : minus_infinity;
        if (!t.row_m) continue;
        t.row_m[t.row + r] = t.m[r];
        t.row_l[t.row + r] = t.l[r];
    }
}

void flash_backward(const FlashTile& t) {
    const ConstColumn mi(t.row_m + t.row, t.rows), li(t.row_l + t.row, t.rows), Di(t.D + t.row, t.rows);
    const ConstRows Qi = queries(t, t.Q), dOi = queries(t, t.dO), Kj = keys(t, t.K), Vj = keys(t, t.V);
    Tile S(t.S, t.rows, t.keys), dP(t.dS, t.rows, t.keys);

    // S = scale · Qᵢ Kⱼᵀ with the bits of the forward pass, whose tile had the same size               (Br ×
    // Bc)
    S.noalias() = scale(t) * Qi * Kj.transpose();

    // P = exp(S − m) ⊘ ℓ, which is exp(S − L), 0 where a query must not look. In float32 the last digit of an
    // L of 60 is worth 4e-6 of every weight; m and ℓ give it exactly. (Br × Bc)
    Tile& P = S;
    P = ((S.array().colwise() - mi).exp().colwise() / li).matrix();
    if (cut_by_mask(t)) hide(t, P, 0);

    // dVⱼ ← dVⱼ + Pᵀ dOᵢ                                                                      (Bc × d)
    keys(t, t.dV).noalias() += P.transpose() * dOi;

    // dP = dOᵢ Vⱼᵀ                                                                            (Br × Bc)
    dP.noalias() = dOi * Vj.transpose();

    // dS = P ⊙ (dP − Dᵢ), in the place of dP                                                  (Br × Bc)
    Tile& dS = dP;
    dS = (P.array() * (dP.array().colwise() - Di)).matrix();

    // dQᵢ ← dQᵢ + scale · dS Kⱼ                                                               (Br × d)
    queries(t, t.dQ).noalias() += scale(t) * dS * Kj;

    // dKⱼ ← dKⱼ + scale · dSᵀ Qᵢ                                                              (Bc × d)
    keys(t, t.dK).noalias() += scale(t) * dS.transpose() * Qi;
}

}  // namespace tilewalk::cpu::TILEWALK_LEVEL

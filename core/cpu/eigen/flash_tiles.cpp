// The tiles of flash_eigen(): the steps of core/lessons/forward/flash_forward.cpp and flash_backward.cpp, in
// their order.
#include "core/cpu/eigen/level.h"

#include <cmath>
#include <limits>

namespace tilewalk::cpu::TILEWALK_LEVEL {

namespace {

// A row is a query. The products take whole tiles; the softmax goes row by row, since Eigen uses vectors for
// S.row(r) − m, but not for S.colwise() − m.
using Tile = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using ConstTile = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

float scale(const FlashTile& t) { return 1 / std::sqrt(static_cast<float>(t.w.d)); }

ConstTile queries(const FlashTile& t, const float* X) { return {X + t.row * t.w.d, t.rows, t.w.d}; }
Tile queries(const FlashTile& t, float* X) { return {X + t.row * t.w.d, t.rows, t.w.d}; }
ConstTile keys(const FlashTile& t, const float* X) { return {X + t.key * t.w.d, t.keys, t.w.d}; }
Tile keys(const FlashTile& t, float* X) { return {X + t.key * t.w.d, t.keys, t.w.d}; }

// The keys of the tile that its query r sees: `count` from `first` on.
struct Seen {
    std::int64_t first, count;
};
Seen seen_by(const FlashTile& t, std::int64_t r) {
    std::int64_t first = t.w.first_key(t.row + r) - t.key, end = t.w.last_key(t.row + r) + 1 - t.key;
    if (first < 0) first = 0;
    if (end > t.keys) end = t.keys;
    return end > first ? Seen{first, end - first} : Seen{0, 0};
}

}  // namespace

void flash_begin(const FlashTile& t) {
    // m ← −∞, ℓ ← 0, O ← 0
    for (std::int64_t r = 0; r < t.rows; ++r) t.m[r] = minus_infinity, t.l[r] = 0;
    queries(t, t.O).setZero();
}

void flash_forward(const FlashTile& t) {
    Tile S(t.S, t.rows, t.keys), Oi = queries(t, t.O);

    // S = scale · Qᵢ Kⱼᵀ                                                                     (Br × Bc)
    S.noalias() = scale(t) * queries(t, t.Q) * keys(t, t.K).transpose();

    for (std::int64_t r = 0; r < t.rows; ++r) {
        float &m = t.m[r], &l = t.l[r];
        // Cut the tile with the mask: P̃ = 0 where a query must not look
        const Seen seen = seen_by(t, r);
        auto P = S.row(r).array();
        P.head(seen.first) = 0;
        P.tail(t.keys - seen.first - seen.count) = 0;
        if (seen.count == 0) continue;
        auto row = P.segment(seen.first, seen.count);

        // m̃ = rowmax(S),  m ← max(m, m̃)
        const float m_old = m, m_tile = row.maxCoeff();
        m = m_old > m_tile ? m_old : m_tile;

        // α = exp(m_old − m), 0 in the first tile, where m_old is −∞
        const float alpha = std::exp(m_old - m);

        // P̃ = exp(S − m), not yet normalised, in the place of S
        row = (row - m).exp();

        // ℓ ← α ℓ + rowsum(P̃),  O ← α ⊙ O
        l = alpha * l + row.sum();
        Oi.row(r) *= alpha;
    }

    // O ← O + P̃ Vⱼ, still unnormalised                                                       (Br × d)
    Oi.noalias() += S * keys(t, t.V);
}

void flash_end(const FlashTile& t) {
    // Normalise once: O ← O ⊘ ℓ, L = m + ln ℓ. A row that saw no key has ℓ = 0; it keeps O = 0 and has L =
    // −∞.
    Tile Oi = queries(t, t.O);
    for (std::int64_t r = 0; r < t.rows; ++r) {
        const float m = t.m[r], l = t.l[r];
        if (l > 0) Oi.row(r) *= 1 / l;
        t.L[t.row + r] = l > 0 ? m + std::log(l) : minus_infinity;
    }
}

void flash_backward(const FlashTile& t) {
    const ConstTile Qi = queries(t, t.Q), dOi = queries(t, t.dO), Kj = keys(t, t.K), Vj = keys(t, t.V);
    Tile S(t.S, t.rows, t.keys), dS(t.dS, t.rows, t.keys);

    // S = scale · Qᵢ Kⱼᵀ with the bits of the forward pass, whose tile had the same size           (Br × Bc)
    S.noalias() = scale(t) * Qi * Kj.transpose();

    // P = exp(S − m) ⊘ ℓ, which is exp(S − L), in the place of S. In float32 the last digit of an L of 60 is
    // worth 4e-6 of every weight; m and ℓ give it exactly. (Br × Bc)
    for (std::int64_t r = 0; r < t.rows; ++r) {
        const Seen seen = seen_by(t, r);
        auto P = S.row(r).array();
        P.head(seen.first) = 0;
        P.tail(t.keys - seen.first - seen.count) = 0;
        auto row = P.segment(seen.first, seen.count);
        row = (row - t.m[r]).exp() * (1 / t.l[r]);
    }
    const Tile& P = S;

    // dVⱼ ← dVⱼ + Pᵀ dOᵢ                                                                      (Bc × d)
    keys(t, t.dV).noalias() += P.transpose() * dOi;

    // dP = dOᵢ Vⱼᵀ, then dS = P ⊙ (dP − Dᵢ) in its place                                      (Br × Bc)
    dS.noalias() = dOi * Vj.transpose();
    for (std::int64_t r = 0; r < t.rows; ++r)
        dS.row(r).array() = P.row(r).array() * (dS.row(r).array() - t.D[t.row + r]);

    // dQᵢ ← dQᵢ + scale · dS Kⱼ                                                               (Br × d)
    queries(t, t.dQ).noalias() += scale(t) * dS * Kj;

    // dKⱼ ← dKⱼ + scale · dSᵀ Qᵢ                                                              (Bc × d)
    keys(t, t.dK).noalias() += scale(t) * dS.transpose() * Qi;
}

}  // namespace tilewalk::cpu::TILEWALK_LEVEL

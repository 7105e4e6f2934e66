// What f4 and f5 compute on tensor cores: a warp has one or two bands of 16 query rows; for every tile of
// keys S = Q K_jᵀ, the online softmax, O ← O + P̃ V_j. All of S, P̃ and O stays in fragments (fragments.h).
//
// In the words of FlashAttention-2's own code a band is the rows of one MMA_M of a warp, cut() is apply_mask,
// soften() softmax_rescale_o, and write() normalize_softmax_lse with the store of O behind it.
#pragma once

#include "cuda/kernels/fragments.h"
#include "cuda/kernels/mask.h"
#include "cuda/kernels/recorder.h"
#include "cuda/kernels/rung_parts.h"

namespace tilewalk::gpu::BACKEND {

/// The fragments of 16 × columns.
template <int columns> using Fragments = float[columns / 8][4];

/// S = Q_i K_jᵀ for each band: the 16 rows from row0 on, the next 16, …                          (16 × Bc)
/// All d / 16 steps at once would tempt the compiler to fetch so many fragments ahead that registers spill:
/// `at_once` of them.
template <int at_once, class T, int d, int bands, int Bc, class Tile>
DEVICE void multiply_QK(Fragments<Bc> (&S)[bands], const Tile& Qi, const Tile& Kj, int row0) {
    UNROLL
    for (int b = 0; b < bands; ++b) UNROLL
    for (int n = 0; n < Bc / 8; ++n) UNROLL
    for (int e = 0; e < 4; ++e) S[b][n][e] = 0;
    UNROLL_BY(at_once)
    for (int k = 0; k < d / 16; ++k) {
        std::uint32_t q[bands][4];
        UNROLL
        for (int b = 0; b < bands; ++b) load_A(q[b], Qi, row0 + 16 * b, k);
        UNROLL
        for (int n = 0; n < Bc / 16; ++n) {
            std::uint32_t kt[4];
            load_B_transposed(kt, Kj, 16 * n, k);
            UNROLL
            for (int b = 0; b < bands; ++b) {
                multiply_add<T>(S[b][2 * n], q[b], kt[0], kt[1]);
                multiply_add<T>(S[b][2 * n + 1], q[b], kt[2], kt[3]);
            }
        }
    }
}

/// 16 query rows while they walk over the keys; a lane holds parts of two of them.
template <class T, int d, int Bc> struct Band {
    float m[2], l[2];
    Fragments<d> O;

    /// m ← −∞,  ℓ ← 0,  O ← 0
    DEVICE Band() {
        m[0] = m[1] = -INFINITY;
        l[0] = l[1] = 0;
        UNROLL
        for (int n = 0; n < d / 8; ++n) UNROLL
        for (int e = 0; e < 4; ++e) O[n][e] = 0;
    }

    /// O ← α ⊙ O for rows fragment_row(2r)
    DEVICE void rescale(int r, float alpha) {
        UNROLL
        for (int n = 0; n < d / 8; ++n) {
            O[n][2 * r] *= alpha;
            O[n][2 * r + 1] *= alpha;
        }
    }

    /// −∞ where query i0 + r must not look at key j0 + column.
    DEVICE static void cut(Fragments<Bc>& S, const Mask& mask, int i0, int j0) {
        UNROLL
        for (int r = 0; r < 2; ++r) {
            // Counted from this lane's first column. There are no keys before 0, so `first` needs no limit.
            const int key = j0 + fragment_column(0), center = i0 + fragment_row(2 * r) + mask.shift - key;
            const int first = center - mask.before, end = mask.N_kv - 1 - key;
            const int last = center + mask.after < end ? center + mask.after : end;
            UNROLL
            for (int n = 0; n < Bc / 8; ++n) UNROLL
            for (int e = 0; e < 2; ++e)
                if (8 * n + e < first || 8 * n + e > last) S[n][2 * r + e] = -INFINITY;
        }
    }

    /// m, ℓ and O take in a tile of scores, which become P̃ = exp(scale · (S − m)) = 2^(c · (S − m)). `row` is
    /// the band's first within the tile.
    template <bool traced, class Record>
    DEVICE void soften(Fragments<Bc>& S, float c, Record& record, int row) {
        soften_with<traced>(S, c, record, row, [this](int r, float alpha) { rescale(r, alpha); });
    }
    /// The same, but O is left to take_alpha(r, α), for rows fragment_row(2r).
    template <bool traced, class Record, class Take>
    DEVICE void soften_with(Fragments<Bc>& S, float c, [[maybe_unused]] Record& record,
                            [[maybe_unused]] int row, const Take& take_alpha) {
        UNROLL
        for (int r = 0; r < 2; ++r) {
            [[maybe_unused]] const int i = row + fragment_row(2 * r);
            [[maybe_unused]] const bool stores = lane() % 4 == 0;
            RECORD(for (int n = 0; n < Bc / 8; ++n) for (int e = 2 * r; e < 2 * r + 2; ++e)
                       record.S(i, 8 * n + fragment_column(e), S[n][e]))

            // m ← max(m, rowmax(S)). A row that has seen no key yet has m = −∞; 0 stands in for it below.
            float m_new = m[r];
            UNROLL
            for (int n = 0; n < Bc / 8; ++n) m_new = fmaxf(m_new, fmaxf(S[n][2 * r], S[n][2 * r + 1]));
            m_new = max_of_quad(m_new);
            RECORD(record.m(i, m_new, stores))
            const float top = m_new == -INFINITY ? 0 : m_new, base = top * c;

            // α = exp(m_old − m),  ℓ ← α ⊙ ℓ,  O ← α ⊙ O. The difference comes first: where m stays, α is 1
            // exactly, or the error of a fused product would grow with every tile.
            float alpha = exp2_of((m[r] - top) * c);
            RECORD(record.alpha(i, alpha, stores))
            m[r] = m_new;
            l[r] *= alpha;
            take_alpha(r, alpha);

            // P̃ = exp(S − m),  ℓ ← ℓ + rowsum(P̃): this lane's columns, the quad is summed at the end
            UNROLL
            for (int n = 0; n < Bc / 8; ++n) UNROLL
            for (int e = 2 * r; e < 2 * r + 2; ++e) {
                S[n][e] = exp2_of(S[n][e] * c - base);
                l[r] += S[n][e];
            }
            RECORD(record.disturb_l(i, l[r]); record.l(i, sum_of_quad(l[r]), stores))
            RECORD(for (int n = 0; n < Bc / 8; ++n) for (int e = 2 * r; e < 2 * r + 2; ++e) {
                S[n][e] = to_float(from_float<T>(S[n][e]));
                record.P(i, 8 * n + fragment_column(e), S[n][e]);
            })
        }
    }

    /// O ← O ⊘ ℓ,  L = m · scale + ln ℓ for row0 and the rows that follow it. A row that saw no key has
    /// ℓ = 0: O = 0, L = −∞.
    DEVICE void write(const Arguments& a, int batch, int head, int row0) const {
        UNROLL
        for (int r = 0; r < 2; ++r) {
            const int row = row0 + fragment_row(2 * r);
            const float sum = sum_of_quad(l[r]);
            if (row >= a.N_q) continue;
            const float inverse = sum == 0 ? 0 : 1 / sum;
            T* const out = head_of<T>(a.O, batch, head) + row * a.O.row;
            UNROLL
            for (int n = 0; n < d / 8; ++n)
                reinterpret_cast<std::uint32_t*>(out)[4 * n + lane() % 4] =
                    pack<T>(O[n][2 * r] * inverse, O[n][2 * r + 1] * inverse);
            if (lane() % 4 == 0)
                a.L[(std::int64_t(batch) * a.heads + head) * a.N_q + row] =
                    sum == 0 ? -INFINITY : m[r] * a.scale + log_of(sum);
        }
    }
};

/// O ← O + P̃ V_j: the C fragments of S are the A fragments of P̃                                 (16 × d)
template <class T, int d, int bands, int Bc, class Tile>
DEVICE void multiply_PV(Band<T, d, Bc> (&rows)[bands], const Fragments<Bc> (&P)[bands], const Tile& Vj) {
    UNROLL
    for (int k = 0; k < Bc / 16; ++k) {
        std::uint32_t p[bands][4];
        UNROLL
        for (int b = 0; b < bands; ++b) as_A<T>(p[b], P[b][2 * k], P[b][2 * k + 1]);
        UNROLL
        for (int n = 0; n < d / 16; ++n) {
            std::uint32_t v[4];
            load_B(v, Vj, 16 * k, n);
            UNROLL
            for (int b = 0; b < bands; ++b) {
                multiply_add<T>(rows[b].O[2 * n], p[b], v[0], v[1]);
                multiply_add<T>(rows[b].O[2 * n + 1], p[b], v[2], v[3]);
            }
        }
    }
}

/// Records O of a band, whose first row within the tile is `row`.
template <int d, class Record> DEVICE void record_O(Record& record, Fragments<d>& O, int row) {
    for (int n = 0; n < d / 8; ++n)
        for (int e = 0; e < 4; ++e) record.O(row + fragment_row(e), 8 * n + fragment_column(e), O[n][e]);
}

}  // namespace tilewalk::gpu::BACKEND

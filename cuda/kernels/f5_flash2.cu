// f5-flash2: FlashAttention-2 as its authors run it before Hopper (Dao 2023, algorithm 1).
//
// What changed since f4: the copies run in the background (cp.async) while the tensor cores work: V_j while
// S = Q K_jᵀ is computed, K_{j+1} while the softmax and P V_j are. Chunks of shared memory are swizzled, so
// that ldmatrix meets no bank twice. Each warp has two bands of 16 query rows, so that every fragment of K
// and V that is read serves twice. Only tiles that the mask cuts look at it. What limits it: the
// exponentials, which nothing hides from the tensor cores: a warp either multiplies or takes exp. Hopper's
// rungs let two groups of warps take turns. How it disappointed: with one band for each warp the reads of K
// and V, not the products, were the limit.
#include "cuda/kernels/fragments.h"
#include "cuda/kernels/ladder.h"
#include "cuda/kernels/mask.h"
#include "cuda/kernels/recorder.h"
#include "cuda/kernels/rung_parts.h"

namespace tilewalk::gpu::BACKEND {

namespace {

constexpr int warps = 4;

/// Tiles as large as 255 registers allow: O takes bands · d / 2 of them, S bands · Bc / 2.
template <int d> struct Sizes {
    static constexpr int bands = d <= 128 ? 2 : 1;  ///< of 16 rows, for each warp
    static constexpr int Br = 16 * bands * warps;
    static constexpr int Bc = d <= 64 ? 128 : 64;
    static constexpr std::int64_t shared_bytes = std::int64_t(Br + 2 * Bc) * d * 2;  ///< Q, K, V
};

template <class T, int d, bool traced> KERNEL void THREADS(32 * warps) flash2(const Arguments a) {
    constexpr int bands = Sizes<d>::bands, Br = Sizes<d>::Br, Bc = Sizes<d>::Bc;
    const int i = block_x(), head = block_y(), batch = block_z();
    const int kv_head = head / (a.heads / a.kv_heads);
    const T* const Q = head_of<const T>(a.Q, batch, head);
    const T* const K = head_of<const T>(a.K, batch, kv_head);
    const T* const V = head_of<const T>(a.V, batch, kv_head);
    const Mask mask(a);
    const int i0 = i * Br, i1 = (i0 + Br < a.N_q ? i0 + Br : a.N_q) - 1;
    const int first = mask.first_block(i0, Bc), last = mask.last_block(i1, Bc);
    const int row0 = warp() * 16 * bands;  // of this warp, within the tile

    unsigned char* const shared = shared_memory<unsigned char>();
    const Swizzled<T, d> Qi{shared}, Kj{shared + Br * d * 2}, Vj{shared + (Br + Bc) * d * 2};

    // m ← −∞,  ℓ ← 0,  O ← 0
    float m[bands][2], l[bands][2], O[bands][d / 8][4];
    UNROLL
    for (int b = 0; b < bands; ++b) {
        m[b][0] = m[b][1] = -INFINITY;
        l[b][0] = l[b][1] = 0;
        UNROLL
        for (int n = 0; n < d / 8; ++n) UNROLL
        for (int e = 0; e < 4; ++e) O[b][n][e] = 0;
    }
    // exp(scale · (S − m)) = 2^(c · (S − m))
    const float c = a.scale * log2_e;

    if (first <= last) {
        copy_rows(Qi, Q, a.Q.row, i0, Br, a.N_q);
        copy_rows(Kj, K, a.K.row, first * Bc, Bc, a.N_kv);
        commit_copies();
    }
    for (int j = first; j <= last; ++j) {
        [[maybe_unused]] Recorder record(a.trace, batch * a.heads + head, i, j);

        // K_j is here, and all warps are done with V_{j−1}: V_j may come
        wait_copies<0>();
        sync_block();
        copy_rows(Vj, V, a.V.row, j * Bc, Bc, a.N_kv);
        commit_copies();

        // S = Q_i K_jᵀ                                                                       (Br × Bc)
        float S[bands][Bc / 8][4] = {};
        UNROLL
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

        // V_j is here, and all warps are done with K_j: K_{j+1} may come
        wait_copies<0>();
        sync_block();
        if (j < last) copy_rows(Kj, K, a.K.row, (j + 1) * Bc, Bc, a.N_kv);
        commit_copies();

        // Cut the tile with the mask: −∞ where a query must not look
        if (!mask.covers(i0, i1, j * Bc, j * Bc + Bc - 1)) {
            UNROLL
            for (int b = 0; b < bands; ++b) UNROLL
            for (int n = 0; n < Bc / 8; ++n) UNROLL
            for (int e = 0; e < 4; ++e)
                if (!mask.sees(i0 + row0 + 16 * b + fragment_row(e), j * Bc + 8 * n + fragment_column(e)))
                    S[b][n][e] = -INFINITY;
        }

        UNROLL
        for (int b = 0; b < bands; ++b) UNROLL
        for (int r = 0; r < 2; ++r) {
            [[maybe_unused]] const int row = row0 + 16 * b + fragment_row(2 * r);
            RECORD(for (int n = 0; n < Bc / 8; ++n) for (int e = 2 * r; e < 2 * r + 2; ++e)
                       record.S(row, 8 * n + fragment_column(e), S[b][n][e]))

            // m ← max(m, rowmax(S)). A row that has seen no key yet has m = −∞; 0 stands in for it below.
            float m_new = m[b][r];
            UNROLL
            for (int n = 0; n < Bc / 8; ++n) m_new = fmaxf(m_new, fmaxf(S[b][n][2 * r], S[b][n][2 * r + 1]));
            m_new = max_of_quad(m_new);
            RECORD(record.m(row, m_new))
            const float base = m_new == -INFINITY ? 0 : m_new * c;

            // α = exp(m_old − m),  O ← α ⊙ O,  ℓ ← α ⊙ ℓ
            float alpha = exp2_of(m[b][r] * c - base);
            RECORD(record.alpha(row, alpha))
            m[b][r] = m_new;
            l[b][r] *= alpha;
            UNROLL
            for (int n = 0; n < d / 8; ++n) {
                O[b][n][2 * r] *= alpha;
                O[b][n][2 * r + 1] *= alpha;
            }

            // P̃ = exp(S − m),  ℓ ← ℓ + rowsum(P̃): this lane's columns, the quad is summed at the end
            UNROLL
            for (int n = 0; n < Bc / 8; ++n) UNROLL
            for (int e = 2 * r; e < 2 * r + 2; ++e) {
                S[b][n][e] = exp2_of(S[b][n][e] * c - base);
                l[b][r] += S[b][n][e];
            }
            RECORD(record.disturb_l(row, l[b][r]); record.l(row, sum_of_quad(l[b][r])))
            RECORD(for (int n = 0; n < Bc / 8; ++n) for (int e = 2 * r; e < 2 * r + 2; ++e) {
                S[b][n][e] = to_float(from_float<T>(S[b][n][e]));
                record.P(row, 8 * n + fragment_column(e), S[b][n][e]);
            })
        }

        // O ← O + P̃ V_j: the C fragments of S are the A fragments of P̃                        (Br × d)
        UNROLL
        for (int k = 0; k < Bc / 16; ++k) {
            std::uint32_t p[bands][4];
            UNROLL
            for (int b = 0; b < bands; ++b) as_A<T>(p[b], S[b][2 * k], S[b][2 * k + 1]);
            UNROLL
            for (int n = 0; n < d / 16; ++n) {
                std::uint32_t v[4];
                load_B(v, Vj, 16 * k, n);
                UNROLL
                for (int b = 0; b < bands; ++b) {
                    multiply_add<T>(O[b][2 * n], p[b], v[0], v[1]);
                    multiply_add<T>(O[b][2 * n + 1], p[b], v[2], v[3]);
                }
            }
        }
        RECORD(for (int b = 0; b < bands; ++b) for (int n = 0; n < d / 8; ++n) for (int e = 0; e < 4; ++e)
                   record.O(row0 + 16 * b + fragment_row(e), 8 * n + fragment_column(e), O[b][n][e]))
    }

    // O ← O ⊘ ℓ,  L = m + ln ℓ. A row that saw no key has ℓ = 0: O = 0, L = −∞.
    T* const O_head = head_of<T>(a.O, batch, head);
    float* const L = a.L + (std::int64_t(batch) * a.heads + head) * a.N_q;
    UNROLL
    for (int b = 0; b < bands; ++b) UNROLL
    for (int r = 0; r < 2; ++r) {
        const int row = i0 + row0 + 16 * b + fragment_row(2 * r);
        const float sum = sum_of_quad(l[b][r]);
        if (row >= a.N_q) continue;
        const float inverse = sum == 0 ? 0 : 1 / sum;
        std::uint32_t* const out = reinterpret_cast<std::uint32_t*>(O_head + row * a.O.row);
        UNROLL
        for (int n = 0; n < d / 8; ++n)
            out[4 * n + lane() % 4] = pack<T>(O[b][n][2 * r] * inverse, O[b][n][2 * r + 1] * inverse);
        if (lane() % 4 == 0) L[row] = sum == 0 ? -INFINITY : m[b][r] * a.scale + log_of(sum);
    }
}

std::string refuse(const Arguments& a, DType type, const Chip& chip) {
    std::int64_t shared = 0;
    with_d<32, 64, 96, 128, 256>(a.d, [&](auto d) { shared = Sizes<d>::shared_bytes; });
    return first_of({refuse_f32(type), refuse_old_bf16(type, chip), refuse_d<32, 64, 96, 128, 256>(a.d),
                     refuse_shared(shared, chip)});
}

Tile tile(const Arguments& a, DType, const Chip&) {
    Tile t;
    with_d<32, 64, 96, 128, 256>(a.d, [&](auto d) { t = {Sizes<d>::Br, Sizes<d>::Bc}; });
    return t;
}

void run(const Arguments& a, DType type, Stream& stream) {
    with_half(type, [&](auto of) {
        using T = typename decltype(of)::Type;
        with_d<32, 64, 96, 128, 256>(a.d, [&](auto d) {
            const Grid grid{blocks_of(a.N_q, Sizes<d>::Br), a.heads, a.batch, 32 * warps,
                            Sizes<d>::shared_bytes};
            launch(stream, grid, a.trace.tiles_i > 0 ? flash2<T, d, true> : flash2<T, d, false>, a);
        });
    });
}

}  // namespace

const Rung& f5_flash2() {
    static const Rung rung{
        "f5-flash2",
        "FlashAttention-2: copies in the background",
        "cp.async, swizzled shared memory, two bands of rows for each warp, masks at edges only",
        "cuda/kernels/f5_flash2.cu",
        Direction::forward,
        false,
        true,
        refuse,
        no_workspace,
        tile,
        run};
    return rung;
}

}  // namespace tilewalk::gpu::BACKEND

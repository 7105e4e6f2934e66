// The gradients of a block of keys with tensor cores: b2 and b3 launch it.
//
// Everything is computed transposed: Sᵀ = K Qᵀ and dPᵀ = V dOᵀ. The warps stand in two columns: two of them
// share 32 keys, and each has one half of the queries for Sᵀ and dPᵀ, one half of the columns for dV and dK.
// So every fragment of Q and dO that is read serves two bands of 16 keys. Pᵀ and dSᵀ, which one warp makes
// and another one multiplies, go through shared memory.
#pragma once

#include "cuda/kernels/backward_parts.h"
#include "cuda/kernels/fragments.h"
#include "cuda/kernels/mask.h"
#include "cuda/kernels/room.h"

namespace tilewalk::gpu::BACKEND {

/// Sizes of a launch: Bc keys stay in a block, Br queries at a time pass by, in so many buffers.
template <int dim, int keys, int queries, int buffers> struct KeyBlocks {
    static constexpr int d = dim, Bc = keys, Br = queries, stages = buffers;
    static constexpr int bands = 2, columns = 2;  ///< of a warp, of 16 keys; of warps
    static constexpr int warps = columns * Bc / (16 * bands);
    static_assert(Br <= 32 * warps);  // a thread for each L
    static constexpr int row_bytes = d * 2;
    /// K, V; Q, dO; Pᵀ, dSᵀ; L, D
    static constexpr std::int64_t shared_bytes =
        (2 * Bc + 2 * stages * Br) * row_bytes + 2 * Bc * Br * 2 + 2 * Br * 4;
};

/// C += A B: `steps` times 16 elements are summed over; load_A(a, band, k), load_B(b, n, k) give the
/// fragments of 16 rows of A and of 16 columns of B.                                (16 bands × 16 columns)
template <int at_once, int steps, class T, int bands, int eights, class A, class B>
DEVICE void multiply(float (&C)[bands][eights][4], const A& load_A, const B& load_B) {
    UNROLL_BY(at_once)
    for (int k = 0; k < steps; ++k) {
        std::uint32_t a[bands][4], b[4];
        UNROLL
        for (int band = 0; band < bands; ++band) load_A(a[band], band, k);
        UNROLL
        for (int n = 0; n < eights / 2; ++n) {
            load_B(b, n, k);
            UNROLL
            for (int band = 0; band < bands; ++band) {
                multiply_add<T>(C[band][2 * n], a[band], b[0], b[1]);
                multiply_add<T>(C[band][2 * n + 1], a[band], b[2], b[3]);
            }
        }
    }
}

/// One tile in shared memory as the warps see it, and what each of them has of it.
template <class T, class Size> struct KeyBlockTile {
    static constexpr int d = Size::d, Bc = Size::Bc, Br = Size::Br, bands = Size::bands;
    static constexpr int queries = Br / Size::columns, width = d / Size::columns;  ///< of a warp
    Swizzled<T, d> K, V, Q, dO;
    Swizzled<T, Br> Pt, dSt;
    const float *L, *D;

    DEVICE static int key0() { return 16 * bands * (warp() / Size::columns); }
    DEVICE static int query0() { return queries * (warp() % Size::columns); }
    DEVICE static int column0() { return width * (warp() % Size::columns); }

    /// C += X Yᵀ, of this warp's keys and queries; X is K or V, Y is Q or dO.           (32 × Br / 2)
    template <int eights>
    DEVICE void add_scores(float (&C)[bands][eights][4], const Swizzled<T, d>& X,
                           const Swizzled<T, d>& Y) const {
        multiply<4, d / 16, T>(
            C, [&](auto& a, int band, int k) { load_A(a, X, key0() + 16 * band, k); },
            [&](auto& b, int n, int k) { load_B_transposed(b, Y, query0() + 16 * n, k); });
    }

    /// C += X Y, of this warp's keys and columns; X is Pᵀ or dSᵀ, Y is dO or Q.            (32 × d / 2)
    template <int eights>
    DEVICE void add_gradients(float (&C)[bands][eights][4], const Swizzled<T, Br>& X,
                              const Swizzled<T, d>& Y) const {
        multiply<4, Br / 16, T>(
            C, [&](auto& a, int band, int k) { load_A(a, X, key0() + 16 * band, k); },
            [&](auto& b, int n, int k) { load_B(b, Y, 16 * k, column0() / 16 + n); });
    }

    /// This warp's part of Pᵀ or dSᵀ to shared memory, in 16 bits.
    DEVICE void store(const Swizzled<T, Br>& to, const float (&C)[bands][queries / 8][4]) const {
        UNROLL
        for (int band = 0; band < bands; ++band) UNROLL
        for (int n = 0; n < queries / 8; ++n) UNROLL
        for (int r = 0; r < 2; ++r) {
            const int key = key0() + 16 * band + fragment_row(2 * r);
            unsigned char* const at = to.chunk(key, query0() / 8 + n) + 4 * (lane() % 4);
            *reinterpret_cast<std::uint32_t*>(at) = pack<T>(C[band][n][2 * r], C[band][n][2 * r + 1]);
        }
    }

    /// Pᵀ and dSᵀ of queries i0 … i1 and keys j0 …: each warp its part.
    DEVICE void soften(const Mask& mask, float c, int i0, int i1, int j0) const {
        // Sᵀ = K_j Q_iᵀ, dPᵀ = V_j dO_iᵀ                                                     (Bc × Br)
        float P[bands][queries / 8][4] = {}, dS[bands][queries / 8][4] = {};
        add_scores(P, K, Q);

        // Pᵀ = exp(Sᵀ − L), 0 where the mask cuts
        const bool cut = !mask.covers(i0, i1, j0, j0 + Bc - 1);
        UNROLL
        for (int band = 0; band < bands; ++band) UNROLL
        for (int n = 0; n < queries / 8; ++n) UNROLL
        for (int e = 0; e < 4; ++e) {
            const int query = query0() + 8 * n + fragment_column(e);
            float& p = P[band][n][e];
            p = exp2_of(p * c - L[query]);
            if (cut && !mask.sees(i0 + query, j0 + key0() + 16 * band + fragment_row(e))) p = 0;
        }
        store(Pt, P);

        // dSᵀ = Pᵀ ⊙ (dPᵀ − D)
        add_scores(dS, V, dO);
        UNROLL
        for (int band = 0; band < bands; ++band) UNROLL
        for (int n = 0; n < queries / 8; ++n) UNROLL
        for (int e = 0; e < 4; ++e)
            dS[band][n][e] = P[band][n][e] * (dS[band][n][e] - D[query0() + 8 * n + fragment_column(e)]);
        store(dSt, dS);
    }

    /// dQ_i ← dQ_i + dS K_j, added to HBM: each warp has 32 queries and its part of the columns, of which the
    /// registers hold 32 at once.                                                                (Br × d)
    DEVICE void add_dQ(float* dQ, int i0, int N_q) const {
        constexpr int groups = Br / 32, parts = Size::warps / groups, of_warp = d / parts;
        constexpr int eights = of_warp < 32 ? of_warp / 8 : 4;
        const int row0 = 32 * (warp() % groups), part = warp() / groups;
        NO_UNROLL
        for (int column = part * of_warp; column < (part + 1) * of_warp; column += 8 * eights) {
            float sum[2][eights][4] = {};
            multiply<4, Bc / 16, T>(
                sum, [&](auto& a, int band, int k) { load_A_transposed(a, dSt, 16 * k, row0 / 16 + band); },
                [&](auto& b, int n, int k) { load_B(b, K, 16 * k, column / 16 + n); });
            UNROLL
            for (int band = 0; band < 2; ++band) {
                const int row = i0 + row0 + 16 * band;
                if (row >= N_q) continue;
                float* const to = dQ + row * d + column / 8 * fragment_size + lane();
                UNROLL
                for (int n = 0; n < eights; ++n) UNROLL
                for (int e = 0; e < 4; ++e) atomic_add(to + n * fragment_size + 32 * e, sum[band][n][e]);
            }
        }
    }
};

/// dK and dV of block j of one key head, over all query heads that read it; with `sum_dQ` also their dQ.
template <class T, class Size, bool sum_dQ>
KERNEL void THREADS(32 * Size::warps) key_block_gradients(const Arguments a) {
    if constexpr (!has_room<Size::shared_bytes>) return;  // with_key_blocks takes a smaller one
    constexpr int d = Size::d, Bc = Size::Bc, Br = Size::Br, stages = Size::stages, bands = Size::bands;
    const int j0 = block_x() * Bc, kv_head = block_y(), batch = block_z();
    const int j1 = (j0 + Bc < a.N_kv ? j0 + Bc : a.N_kv) - 1, group = a.heads / a.kv_heads;
    const Mask mask(a);
    const BackwardSums sums(a);

    unsigned char* const shared = shared_memory<unsigned char>();
    constexpr int row_bytes = Size::row_bytes, after_keys = 2 * Bc * row_bytes;
    constexpr int after_queries = after_keys + 2 * stages * Br * row_bytes;
    const Swizzled<T, d> Kj{shared}, Vj{shared + Bc * row_bytes};
    const Swizzled<T, Br> Pt{shared + after_queries}, dSt{shared + after_queries + Bc * Br * 2};
    float* const L = reinterpret_cast<float*>(shared + after_queries + 2 * Bc * Br * 2);
    float* const D = L + Br;
    const auto Qi = [&](int stage) { return Swizzled<T, d>{shared + after_keys + stage * Br * row_bytes}; };
    const auto dOi = [&](int stage) { return Qi(stages + stage); };

    // The query blocks that see this key block, for each head of the group
    const int first = mask.first_query(j0) / Br, last_query = mask.last_query(j1, a.N_q);
    const int blocks = last_query < first * Br ? 0 : last_query / Br - first + 1;
    const auto head_at = [&](int n) { return kv_head * group + n / blocks; };
    const auto i0_at = [&](int n) { return (first + n % blocks) * Br; };
    const auto fetch = [&](int n) {
        if (n >= group * blocks) return;
        const int stage = n % stages, head = head_at(n);
        copy_rows(Qi(stage), head_of<const T>(a.Q, batch, head), a.Q.row, i0_at(n), Br, a.N_q);
        copy_rows(dOi(stage), head_of<const T>(a.dO, batch, head), a.dO.row, i0_at(n), Br, a.N_q);
    };

    using Tile = KeyBlockTile<T, Size>;
    float dK[bands][Tile::width / 8][4] = {}, dV[bands][Tile::width / 8][4] = {};
    copy_rows(Kj, head_of<const T>(a.K, batch, kv_head), a.K.row, j0, Bc, a.N_kv);
    copy_rows(Vj, head_of<const T>(a.V, batch, kv_head), a.V.row, j0, Bc, a.N_kv);
    fetch(0);
    commit_copies();
    for (int n = 0; n < group * blocks; ++n) {
        const int i0 = i0_at(n), i1 = (i0 + Br < a.N_q ? i0 + Br : a.N_q) - 1;
        const std::int64_t of_head = std::int64_t(batch) * a.heads + head_at(n);

        // This thread's part of Q_i and dO_i is here; all warps have been done with L and D since Pᵀ was
        // there.
        wait_copies<0>();
        if (thread() < Br) {
            const int row = i0 + thread();
            L[thread()] = row < a.N_q ? a.L[of_head * a.N_q + row] * log2_e : 0;
            D[thread()] = row < a.N_q ? sums.D[of_head * a.N_q + row] : 0;
        }
        // All of Q_i, dO_i, L and D is there, and all warps are done with the tile before
        sync_block();
        if (stages == 2) fetch(n + 1);
        if (stages == 2) commit_copies();
        const Tile tile{Kj, Vj, Qi(n % stages), dOi(n % stages), Pt, dSt, L, D};
        tile.soften(mask, a.scale * log2_e, i0, i1, j0);

        // Pᵀ and dSᵀ of all warps are there: dV ← dV + Pᵀ dO_i, dK ← dK + dSᵀ Q_i             (Bc × d)
        sync_block();
        tile.add_gradients(dV, Pt, tile.dO);
        tile.add_gradients(dK, dSt, tile.Q);

        // With one buffer: all warps are done with it
        if (stages == 1) sync_block();
        if (stages == 1) fetch(n + 1);
        if (stages == 1) commit_copies();
        if constexpr (sum_dQ) tile.add_dQ(sums.dQ + of_head * sums.dQ_of_head, i0, a.N_q);
    }
    wait_copies<0>();  // keys that no query sees: their copies, too, end before the block does

    // dK ← scale · dK; both to HBM
    T* const dK_head = head_of<T>(a.dK, batch, kv_head);
    T* const dV_head = head_of<T>(a.dV, batch, kv_head);
    UNROLL
    for (int band = 0; band < bands; ++band) UNROLL
    for (int r = 0; r < 2; ++r) {
        const int key = j0 + Tile::key0() + 16 * band + fragment_row(2 * r);
        if (key >= a.N_kv) continue;
        std::uint32_t* const to_dK = reinterpret_cast<std::uint32_t*>(dK_head + key * a.dK.row);
        std::uint32_t* const to_dV = reinterpret_cast<std::uint32_t*>(dV_head + key * a.dV.row);
        UNROLL
        for (int n = 0; n < Tile::width / 8; ++n) {
            const int at = Tile::column0() / 2 + 4 * n + lane() % 4;
            const float *const k = dK[band][n] + 2 * r, *const v = dV[band][n] + 2 * r;
            to_dK[at] = pack<T>(k[0] * a.scale, k[1] * a.scale);
            to_dV[at] = pack<T>(v[0], v[1]);
        }
    }
}

/// The largest blocks that shared memory holds: f(KeyBlocks) for this chip.
template <int d, class F> auto with_key_blocks(const Chip& chip, F&& f) {
    using Large = KeyBlocks<d, 128, d <= 64 ? 128 : 64, 2>;
    using Middle = KeyBlocks<d, d <= 64 ? 128 : 64, 64, d <= 64 ? 2 : 1>;
    if (Large::shared_bytes <= chip.shared_per_block) return f(Large{});
    if (Middle::shared_bytes <= chip.shared_per_block) return f(Middle{});
    return f(KeyBlocks < d, 64, d <= 64 ? 64 : 32, 1 > {});
}

}  // namespace tilewalk::gpu::BACKEND

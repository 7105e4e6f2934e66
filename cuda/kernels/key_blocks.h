// The gradients of a block of keys with tensor cores: b2 and b3 launch it.
//
// Everything is computed transposed: Sᵀ = K Qᵀ and dPᵀ = V dOᵀ, a warp for 16 keys. So Pᵀ and dSᵀ, as they
// lie in registers, are the left operands of dV += Pᵀ dO and dK += dSᵀ Q (FlashAttention-3 does the same).
// Only dQ, which adds over keys, needs dSᵀ of all warps: it goes through shared memory.
#pragma once

#include "cuda/kernels/backward_parts.h"
#include "cuda/kernels/fragments.h"
#include "cuda/kernels/mask.h"

namespace tilewalk::gpu::BACKEND {

/// Sizes of a launch: Bc keys stay in a block, Br queries pass by (as many as the registers allow beside dK
/// and dV), in so many buffers.
template <int dim, int keys, int buffers> struct KeyBlocks {
    static constexpr int d = dim, Bc = keys, Br = dim <= 64 && keys >= 128 ? 64 : 32, stages = buffers;
    static constexpr int warps = Bc / 16;
    static_assert(Br <= 32 * warps);  // a thread for each L
    static constexpr int row_bytes = d * 2;
    /// K, V; Q, dO; dSᵀ; L, D
    static constexpr std::int64_t shared_bytes =
        (2 * Bc + 2 * stages * Br) * row_bytes + Bc * Br * 2 + 2 * Br * 4;
};

/// One warp's share of one tile, queries i0 … of `head`, keys j0 …: dK and dV grow; dSᵀ is left in `dSt`.
template <class T, class Size>
DEVICE void tile_gradients(const Mask& mask, float c, int i0, int i1, int j0, Swizzled<T, Size::d> Kj,
                           Swizzled<T, Size::d> Vj, Swizzled<T, Size::d> Qi, Swizzled<T, Size::d> dOi,
                           Swizzled<T, Size::Br> dSt, const float* L, const float* D,
                           float (&dK)[Size::d / 8][4], float (&dV)[Size::d / 8][4]) {
    constexpr int d = Size::d, Br = Size::Br;
    const int key0 = 16 * warp();

    // Sᵀ = K_j Q_iᵀ                                                                           (Bc × Br)
    float P[Br / 8][4] = {};
    UNROLL_BY(4)  // all eight steps of d = 128 would spill
    for (int k = 0; k < d / 16; ++k) {
        std::uint32_t key[4], q[4];
        load_A(key, Kj, key0, k);
        UNROLL
        for (int n = 0; n < Br / 16; ++n) {
            load_B_transposed(q, Qi, 16 * n, k);
            multiply_add<T>(P[2 * n], key, q[0], q[1]);
            multiply_add<T>(P[2 * n + 1], key, q[2], q[3]);
        }
    }

    // Pᵀ = exp(Sᵀ − L), 0 where the mask cuts
    const bool cut = !mask.covers(i0, i1, j0, j0 + Size::Bc - 1);
    UNROLL
    for (int n = 0; n < Br / 8; ++n) {
        UNROLL
        for (int e = 0; e < 4; ++e) {
            const int query = 8 * n + fragment_column(e);
            P[n][e] = exp2_of(P[n][e] * c - L[query]);
            if (cut && !mask.sees(i0 + query, j0 + key0 + fragment_row(e))) P[n][e] = 0;
        }
    }

    // dV ← dV + Pᵀ dO_i                                                                        (Bc × d)
    UNROLL
    for (int k = 0; k < Br / 16; ++k) {
        std::uint32_t p[4], dO[4];
        as_A<T>(p, P[2 * k], P[2 * k + 1]);
        UNROLL
        for (int n = 0; n < d / 16; ++n) {
            load_B(dO, dOi, 16 * k, n);
            multiply_add<T>(dV[2 * n], p, dO[0], dO[1]);
            multiply_add<T>(dV[2 * n + 1], p, dO[2], dO[3]);
        }
    }

    // dPᵀ = V_j dO_iᵀ                                                                         (Bc × Br)
    float dS[Br / 8][4] = {};
    UNROLL_BY(4)
    for (int k = 0; k < d / 16; ++k) {
        std::uint32_t value[4], dO[4];
        load_A(value, Vj, key0, k);
        UNROLL
        for (int n = 0; n < Br / 16; ++n) {
            load_B_transposed(dO, dOi, 16 * n, k);
            multiply_add<T>(dS[2 * n], value, dO[0], dO[1]);
            multiply_add<T>(dS[2 * n + 1], value, dO[2], dO[3]);
        }
    }

    // dSᵀ = Pᵀ ∘ (dPᵀ − D)
    UNROLL
    for (int n = 0; n < Br / 8; ++n) {
        UNROLL
        for (int e = 0; e < 4; ++e) dS[n][e] = P[n][e] * (dS[n][e] - D[8 * n + fragment_column(e)]);
        UNROLL
        for (int r = 0; r < 2; ++r) {
            unsigned char* const to = dSt.chunk(key0 + fragment_row(2 * r), n) + 4 * (lane() % 4);
            *reinterpret_cast<std::uint32_t*>(to) = pack<T>(dS[n][2 * r], dS[n][2 * r + 1]);
        }
    }

    // dK ← dK + dSᵀ Q_i                                                                        (Bc × d)
    UNROLL
    for (int k = 0; k < Br / 16; ++k) {
        std::uint32_t ds[4], q[4];
        as_A<T>(ds, dS[2 * k], dS[2 * k + 1]);
        UNROLL
        for (int n = 0; n < d / 16; ++n) {
            load_B(q, Qi, 16 * k, n);
            multiply_add<T>(dK[2 * n], ds, q[0], q[1]);
            multiply_add<T>(dK[2 * n + 1], ds, q[2], q[3]);
        }
    }
}

/// dQ_i ← dQ_i + dS K_j, added to HBM: each warp has 16 queries and its part of the columns.  (Br × d)
template <class T, class Size>
DEVICE void add_dQ(float* dQ, int i0, int N_q, Swizzled<T, Size::Br> dSt, Swizzled<T, Size::d> Kj) {
    constexpr int d = Size::d, bands = Size::Br / 16, parts = Size::warps / bands, columns = d / parts;
    const int band = warp() % bands, part = warp() / bands;
    float sum[columns / 8][4] = {};
    UNROLL
    for (int k = 0; k < Size::Bc / 16; ++k) {
        std::uint32_t ds[4], key[4];
        load_A_transposed(ds, dSt, 16 * k, band);
        UNROLL
        for (int n = 0; n < columns / 16; ++n) {
            load_B(key, Kj, 16 * k, part * columns / 16 + n);
            multiply_add<T>(sum[2 * n], ds, key[0], key[1]);
            multiply_add<T>(sum[2 * n + 1], ds, key[2], key[3]);
        }
    }
    UNROLL
    for (int n = 0; n < columns / 8; ++n) {
        UNROLL
        for (int e = 0; e < 4; ++e) {
            const int row = i0 + 16 * band + fragment_row(e);
            if (row < N_q) atomic_add(dQ + row * d + part * columns + 8 * n + fragment_column(e), sum[n][e]);
        }
    }
}

/// dK and dV of block j of one key head, over all query heads that read it; with `sum_dQ` also their dQ.
template <class T, class Size, bool sum_dQ>
KERNEL void THREADS(32 * Size::warps) key_block_gradients(const Arguments a) {
    constexpr int d = Size::d, Bc = Size::Bc, Br = Size::Br, stages = Size::stages;
    const int j0 = block_x() * Bc, kv_head = block_y(), batch = block_z();
    const int j1 = (j0 + Bc < a.N_kv ? j0 + Bc : a.N_kv) - 1, group = a.heads / a.kv_heads;
    const Mask mask(a);
    const BackwardSums sums(a);

    unsigned char* const shared = shared_memory<unsigned char>();
    constexpr int row_bytes = Size::row_bytes, after_keys = 2 * Bc * row_bytes;
    constexpr int after_queries = after_keys + 2 * stages * Br * row_bytes;
    const Swizzled<T, d> Kj{shared}, Vj{shared + Bc * row_bytes};
    const Swizzled<T, Br> dSt{shared + after_queries};
    float* const L = reinterpret_cast<float*>(shared + after_queries + Bc * Br * 2);
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

    float dK[d / 8][4] = {}, dV[d / 8][4] = {};
    copy_rows(Kj, head_of<const T>(a.K, batch, kv_head), a.K.row, j0, Bc, a.N_kv);
    copy_rows(Vj, head_of<const T>(a.V, batch, kv_head), a.V.row, j0, Bc, a.N_kv);
    fetch(0);
    commit_copies();
    for (int n = 0; n < group * blocks; ++n) {
        const int i0 = i0_at(n), i1 = (i0 + Br < a.N_q ? i0 + Br : a.N_q) - 1;
        const std::int64_t head_row = (std::int64_t(batch) * a.heads + head_at(n)) * a.N_q;

        // This thread's part of Q_i and dO_i is here. All warps have been done with L, D and the other buffer
        // since the barrier at the end of the tile before.
        wait_copies<0>();
        if (stages == 2) fetch(n + 1);
        if (stages == 2) commit_copies();
        if (thread() < Br) {
            const int row = i0 + thread();
            L[thread()] = row < a.N_q ? a.L[head_row + row] * log2_e : 0;
            D[thread()] = row < a.N_q ? sums.D[head_row + row] : 0;
        }
        // All of Q_i, dO_i, L and D is there, and all warps are done with dSᵀ of before
        sync_block();
        tile_gradients<T, Size>(mask, a.scale * log2_e, i0, i1, j0, Kj, Vj, Qi(n % stages), dOi(n % stages),
                                dSt, L, D, dK, dV);

        // dSᵀ of all warps is there; with one buffer, it is free for the next queries
        sync_block();
        if (stages == 1) fetch(n + 1);
        if (stages == 1) commit_copies();
        if constexpr (sum_dQ) add_dQ<T, Size>(sums.dQ + head_row * d, i0, a.N_q, dSt, Kj);
    }
    wait_copies<0>();  // keys that no query sees: their copies, too, end before the block does

    // dK ← scale · dK; both to HBM
    T* const dK_head = head_of<T>(a.dK, batch, kv_head);
    T* const dV_head = head_of<T>(a.dV, batch, kv_head);
    UNROLL
    for (int r = 0; r < 2; ++r) {
        const int key = j0 + 16 * warp() + fragment_row(2 * r);
        if (key >= a.N_kv) continue;
        std::uint32_t* const to_dK = reinterpret_cast<std::uint32_t*>(dK_head + key * a.dK.row);
        std::uint32_t* const to_dV = reinterpret_cast<std::uint32_t*>(dV_head + key * a.dV.row);
        UNROLL
        for (int n = 0; n < d / 8; ++n) {
            to_dK[4 * n + lane() % 4] = pack<T>(dK[n][2 * r] * a.scale, dK[n][2 * r + 1] * a.scale);
            to_dV[4 * n + lane() % 4] = pack<T>(dV[n][2 * r], dV[n][2 * r + 1]);
        }
    }
}

/// Large blocks with two buffers where they fit, small ones with one elsewhere: f(KeyBlocks) for this chip.
template <int d, class F> auto with_key_blocks(const Chip& chip, F&& f) {
    using Large = KeyBlocks<d, 128, 2>;
    if (Large::shared_bytes <= chip.shared_per_block) return f(Large{});
    return f(KeyBlocks<d, 64, 1>{});
}

}  // namespace tilewalk::gpu::BACKEND

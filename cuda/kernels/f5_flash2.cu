// f5-flash2: FlashAttention-2 as its authors run it before Hopper (Dao 2023, algorithm 1).
//
// What changed since f4: the copies run in the background (cp.async) while the tensor cores work: V_j while S
// = Q K_jᵀ is computed, K_{j+1} while the softmax and P V_j are. Chunks of shared memory are swizzled, so
// that ldmatrix meets no bank twice. Each warp has two bands of 16 query rows, so that every fragment of K
// and V that is read serves twice. Only tiles that the mask cuts look at it. What should limit it: the
// exponentials. A warp either multiplies or takes exp, and only another warp or block can fill the gap: one
// block of four warps fits beside another on a multiprocessor, no more. Where it should fall short: with two
// bands, 64 keys at d = 128 are a few registers more than there are, so that it takes 32 and scales O twice
// as often.
#include "cuda/kernels/bands.h"
#include "cuda/kernels/ladder.h"

namespace tilewalk::gpu::BACKEND {

namespace {

constexpr int warps = 4;

/// Tiles as large as 255 registers allow: O takes bands · d / 2 of them, S bands · Bc / 2. How they
/// lie in shared memory: Swizzled in fragments.h.
template <int d> struct Sizes {
    static constexpr int bands = d <= 128 ? 2 : 1;  ///< of 16 rows, for each warp
    static constexpr int Br = 16 * bands * warps;
    static constexpr int Bc = d == 128 ? 32 : 64;
    static constexpr std::int64_t shared_bytes = std::int64_t(Br + 2 * Bc) * d * 2;  ///< Q, K, V
};

template <class T, int d, bool traced> KERNEL void THREADS(32 * warps) flash2(const Arguments a) {
    if constexpr (!copies_in_background) return;  // refused on the host
    constexpr int bands = Sizes<d>::bands, Br = Sizes<d>::Br, Bc = Sizes<d>::Bc;
    const int i = block_x(), head = block_y(), batch = block_z();
    const int kv_head = head / (a.heads / a.kv_heads);
    const T* const K = head_of<const T>(a.K, batch, kv_head);
    const T* const V = head_of<const T>(a.V, batch, kv_head);
    const Mask mask(a);
    const int i0 = i * Br, i1 = (i0 + Br < a.N_q ? i0 + Br : a.N_q) - 1;
    const int first = mask.first_block(i0, Bc), last = mask.last_block(i1, Bc);
    const int row0 = warp() * 16 * bands;  // of this warp, within the tile

    unsigned char* const shared = shared_memory<unsigned char>();
    const Swizzled<T, d> Qi{shared}, Kj{shared + Br * d * 2}, Vj{shared + (Br + Bc) * d * 2};
    if (first <= last) {
        copy_rows<32 * warps, Br>(Qi, head_of<const T>(a.Q, batch, head), a.Q.row, i0, a.N_q);
        copy_rows<32 * warps, Bc>(Kj, K, a.K.row, first * Bc, a.N_kv);
        commit_copies();
    }

    Band<T, d, Bc> rows[bands];
    const float c = a.scale * log2_e;
    for (int j = first; j <= last; ++j) {
        [[maybe_unused]] Recorder record(a.trace, batch * a.heads + head, i, j);

        // K_j is here, and all warps are done with V_{j−1}: V_j may come
        wait_copies<0>();
        sync_block();
        copy_rows<32 * warps, Bc>(Vj, V, a.V.row, j * Bc, a.N_kv);
        commit_copies();
        float S[bands][Bc / 8][4];
        multiply_QK<T, d, bands, Bc>(S, Qi, Kj, row0);

        // V_j is here, and all warps are done with K_j: K_{j+1} may come
        wait_copies<0>();
        sync_block();
        if (j < last) copy_rows<32 * warps, Bc>(Kj, K, a.K.row, (j + 1) * Bc, a.N_kv);
        commit_copies();

        if (!mask.covers(i0, i1, j * Bc, j * Bc + Bc - 1)) {
            UNROLL
            for (int b = 0; b < bands; ++b) rows[b].cut(S[b], mask, i0 + row0 + 16 * b, j * Bc);
        }
        UNROLL
        for (int b = 0; b < bands; ++b) rows[b].template soften<traced>(S[b], c, record, row0 + 16 * b);
        multiply_PV<T, d, bands, Bc>(rows, S, Vj);
        RECORD(for (int b = 0; b < bands; ++b) record_O<d>(record, rows[b].O, row0 + 16 * b))
    }
    UNROLL
    for (int b = 0; b < bands; ++b) rows[b].write(a, batch, head, i0 + row0 + 16 * b);
}

std::string refuse(const Arguments& a, DType type, const Chip& chip) {
    std::int64_t shared = 0;
    with_d<64, 96, 128, 256>(a.d, [&](auto d) { shared = Sizes<d>::shared_bytes; });
    return first_of({refuse_f32(type), refuse_old_bf16(type, chip), refuse_before_ampere(chip),
                     refuse_d<64, 96, 128, 256>(a.d), refuse_traced_d<64, 128>(a),
                     refuse_shared(shared, chip), refuse_unaligned(a, type)});
}

Tile tile(const Arguments& a, DType, const Chip&) {
    Tile t;
    with_d<64, 96, 128, 256>(a.d, [&](auto d) { t = {Sizes<d>::Br, Sizes<d>::Bc}; });
    return t;
}

void run(const Arguments& a, DType type, Stream& stream) {
    with_half(type, [&](auto of) {
        using T = typename decltype(of)::Type;
        with_d<64, 96, 128, 256>(a.d, [&](auto d) {
            const Grid grid{blocks_of(a.N_q, Sizes<d>::Br), a.heads, a.batch, 32 * warps,
                            Sizes<d>::shared_bytes};
            if (a.trace.tiles_i == 0) launch(stream, grid, flash2<T, d, false>, a);
            if constexpr (d == 64 || d == 128)
                if (a.trace.tiles_i > 0) launch(stream, grid, flash2<T, d, true>, a);
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

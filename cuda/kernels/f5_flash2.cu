// f5-flash2: FlashAttention-2 as its authors run it before Hopper (Dao 2023, algorithm 1).
//
// What changed since f4b: each warp has two bands of 16 query rows, so that every fragment of K and V that is
// read serves twice. Rows stand in shared memory without a gap, which would be room for fewer keys: their
// chunks are swizzled, so that ldmatrix meets no bank twice all the same. Only tiles that the mask cuts look
// at it. What should limit it: the tensor cores, and the exponentials. A warp either multiplies or takes exp,
// and only another warp or block can fill the gap: one block of four warps fits beside another on a
// multiprocessor, no more. Where it should fall short: at d = 256, where one band is all that the registers
// hold and one block all that fits, each fragment serves once.
//
// Left out: the factor of O where no row's maximum rose. The machine code of a warp that asks first is a
// tenth shorter, but cut at the question, so that products and exponentials overlap less
// (docs/gpu-counts.md).
#include "cuda/kernels/bands.h"
#include "cuda/kernels/ladder.h"

namespace tilewalk::gpu::BACKEND {

namespace {

/// Tiles as large as 255 registers allow: O takes bands · d / 2 of them, S bands · Bc / 2. How they
/// lie in shared memory: Swizzled in fragments.h.
template <int dim, int keys, int bands_of_warp, int warps_of_block> struct Sizes {
    static constexpr int d = dim, Bc = keys, warps = warps_of_block;
    static constexpr int bands = bands_of_warp;  ///< of 16 rows, for each warp
    static constexpr int Br = 16 * bands * warps;
    static constexpr std::int64_t shared_bytes = std::int64_t(Br + 2 * Bc) * d * 2;  ///< Q, K, V
};

/// FlashAttention-2's tiles: f(Sizes). Large where shared memory has room, at d = 128 for two blocks. Up to
/// 128 keys are two tiles of 64: of one tile alone nothing could come while another is computed.
template <class F> bool with_sizes(const Arguments& a, const Chip& chip, F&& f) {
    const bool large = chip.shared_per_block >= 2 * Sizes<128, 64, 2, 4>::shared_bytes;
    switch (a.d) {
    case 64: return a.N_kv > 128 ? f(Sizes<64, 128, 2, 4>{}) : f(Sizes<64, 64, 2, 4>{}), true;
    case 96: return f(Sizes<96, 64, 2, 4>{}), true;
    case 128: return large ? f(Sizes<128, 64, 2, 4>{}) : f(Sizes<128, 32, 2, 4>{}), true;
    case 256: return large ? f(Sizes<256, 64, 1, 8>{}) : f(Sizes<256, 64, 1, 4>{}), true;
    default: return false;
    }
}

template <class T, class Size, bool traced> KERNEL void THREADS(32 * Size::warps) flash2(const Arguments a) {
    if constexpr (!copies_in_background) return;  // refused on the host
    constexpr int d = Size::d, warps = Size::warps, bands = Size::bands, Br = Size::Br, Bc = Size::Bc;
    constexpr int at_once = architecture >= 90 && d == 128 ? 1 : 4;  // steps of Q Kᵀ; more would spill
    const int i = block_x(), head = block_y(), batch = block_z();
    int kv_head = head / (a.heads / a.kv_heads);
    const Mask mask(a);
    const int i0 = i * Br, i1 = (i0 + Br < a.N_q ? i0 + Br : a.N_q) - 1;
    const int first = mask.first_block(i0, Bc), last = mask.last_block(i1, Bc);
    const int row0 = warp() * 16 * bands;  // of this warp, within the tile

    unsigned char* const shared = shared_memory<unsigned char>();
    const Swizzled<T, d> Qi{shared}, Kj{shared + Br * d * 2}, Vj{shared + (Br + Bc) * d * 2};
    if (first <= last) {
        copy_rows<32 * warps, Br>(Qi, head_of<const T>(a.Q, batch, head), a.Q.row, i0, a.N_q);
        copy_rows<32 * warps, Bc>(Kj, head_of<const T>(a.K, batch, kv_head), a.K.row, first * Bc, a.N_kv);
        commit_copies();
    }

    Band<T, d, Bc> rows[bands];
    const float c = a.scale * log2_e;
    for (int j = first; j <= last; ++j) {
        [[maybe_unused]] Recorder record(a.trace, batch * a.heads + head, i, j);
        kv_head = forgotten(kv_head);  // where K and V lie is computed for each tile: kept, it would spill

        // K_j is here, and all warps are done with V_{j−1}: V_j may come
        wait_copies<0>();
        sync_block();
        copy_rows<32 * warps, Bc>(Vj, head_of<const T>(a.V, batch, kv_head), a.V.row, j * Bc, a.N_kv);
        commit_copies();
        float S[bands][Bc / 8][4];
        multiply_QK<at_once, T, d, bands, Bc>(S, Qi, Kj, row0);

        // V_j is here, and all warps are done with K_j: K_{j+1} may come
        wait_copies<0>();
        sync_block();
        if (j < last)
            copy_rows<32 * warps, Bc>(Kj, head_of<const T>(a.K, batch, kv_head), a.K.row, (j + 1) * Bc,
                                      a.N_kv);
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
    with_sizes(a, chip, [&](auto size) { shared = size.shared_bytes; });
    return first_of({refuse_f32(type), refuse_old_bf16(type, chip), refuse_before_ampere(chip),
                     refuse_d<64, 96, 128, 256>(a.d), refuse_traced_d<64, 128>(a),
                     refuse_shared(shared, chip), refuse_unaligned(a, type)});
}

Tile tile(const Arguments& a, DType, const Chip& chip) {
    Tile t;
    with_sizes(a, chip, [&](auto size) { t = {size.Br, size.Bc}; });
    return t;
}

template <class T, class Size> void run_in(const Arguments& a, Stream& stream) {
    const Grid grid{blocks_of(a.N_q, Size::Br), a.heads, a.batch, 32 * Size::warps, Size::shared_bytes};
    if (a.trace.tiles_i == 0) launch(stream, grid, flash2<T, Size, false>, a);
    if constexpr (Size::d == 64 || Size::d == 128)
        if (a.trace.tiles_i > 0) launch(stream, grid, flash2<T, Size, true>, a);
}

void run(const Arguments& a, DType type, Stream& stream) {
    with_half(type, [&](auto of) {
        using T = typename decltype(of)::Type;
        with_sizes(a, stream.chip, [&](auto size) { run_in<T, decltype(size)>(a, stream); });
    });
}

}  // namespace

const Rung& f5_flash2() {
    static const Rung rung{"f5-flash2",
                           "FlashAttention-2",
                           "Two bands of rows for each warp, swizzled shared memory, masks at edges only",
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

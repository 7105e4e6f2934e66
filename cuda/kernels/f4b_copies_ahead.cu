// f4b-copies-ahead: f4, and what the next products need is on its way while these are computed.
//
// What changed since f4: K and V do not pass through registers. cp.async copies them in the background while
// the tensor cores work: V_j while S = Q K_jᵀ is computed, K_{j+1} while the softmax and P̃ V_j are. So a tile
// is waited for only if it takes longer than the products before it. Nothing else is new: four warps of 16
// query rows, 64 keys, rows of shared memory 16 bytes longer than d. What should limit it: shared memory.
// Each fragment of K and V is read by every warp and serves one product. Where it should fall short: before
// compute capability 8.0 there is no such copy, and it is refused.
#include "cuda/kernels/bands.h"
#include "cuda/kernels/ladder.h"

namespace tilewalk::gpu::BACKEND {

namespace {

constexpr int warps = 4, Br = 16 * warps, Bc = 64;
template <int d> constexpr std::int64_t shared_bytes = std::int64_t(Br + 2 * Bc) * (2 * d + 16);

template <class T, int d, bool traced> KERNEL void THREADS(32 * warps) copies_ahead(const Arguments a) {
    if constexpr (!copies_in_background) return;  // refused on the host
    const int i = block_x(), head = block_y(), batch = block_z();
    const int kv_head = head / (a.heads / a.kv_heads);
    const T* const K = head_of<const T>(a.K, batch, kv_head);
    const T* const V = head_of<const T>(a.V, batch, kv_head);
    const Mask mask(a);
    const int i0 = i * Br, i1 = (i0 + Br < a.N_q ? i0 + Br : a.N_q) - 1;
    const int first = mask.first_block(i0, Bc), last = mask.last_block(i1, Bc);
    const int row0 = warp() * 16;  // of this warp, within the tile

    unsigned char* const shared = shared_memory<unsigned char>();
    constexpr int row_bytes = Padded<T, d>::row_bytes;
    const Padded<T, d> Qi{shared}, Kj{shared + Br * row_bytes}, Vj{shared + (Br + Bc) * row_bytes};
    if (first <= last) {
        copy_rows<32 * warps, Br>(Qi, head_of<const T>(a.Q, batch, head), a.Q.row, i0, a.N_q);
        copy_rows<32 * warps, Bc>(Kj, K, a.K.row, first * Bc, a.N_kv);
        commit_copies();
    }

    Band<T, d, Bc> rows[1];
    const float c = a.scale * log2_e;
    for (int j = first; j <= last; ++j) {
        [[maybe_unused]] Recorder record(a.trace, batch * a.heads + head, i, j);

        // K_j is here, and all warps are done with V_{j−1}: V_j may come
        wait_copies<0>();
        sync_block();
        copy_rows<32 * warps, Bc>(Vj, V, a.V.row, j * Bc, a.N_kv);
        commit_copies();
        float S[1][Bc / 8][4];
        multiply_QK<2, T, d, 1, Bc>(S, Qi, Kj, row0);

        // V_j is here, and all warps are done with K_j: K_{j+1} may come
        wait_copies<0>();
        sync_block();
        if (j < last) copy_rows<32 * warps, Bc>(Kj, K, a.K.row, (j + 1) * Bc, a.N_kv);
        commit_copies();

        rows[0].cut(S[0], mask, i0 + row0, j * Bc);
        rows[0].template soften<traced>(S[0], c, record, row0);
        multiply_PV<T, d, 1, Bc>(rows, S, Vj);
        RECORD(record_O<d>(record, rows[0].O, row0))
    }
    rows[0].write(a, batch, head, i0 + row0);
}

std::string refuse(const Arguments& a, DType type, const Chip& chip) {
    std::int64_t shared = 0;
    with_d<64, 128>(a.d, [&](auto d) { shared = shared_bytes<d>; });
    return first_of({refuse_f32(type), refuse_old_bf16(type, chip), refuse_before_ampere(chip),
                     refuse_d<64, 128>(a.d), refuse_shared(shared, chip), refuse_unaligned(a, type)});
}

Tile tile(const Arguments&, DType, const Chip&) { return {Br, Bc}; }

void run(const Arguments& a, DType type, Stream& stream) {
    with_half(type, [&](auto of) {
        using T = typename decltype(of)::Type;
        with_d<64, 128>(a.d, [&](auto d) {
            const Grid grid{blocks_of(a.N_q, Br), a.heads, a.batch, 32 * warps, shared_bytes<d>};
            if (a.trace.tiles_i == 0)
                launch(stream, grid, copies_ahead<T, d, false>, a);
            else
                launch(stream, grid, copies_ahead<T, d, true>, a);
        });
    });
}

}  // namespace

const Rung& f4b_copies_ahead() {
    static const Rung rung{"f4b-copies-ahead",
                           "Copies in the background",
                           "cp.async: V comes while S is computed, the next K while P̃ V is",
                           "cuda/kernels/f4b_copies_ahead.cu",
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

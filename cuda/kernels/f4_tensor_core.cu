// f4-tensor-core: both products on tensor cores, f16 or bf16 in, f32 sums.
//
// What changed since f3: a warp multiplies 16 × 16 with 16 × 8 at once (mma.m16n8k16), with operands spread
// over its lanes in fragments, which ldmatrix fetches from shared memory. The fragments of S, once they are
// exponentials, are the fragments of P̃ that the product with V takes: P̃ never leaves the registers. Each of
// the four warps has 16 query rows, a tile 64 keys. A row in shared memory is 16 bytes longer than d, so that
// the eight rows of an ldmatrix lie in different banks. What should limit it: all wait while K_j and V_j come
// from HBM, then all multiply. Where it should fall short: the faster the products, the more of the time is
// left to the exponentials and to waiting.
#include "cuda/kernels/bands.h"
#include "cuda/kernels/ladder.h"
#include "cuda/kernels/room.h"

namespace tilewalk::gpu::BACKEND {

namespace {

constexpr int warps = 4, Br = 16 * warps, Bc = 64;

template <int d> constexpr std::int64_t shared_bytes = std::int64_t(Br + 2 * Bc) * (2 * d + 16);

/// Copies rows first … first + rows − 1 of a matrix of N rows through registers; zeros beyond it.
template <class T, int d>
DEVICE void load_rows(Padded<T, d> to, const T* matrix, std::int64_t row_stride, int first, int rows, int N) {
    for (int n = thread(); n < rows * d / 8; n += 32 * warps) {
        const int row = n / (d / 8), c = n % (d / 8);
        const T* const from = matrix + (first + row) * row_stride + c * 8;
        const bool inside = first + row < N;
        store4(reinterpret_cast<float*>(to.chunk(row, c)),
               inside ? load4(reinterpret_cast<const float*>(from)) : Float4{0, 0, 0, 0});
    }
}

template <class T, int d, bool traced> KERNEL void THREADS(32 * warps) tensor_core(const Arguments a) {
    if constexpr (!has_room<shared_bytes<d>>) return;  // refused on the host
    const int i = block_x(), head = block_y(), batch = block_z();
    const int kv_head = head / (a.heads / a.kv_heads);
    const T* const K = head_of<const T>(a.K, batch, kv_head);
    const T* const V = head_of<const T>(a.V, batch, kv_head);
    const Mask mask(a);
    const int i0 = i * Br, i1 = (i0 + Br < a.N_q ? i0 + Br : a.N_q) - 1;
    const int row0 = warp() * 16;  // of this warp, within the tile

    unsigned char* const shared = shared_memory<unsigned char>();
    constexpr int row_bytes = Padded<T, d>::row_bytes;
    const Padded<T, d> Qi{shared}, Kj{shared + Br * row_bytes}, Vj{shared + (Br + Bc) * row_bytes};
    load_rows(Qi, head_of<const T>(a.Q, batch, head), a.Q.row, i0, Br, a.N_q);

    Band<T, d, Bc> rows[1];
    const float c = a.scale * log2_e;
    const int last = mask.last_block(i1, Bc);
    for (int j = mask.first_block(i0, Bc); j <= last; ++j) {
        [[maybe_unused]] Recorder record(a.trace, batch * a.heads + head, i, j);

        // All warps are done with the tile before; then it is overwritten
        sync_block();
        load_rows(Kj, K, a.K.row, j * Bc, Bc, a.N_kv);
        load_rows(Vj, V, a.V.row, j * Bc, Bc, a.N_kv);
        sync_block();

        float S[1][Bc / 8][4];
        multiply_QK<2, T, d, 1, Bc>(S, Qi, Kj, row0);
        rows[0].cut(S[0], mask, i0 + row0, j * Bc);
        rows[0].template soften<traced>(S[0], c, record, row0);
        multiply_PV<T, d, 1, Bc>(rows, S, Vj);
        RECORD(record_O<d>(record, rows[0].O, row0))
    }
    rows[0].write(a, batch, head, i0 + row0);
}

std::string refuse(const Arguments& a, DType type, const Chip& chip) {
    std::int64_t shared = 0;
    with_d<32, 64, 96, 128, 256>(a.d, [&](auto d) { shared = shared_bytes<d>; });
    return first_of({refuse_f32(type), refuse_old_bf16(type, chip), refuse_d<32, 64, 96, 128, 256>(a.d),
                     refuse_traced_d<32, 64, 128>(a), refuse_shared(shared, chip),
                     refuse_unaligned(a, type)});
}

Tile tile(const Arguments&, DType, const Chip&) { return {Br, Bc}; }

void run(const Arguments& a, DType type, Stream& stream) {
    with_half(type, [&](auto of) {
        using T = typename decltype(of)::Type;
        with_d<32, 64, 96, 128, 256>(a.d, [&](auto d) {
            const Grid grid{blocks_of(a.N_q, Br), a.heads, a.batch, 32 * warps, shared_bytes<d>};
            if (a.trace.tiles_i == 0) launch(stream, grid, tensor_core<T, d, false>, a);
            if constexpr (d <= 64 || d == 128)
                if (a.trace.tiles_i > 0) launch(stream, grid, tensor_core<T, d, true>, a);
        });
    });
}

}  // namespace

const Rung& f4_tensor_core() {
    static const Rung rung{"f4-tensor-core",
                           "Tensor cores",
                           "mma.m16n8k16, fragments, ldmatrix; P̃ stays in registers between the products",
                           "cuda/kernels/f4_tensor_core.cu",
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

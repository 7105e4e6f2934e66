// b1-recompute-fp32: the backward pass from L alone (FlashAttention, algorithm 4).
//
// What changed since b0: P is not kept. Q, K and L give it back, tile by tile: P = exp(S − L). A block of
// threads owns a block of keys with its dK and dV in registers, and the queries pass by. What should limit
// it: float multiply-adds instead of tensor cores, and a read of shared memory for each of them. Where it
// should fall short: more arithmetic than b0 (five products instead of four) without its library; it wins
// only where N × N matrices do not fit.
#include "cuda/kernels/backward_parts.h"
#include "cuda/kernels/ladder.h"
#include "cuda/kernels/mask.h"

namespace tilewalk::gpu::BACKEND {

namespace {

constexpr int block_threads = 128, Bc = 32;

/// Queries that pass by at once: so many that 64 KiB of shared memory are enough.
template <int dim> struct Sizes {
    static constexpr int Br = dim <= 64 ? 32 : 16;
    static constexpr int row = dim + 4;  ///< floats from row to row: eight rows lie in different banks
    static constexpr int tile_row = Bc + 1;
    static constexpr std::int64_t shared_bytes =
        4 * std::int64_t((2 * Bc + 2 * Br) * row + 2 * Br * tile_row);
};

/// Rows first … of a matrix of N rows into shared memory, zeros beyond it.
template <int d, int row>
DEVICE void load_rows(float* to, const float* matrix, std::int64_t stride, int first, int rows, int N) {
    for (int n = thread(); n < rows * (d / 4); n += threads()) {
        const int r = n / (d / 4), c = n % (d / 4) * 4;
        const bool inside = first + r < N;
        store4(to + r * row + c, inside ? load4(matrix + (first + r) * stride + c) : Float4{0, 0, 0, 0});
    }
}

template <int d> DEVICE float dot(const float* x, const float* y) {
    float sum = 0;
    UNROLL
    for (int c = 0; c < d; c += 4) {
        const Float4 a = load4(x + c), b = load4(y + c);
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    return sum;
}

DEVICE void add_scaled(Float4& sum, float factor, const Float4& x) {
    sum.x += factor * x.x;
    sum.y += factor * x.y;
    sum.z += factor * x.z;
    sum.w += factor * x.w;
}

template <int d> KERNEL void THREADS(block_threads) recompute(const Arguments a) {
    using Size = Sizes<d>;
    constexpr int Br = Size::Br, row = Size::row;
    const int j0 = block_x() * Bc, kv_head = block_y(), batch = block_z();
    const int j1 = (j0 + Bc < a.N_kv ? j0 + Bc : a.N_kv) - 1, group = a.heads / a.kv_heads;
    const Mask mask(a);
    const BackwardSums sums(a);

    float* const Kj = shared_memory<float>();
    float *const Vj = Kj + Bc * row, *const Qi = Vj + Bc * row, *const dOi = Qi + Br * row;
    float *const P = dOi + Br * row, *const dS = P + Br * Size::tile_row;
    load_rows<d, row>(Kj, head_of<const float>(a.K, batch, kv_head), a.K.row, j0, Bc, a.N_kv);
    load_rows<d, row>(Vj, head_of<const float>(a.V, batch, kv_head), a.V.row, j0, Bc, a.N_kv);

    // Four threads have one key: each a quarter of the columns of dK and dV
    const int key = thread() / 4, column = thread() % 4 * 4;
    Float4 dK[d / 16] = {}, dV[d / 16] = {};
    const int first = mask.first_query(j0) / Br, last_query = mask.last_query(j1, a.N_q);
    for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
        const std::int64_t of_head = std::int64_t(batch) * a.heads + head, head_row = of_head * a.N_q;
        float* const dQ = sums.dQ + of_head * sums.dQ_of_head;
        for (int i0 = first * Br; i0 <= last_query; i0 += Br) {
            sync_block();
            load_rows<d, row>(Qi, head_of<const float>(a.Q, batch, head), a.Q.row, i0, Br, a.N_q);
            load_rows<d, row>(dOi, head_of<const float>(a.dO, batch, head), a.dO.row, i0, Br, a.N_q);
            sync_block();

            // P = exp(scale · Q_i K_jᵀ − L),  dS = P ⊙ (dO_i V_jᵀ − D)                       (Br × Bc)
            for (int n = thread(); n < Br * Bc; n += block_threads) {
                const int r = n / Bc, c = n % Bc, i = i0 + r;
                const bool seen = i < a.N_q && mask.sees(i, j0 + c);
                float p = 0, ds = 0;
                if (seen) {
                    p = exp_of(a.scale * dot<d>(Qi + r * row, Kj + c * row) - a.L[head_row + i]);
                    ds = p * (dot<d>(dOi + r * row, Vj + c * row) - sums.D[head_row + i]);
                }
                P[r * Size::tile_row + c] = p;
                dS[r * Size::tile_row + c] = ds;
            }
            sync_block();

            // dV ← dV + Pᵀ dO_i,  dK ← dK + dSᵀ Q_i                                           (Bc × d)
            for (int r = 0; r < Br; ++r) {
                const float p = P[r * Size::tile_row + key], ds = dS[r * Size::tile_row + key];
                UNROLL
                for (int n = 0; n < d / 16; ++n) {
                    add_scaled(dV[n], p, load4(dOi + r * row + column + 16 * n));
                    add_scaled(dK[n], ds, load4(Qi + r * row + column + 16 * n));
                }
            }

            // dQ_i ← dQ_i + dS K_j, added to HBM                                               (Br × d)
            for (int n = thread(); n < Br * d; n += block_threads) {
                const int r = n / d, c = n % d;
                if (i0 + r >= a.N_q) break;
                float sum = 0;
                for (int k = 0; k < Bc; ++k) sum += dS[r * Size::tile_row + k] * Kj[k * row + c];
                atomic_add(dQ + place_of_sum<SumOrder::rows>(i0 + r, c, d), sum);
            }
        }
    }

    if (j0 + key >= a.N_kv) return;
    float* const to_dK = head_of<float>(a.dK, batch, kv_head) + (j0 + key) * a.dK.row;
    float* const to_dV = head_of<float>(a.dV, batch, kv_head) + (j0 + key) * a.dV.row;
    UNROLL
    for (int n = 0; n < d / 16; ++n) {
        const Float4 x = dK[n];
        store4(to_dK + column + 16 * n, {x.x * a.scale, x.y * a.scale, x.z * a.scale, x.w * a.scale});
        store4(to_dV + column + 16 * n, dV[n]);
    }
}

std::string refuse(const Arguments& a, DType type, const Chip&) {
    return first_of({refuse_all_but_f32(type), refuse_d<32, 64, 96, 128>(a.d), refuse_unaligned(a, type)});
}

std::int64_t workspace(const Arguments& a, DType) { return BackwardSums::bytes(a, true); }

Tile tile(const Arguments& a, DType, const Chip&) { return {a.d <= 64 ? 32 : 16, Bc}; }

void run(const Arguments& a, DType, Stream& stream) {
    launch(stream, rows_grid(a), row_dots<float, true>, a);
    with_d<32, 64, 96, 128>(a.d, [&](auto d) {
        const Grid grid{blocks_of(a.N_kv, Bc), a.kv_heads, a.batch, block_threads, Sizes<d>::shared_bytes};
        launch(stream, grid, recompute<d>, a);
    });
    launch(stream, rows_grid(a), finish_dQ<float, SumOrder::rows>, a);
}

}  // namespace

const Rung& b1_recompute_fp32() {
    static const Rung rung{"b1-recompute-fp32",
                           "Backward by recomputation",
                           "P comes back from L, tile by tile; dQ summed in HBM with atomic additions",
                           "cuda/kernels/b1_recompute_fp32.cu",
                           Direction::backward,
                           false,
                           false,
                           refuse,
                           workspace,
                           tile,
                           run};
    return rung;
}

}  // namespace tilewalk::gpu::BACKEND

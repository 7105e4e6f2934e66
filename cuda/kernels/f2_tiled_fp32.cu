// f2-tiled-fp32: tiles in shared memory, in FlashAttention-2's order: a block keeps its queries, keys and
// values pass by.
//
// What changed since f1: a block of 128 threads computes a tile of 64 × 64 scores, so that a row of K that is
// fetched once serves 64 queries. Each thread has 8 × 4 of the scores and 8 × d / 16 of O in registers: what
// it reads from shared memory it uses several times. S and then P̃ go through shared memory, because the
// threads that take the maximum of a row are others than those that computed it. Rows in shared memory are
// one element longer than d, so that a column meets every bank. What should limit it: twelve reads of shared
// memory for 32 multiplications. Where it should fall short: S and P̃ need four barriers for each tile, and
// between them the multipliers stand still.
#include "cuda/kernels/ladder.h"
#include "cuda/kernels/mask.h"
#include "cuda/kernels/recorder.h"
#include "cuda/kernels/rung_parts.h"

namespace tilewalk::gpu::BACKEND {

namespace {

constexpr int block_size = 128, across = 16;  ///< threads; of them side by side along the keys

/// A tile of B queries and B keys. K_j and V_j take turns in one buffer.
template <int d, int B> struct Sizes {
    static constexpr int rows = B / (block_size / across), keys = B / across, columns = d / across;
    static constexpr int owners = block_size / B;  ///< threads that share a row in the softmax
    static constexpr int stride = d + 1, S_stride = B + owners;
    static constexpr std::int64_t shared_bytes = 4 * (2 * B * stride + B * S_stride + B);
};

/// Copies B rows of a matrix of N rows, from `first` on; zeros beyond it.
template <int d, int B>
DEVICE void load_rows(float* to, const float* matrix, std::int64_t row_stride, int first, int N) {
    for (int n = thread(); n < B * d; n += block_size) {
        const int row = n / d, c = n % d;
        to[row * (d + 1) + c] = first + row < N ? matrix[(first + row) * row_stride + c] : 0;
    }
}

/// S = Q_i K_jᵀ, −∞ where masked: this thread's rows (one below the other) and keys (16 apart).     (B × B)
template <int d, int B, bool traced>
DEVICE void multiply_QK(float* S, const float* Qi, const float* Kj, const Mask& mask, int i0, int j0,
                        [[maybe_unused]] Recorder& record) {
    using Z = Sizes<d, B>;
    const int row0 = thread() / across * Z::rows, key0 = thread() % across;
    float sum[Z::rows][Z::keys] = {};
    UNROLL_BY(4)
    for (int c = 0; c < d; ++c) {
        float k[Z::keys];
        UNROLL
        for (int n = 0; n < Z::keys; ++n) k[n] = Kj[(key0 + across * n) * Z::stride + c];
        UNROLL
        for (int r = 0; r < Z::rows; ++r) {
            const float q = Qi[(row0 + r) * Z::stride + c];
            UNROLL
            for (int n = 0; n < Z::keys; ++n) sum[r][n] += q * k[n];
        }
    }
    UNROLL
    for (int r = 0; r < Z::rows; ++r) UNROLL
    for (int n = 0; n < Z::keys; ++n) {
        const int row = row0 + r, key = key0 + across * n;
        float s = mask.sees(i0 + row, j0 + key) ? sum[r][n] : -INFINITY;
        RECORD(record.S(row, key, s))
        S[row * Z::S_stride + key] = s;
    }
}

/// m and ℓ of a row, as each of the threads that share it has them.
struct Row {
    float m = -INFINITY, l = 0;

    /// m ← max(m, rowmax(S)),  P̃ = exp(scale · (S − m)),  ℓ ← α ℓ + rowsum(P̃). Returns α.
    template <int d, int B, bool traced>
    DEVICE float soften(float* S, float scale, [[maybe_unused]] Recorder& record) {
        using Z = Sizes<d, B>;
        const int row = thread() / Z::owners, first = thread() % Z::owners;
        float* const s = S + row * Z::S_stride;
        float m_new = m;
        for (int key = first; key < B; key += Z::owners) m_new = fmaxf(m_new, s[key]);
        UNROLL
        for (int mask = 1; mask < Z::owners; mask *= 2) m_new = fmaxf(m_new, shuffle_xor(m_new, mask));
        RECORD(record.m(row, m_new, first == 0))
        // A row that has seen no key yet has m = −∞; 0 stands in for it
        const float base = m_new == -INFINITY ? 0 : m_new;
        float alpha = exp_of(scale * (m - base));
        RECORD(record.alpha(row, alpha, first == 0))

        float sum = 0;
        for (int key = first; key < B; key += Z::owners) {
            float p = exp_of(scale * (s[key] - base));
            sum += p;
            RECORD(record.P(row, key, p))
            s[key] = p;
        }
        UNROLL
        for (int mask = 1; mask < Z::owners; mask *= 2) sum += shuffle_xor(sum, mask);
        m = m_new;
        l = alpha * l + sum;
        RECORD(record.disturb_l(row, l); record.l(row, l, first == 0))
        return alpha;
    }
};

template <int d, int B, bool traced> KERNEL void THREADS(block_size) tiled(const Arguments a) {
    using Z = Sizes<d, B>;
    const int i = block_x(), head = block_y(), batch = block_z();
    const int kv_head = head / (a.heads / a.kv_heads);
    const float* const K = head_of<const float>(a.K, batch, kv_head);
    const float* const V = head_of<const float>(a.V, batch, kv_head);
    const Mask mask(a);
    const int i0 = i * B, i1 = (i0 + B < a.N_q ? i0 + B : a.N_q) - 1;
    const int row0 = thread() / across * Z::rows, column0 = thread() % across;

    float* const Qi = shared_memory<float>();
    float *const KV = Qi + B * Z::stride, *const S = KV + B * Z::stride, *const factor = S + B * Z::S_stride;
    load_rows<d, B>(Qi, head_of<const float>(a.Q, batch, head), a.Q.row, i0, a.N_q);

    Row own;  // this thread takes part in the softmax of row thread() / owners
    const int own_row = thread() / Z::owners;
    const bool owner = thread() % Z::owners == 0;  // of those, the one that writes down what all have
    float O[Z::rows][Z::columns] = {};
    const int last = mask.last_block(i1, B);
    for (int j = mask.first_block(i0, B); j <= last; ++j) {
        [[maybe_unused]] Recorder record(a.trace, batch * a.heads + head, i, j);

        sync_block();  // all are done with V_{j−1} and P̃
        load_rows<d, B>(KV, K, a.K.row, j * B, a.N_kv);
        sync_block();  // K_j is there
        multiply_QK<d, B, traced>(S, Qi, KV, mask, i0, j * B, record);
        sync_block();  // S is there, and all are done with K_j
        load_rows<d, B>(KV, V, a.V.row, j * B, a.N_kv);
        const float alpha = own.template soften<d, B, traced>(S, a.scale, record);
        if (owner) factor[own_row] = alpha;
        sync_block();  // V_j, P̃ and α are there

        // O ← α ⊙ O + P̃ V_j                                                                       (B × d)
        UNROLL
        for (int r = 0; r < Z::rows; ++r) UNROLL
        for (int c = 0; c < Z::columns; ++c) O[r][c] *= factor[row0 + r];
        UNROLL_BY(4)
        for (int key = 0; key < B; ++key) {
            float v[Z::columns];
            UNROLL
            for (int c = 0; c < Z::columns; ++c) v[c] = KV[key * Z::stride + column0 + across * c];
            UNROLL
            for (int r = 0; r < Z::rows; ++r) {
                const float p = S[(row0 + r) * Z::S_stride + key];
                UNROLL
                for (int c = 0; c < Z::columns; ++c) O[r][c] += p * v[c];
            }
        }
        RECORD(for (int r = 0; r < Z::rows; ++r) for (int c = 0; c < Z::columns; ++c)
                   record.O(row0 + r, column0 + across * c, O[r][c]))
    }

    // O ← O ⊘ ℓ,  L = m · scale + ln ℓ. A row that saw no key has ℓ = 0: O = 0, L = −∞.
    sync_block();  // all are done with α: 1 / ℓ comes in its place
    if (owner) factor[own_row] = own.l == 0 ? 0 : 1 / own.l;
    if (owner && i0 + own_row < a.N_q)
        a.L[(std::int64_t(batch) * a.heads + head) * a.N_q + i0 + own_row] =
            own.l == 0 ? -INFINITY : own.m * a.scale + log_of(own.l);
    sync_block();  // 1 / ℓ of all rows is there
    float* const out = head_of<float>(a.O, batch, head);
    UNROLL
    for (int r = 0; r < Z::rows; ++r) UNROLL
    for (int c = 0; c < Z::columns; ++c) {
        const int row = i0 + row0 + r;
        if (row < a.N_q) out[row * a.O.row + column0 + across * c] = O[r][c] * factor[row0 + r];
    }
}

constexpr std::int64_t least_shared = 64 << 10;  ///< every device gives a block as much

/// Calls f(Size<d>, Size<B>) with the larger tile if the device has room for it, or else with the
/// smaller one, which takes d = 128 to every device.
template <class F> void with_tile(const Arguments& a, const Chip& chip, F&& f) {
    with_d<32, 64, 96, 128>(a.d, [&](auto d) {
        if constexpr (Sizes<d, 64>::shared_bytes > least_shared) {
            static_assert(Sizes<d, 32>::shared_bytes <= least_shared);
            if (Sizes<d, 64>::shared_bytes > chip.shared_per_block) return f(d, Size<32>{});
        }
        f(d, Size<64>{});
    });
}

std::string refuse(const Arguments& a, DType type, const Chip&) {
    return first_of(
        {refuse_all_but_f32(type), refuse_d<32, 64, 96, 128>(a.d), refuse_traced_d<32, 64, 128>(a)});
}

Tile tile(const Arguments& a, DType, const Chip& chip) {
    Tile t;
    with_tile(a, chip, [&](auto, auto B) { t = {B, B}; });
    return t;
}

void run(const Arguments& a, DType, Stream& stream) {
    with_tile(a, stream.chip, [&](auto d, auto B) {
        const Grid grid{blocks_of(a.N_q, B), a.heads, a.batch, block_size, Sizes<d, B>::shared_bytes};
        if (a.trace.tiles_i == 0) launch(stream, grid, tiled<d, B, false>, a);
        if constexpr (d != 96)
            if (a.trace.tiles_i > 0) launch(stream, grid, tiled<d, B, true>, a);
    });
}

}  // namespace

const Rung& f2_tiled_fp32() {
    static const Rung rung{"f2-tiled-fp32",
                           "Tiles in shared memory",
                           "FlashAttention-2's loops: a block keeps its queries, keys and values pass by; "
                           "blocking for registers",
                           "cuda/kernels/f2_tiled_fp32.cu",
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

// f3-warp-rows: a warp has query rows of its own; S stays in registers.
//
// What changed since f2: a warp computes 32 rows of S from end to end. Four lanes, a quad, share four of the
// rows: each has every fourth key, so two shuffles give the maximum of a row and the quad's P̃ goes from lane
// to lane, not through shared memory. Shared memory is read sixteen bytes at a time, and exp(x) is 2^(x ·
// log₂ e), one instruction. What should limit it: the f32 multipliers, at last, and the loads that all wait
// for. Where it should fall short: with O for 4 rows × d / 4 columns a lane needs some 200 registers, so that
// few warps fit on a multiprocessor, and nobody works while K_j and V_j come.
#include "cuda/kernels/fragments.h"
#include "cuda/kernels/ladder.h"
#include "cuda/kernels/mask.h"
#include "cuda/kernels/recorder.h"
#include "cuda/kernels/rung_parts.h"

namespace tilewalk::gpu::BACKEND {

namespace {

constexpr int warp_rows = 32,
              lane_rows = 4;  ///< lane l has the rows l / 4, l / 4 + 8, + 16, + 24 of its warp

/// A tile of 32 · warps queries and Bc keys. Rows are four elements longer than d: eight of them, read
/// sixteen bytes each, then lie in different banks.
template <int d, int warps, int keys> struct Sizes {
    static constexpr int Br = warp_rows * warps, Bc = keys, stride = d + 4;
    static constexpr std::int64_t shared_bytes = 4 * (Br + 2 * Bc) * stride;
};

DEVICE int row_of_lane(int r) { return warp() * warp_rows + lane() / 4 + 8 * r; }

/// Copies `rows` rows of a matrix of N rows, from `first` on; zeros beyond it.
template <int d, int rows, int block_size>
DEVICE void load_rows(float* to, const float* matrix, std::int64_t row_stride, int first, int N) {
    for (int n = thread(); n < rows * d / 4; n += block_size) {
        const int row = n / (d / 4), c = n % (d / 4) * 4;
        const bool inside = first + row < N;
        store4(to + row * (d + 4) + c,
               inside ? load4(matrix + (first + row) * row_stride + c) : Float4{0, 0, 0, 0});
    }
}

/// Four rows, as one lane of a quad has them: of S the keys q, q + 4, …, of O the columns 4q … 4q + 3 and
/// every 16 columns on, q = lane() % 4.
template <int d, int Bc> struct Rows {
    static constexpr int stride = d + 4, keys = Bc / 4, columns = d / 16;
    float m[lane_rows], l[lane_rows], O[lane_rows][columns][4];

    /// m ← −∞,  ℓ ← 0,  O ← 0
    DEVICE Rows() {
        UNROLL
        for (int r = 0; r < lane_rows; ++r) {
            m[r] = -INFINITY;
            l[r] = 0;
            UNROLL
            for (int c = 0; c < columns; ++c) UNROLL
            for (int e = 0; e < 4; ++e) O[r][c][e] = 0;
        }
    }

    /// S = Q_i K_jᵀ                                                                             (4 × Bc / 4)
    DEVICE static void multiply_QK(float (&S)[lane_rows][keys], const float* Qi, const float* Kj) {
        UNROLL
        for (int r = 0; r < lane_rows; ++r) UNROLL
        for (int n = 0; n < keys; ++n) S[r][n] = 0;
        UNROLL_BY(2)
        for (int c = 0; c < d; c += 4) {
            Float4 q[lane_rows];
            UNROLL
            for (int r = 0; r < lane_rows; ++r) q[r] = load4(Qi + row_of_lane(r) * stride + c);
            UNROLL
            for (int n = 0; n < keys; ++n) {
                const Float4 k = load4(Kj + (4 * n + lane() % 4) * stride + c);
                UNROLL
                for (int r = 0; r < lane_rows; ++r)
                    S[r][n] += q[r].x * k.x + q[r].y * k.y + q[r].z * k.z + q[r].w * k.w;
            }
        }
    }

    /// −∞ where query i0 + row must not look at key j0 + column.
    DEVICE static void cut(float (&S)[lane_rows][keys], const Mask& mask, int i0, int j0) {
        UNROLL
        for (int r = 0; r < lane_rows; ++r) {
            const int first = mask.first(i0 + row_of_lane(r)), last = mask.last(i0 + row_of_lane(r));
            UNROLL
            for (int n = 0; n < keys; ++n) {
                const int key = j0 + 4 * n + lane() % 4;
                if (key < first || key > last) S[r][n] = -INFINITY;
            }
        }
    }

    /// m, ℓ and O take in a tile of scores, which become P̃ = exp(scale · (S − m)) = 2^(c · (S − m)).
    template <bool traced>
    DEVICE void soften(float (&S)[lane_rows][keys], float c, [[maybe_unused]] Recorder& record) {
        UNROLL
        for (int r = 0; r < lane_rows; ++r) {
            [[maybe_unused]] const int row = row_of_lane(r), q = lane() % 4;
            RECORD(for (int n = 0; n < keys; ++n) record.S(row, 4 * n + q, S[r][n]))

            // m ← max(m, rowmax(S)). A row that has seen no key yet has m = −∞; 0 stands in for it below.
            float m_new = m[r];
            UNROLL
            for (int n = 0; n < keys; ++n) m_new = fmaxf(m_new, S[r][n]);
            m_new = max_of_quad(m_new);
            RECORD(record.m(row, m_new, q == 0))
            const float base = m_new == -INFINITY ? 0 : m_new;

            // α = exp(m_old − m),  ℓ ← α ℓ,  O ← α O
            float alpha = exp2_of(c * (m[r] - base));
            RECORD(record.alpha(row, alpha, q == 0))
            m[r] = m_new;
            l[r] *= alpha;
            UNROLL
            for (int k = 0; k < columns; ++k) UNROLL
            for (int e = 0; e < 4; ++e) O[r][k][e] *= alpha;

            // P̃ = exp(S − m),  ℓ ← ℓ + rowsum(P̃): this lane's keys, the quad is summed at the end
            UNROLL
            for (int n = 0; n < keys; ++n) {
                S[r][n] = exp2_of(c * (S[r][n] - base));
                l[r] += S[r][n];
            }
            RECORD(record.disturb_l(row, l[r]); record.l(row, sum_of_quad(l[r]), q == 0))
            RECORD(for (int n = 0; n < keys; ++n) record.P(row, 4 * n + q, S[r][n]))
        }
    }

    /// O ← O + P̃ V_j: P̃ of a key comes from the lane of the quad that has it.                   (4 × d / 4)
    DEVICE void multiply_PV(const float (&P)[lane_rows][keys], const float* Vj) {
        UNROLL
        for (int n = 0; n < keys; ++n) NO_UNROLL
        for (int owner = 0; owner < 4; ++owner) {
            float p[lane_rows];
            UNROLL
            for (int r = 0; r < lane_rows; ++r) p[r] = shuffle(P[r][n], lane() / 4 * 4 + owner);
            const float* const v_row = Vj + (4 * n + owner) * stride + lane() % 4 * 4;
            UNROLL
            for (int c = 0; c < columns; ++c) {
                const Float4 v = load4(v_row + 16 * c);
                UNROLL
                for (int r = 0; r < lane_rows; ++r) {
                    O[r][c][0] += p[r] * v.x;
                    O[r][c][1] += p[r] * v.y;
                    O[r][c][2] += p[r] * v.z;
                    O[r][c][3] += p[r] * v.w;
                }
            }
        }
    }

    DEVICE void record_O(Recorder& record) {
        for (int r = 0; r < lane_rows; ++r)
            for (int c = 0; c < columns; ++c)
                for (int e = 0; e < 4; ++e) record.O(row_of_lane(r), 16 * c + lane() % 4 * 4 + e, O[r][c][e]);
    }

    /// O ← O ⊘ ℓ,  L = m · scale + ln ℓ. A row that saw no key has ℓ = 0: O = 0, L = −∞.
    DEVICE void write(const Arguments& a, int batch, int head, int i0) const {
        UNROLL
        for (int r = 0; r < lane_rows; ++r) {
            const int row = i0 + row_of_lane(r);
            const float sum = sum_of_quad(l[r]);
            if (row >= a.N_q) continue;
            const float inverse = sum == 0 ? 0 : 1 / sum;
            float* const out = head_of<float>(a.O, batch, head) + row * a.O.row + lane() % 4 * 4;
            UNROLL
            for (int c = 0; c < columns; ++c)
                store4(out + 16 * c, Float4{O[r][c][0] * inverse, O[r][c][1] * inverse, O[r][c][2] * inverse,
                                            O[r][c][3] * inverse});
            if (lane() % 4 == 0)
                a.L[(std::int64_t(batch) * a.heads + head) * a.N_q + row] =
                    sum == 0 ? -INFINITY : m[r] * a.scale + log_of(sum);
        }
    }
};

template <int d, int warps, int Bc, bool traced>
KERNEL void THREADS(32 * warps) online_rows(const Arguments a) {
    constexpr int Br = Sizes<d, warps, Bc>::Br, stride = Sizes<d, warps, Bc>::stride;
    const int i = block_x(), head = block_y(), batch = block_z();
    const int kv_head = head / (a.heads / a.kv_heads);
    const float* const K = head_of<const float>(a.K, batch, kv_head);
    const float* const V = head_of<const float>(a.V, batch, kv_head);
    const Mask mask(a);
    const int i0 = i * Br, i1 = (i0 + Br < a.N_q ? i0 + Br : a.N_q) - 1;

    float* const Qi = shared_memory<float>();
    float *const Kj = Qi + Br * stride, *const Vj = Kj + Bc * stride;
    load_rows<d, Br, 32 * warps>(Qi, head_of<const float>(a.Q, batch, head), a.Q.row, i0, a.N_q);

    Rows<d, Bc> rows;
    const float c = a.scale * log2_e;
    const int last = mask.last_block(i1, Bc);
    for (int j = mask.first_block(i0, Bc); j <= last; ++j) {
        [[maybe_unused]] Recorder record(a.trace, batch * a.heads + head, i, j);

        // All warps are done with the tile before; then it is overwritten
        sync_block();
        load_rows<d, Bc, 32 * warps>(Kj, K, a.K.row, j * Bc, a.N_kv);
        load_rows<d, Bc, 32 * warps>(Vj, V, a.V.row, j * Bc, a.N_kv);
        sync_block();

        float S[lane_rows][Bc / 4];
        rows.multiply_QK(S, Qi, Kj);
        rows.cut(S, mask, i0, j * Bc);
        rows.template soften<traced>(S, c, record);
        rows.multiply_PV(S, Vj);
        RECORD(rows.record_O(record))
    }
    rows.write(a, batch, head, i0);
}

constexpr std::int64_t least_shared = 64 << 10;  ///< every device gives a block as much

/// Calls f(Size<d>, Size<warps>, Size<Bc>) with the larger tile if the device has room for it, or else with
/// the smaller one, which takes d = 128 to every device.
template <class F> void with_tile(const Arguments& a, const Chip& chip, F&& f) {
    with_d<32, 64, 96, 128>(a.d, [&](auto d) {
        if constexpr (Sizes<d, 4, 32>::shared_bytes > least_shared) {
            static_assert(Sizes<d, 2, 16>::shared_bytes <= least_shared);
            if (Sizes<d, 4, 32>::shared_bytes > chip.shared_per_block) return f(d, Size<2>{}, Size<16>{});
        }
        f(d, Size<4>{}, Size<32>{});
    });
}

std::string refuse(const Arguments& a, DType type, const Chip&) {
    return first_of({refuse_all_but_f32(type), refuse_d<32, 64, 96, 128>(a.d),
                     refuse_traced_d<32, 64, 128>(a), refuse_unaligned(a, type)});
}

Tile tile(const Arguments& a, DType, const Chip& chip) {
    Tile t;
    with_tile(a, chip, [&](auto, auto warps, auto Bc) { t = {warp_rows * warps, Bc}; });
    return t;
}

void run(const Arguments& a, DType, Stream& stream) {
    with_tile(a, stream.chip, [&](auto d, auto warps, auto Bc) {
        const Grid grid{blocks_of(a.N_q, warp_rows * warps), a.heads, a.batch, 32 * warps,
                        Sizes<d, warps, Bc>::shared_bytes};
        if (a.trace.tiles_i == 0) launch(stream, grid, online_rows<d, warps, Bc, false>, a);
        if constexpr (d != 96)
            if (a.trace.tiles_i > 0) launch(stream, grid, online_rows<d, warps, Bc, true>, a);
    });
}

}  // namespace

const Rung& f3_warp_rows() {
    static const Rung rung{"f3-warp-rows",
                           "A warp owns its rows",
                           "S in registers, shuffles within a quad, sixteen bytes at a time, exp2",
                           "cuda/kernels/f3_warp_rows.cu",
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

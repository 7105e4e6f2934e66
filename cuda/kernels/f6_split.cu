// f6-split: few queries against many keys (flash-decoding, Dao et al. 2023).
//
// What changed since f5: its grid has a block for each 128 queries of a head. When decoding there is one
// query, so that few multiprocessors have work. Here the keys are cut into splits, each for a block of its
// own, which leaves a partial m, ℓ and O; a second kernel combines them. The queries of all heads that share
// K and V are rows of one tile, so that K and V are read once for all of them, and tensor cores get more than
// one row to multiply. Where there are many queries it is f5 with one band for each warp and without splits.
// What should limit it: reading K and V. Where it should fall short: sixteen rows are the least that a tensor
// core takes, and with one query and no group fifteen of them are empty.
#include "cuda/kernels/bands.h"
#include "cuda/kernels/ladder.h"

namespace tilewalk::gpu::BACKEND {

namespace {

constexpr int Bc = 64, most_packed = 64, most_splits = 64, combine_warps = 4;

/// How the work is cut. Which splits there are follows from the lengths and the heads of a group alone, not
/// from the batch or the chip, and so do the bits of the results.
struct Cut {
    int pack;  ///< heads whose queries are rows of one tile: all of a group, or 1
    int warps, row_blocks;
    int split_blocks, splits;  ///< key blocks of a split
};

Cut cut_of(const Arguments& a) {
    Cut cut{};
    const int group = a.heads / a.kv_heads, blocks = blocks_of(a.N_kv, Bc);
    cut.pack = std::int64_t(group) * a.N_q <= most_packed ? group : 1;
    const int rows = cut.pack * a.N_q;
    cut.warps = rows <= 16 ? 1 : 4;
    cut.row_blocks = blocks_of(rows, 16 * cut.warps);
    const int least = blocks_of(blocks, most_splits);
    cut.split_blocks = cut.row_blocks > 1 ? blocks : least < 2 ? 2 : least;
    cut.splits = blocks_of(blocks, cut.split_blocks);
    return cut;
}

/// The partial results in the workspace, for each split and each row of Q of all heads.
struct Parts {
    float *O, *m, *l;  ///< O is not divided by ℓ, and m is without the scale
    std::int64_t rows;

    DEVICE Parts(const Arguments& a, int splits)
        : O(static_cast<float*>(a.workspace)), rows(std::int64_t(a.batch) * a.heads * a.N_q) {
        m = O + splits * rows * a.d;
        l = m + splits * rows;
    }
    DEVICE std::int64_t at(int split, std::int64_t row) const { return split * rows + row; }
};

/// A row of a tile: which query of which head.
struct Row {
    int query, head;
};
DEVICE Row row_at(int row, const Cut& cut, int first_head) {
    return {row / cut.pack, first_head + row % cut.pack};
}

/// Records rows of several heads, each in the window of its own.
class PackedRecorder {
public:
    DEVICE PackedRecorder(const TraceWindow& window, int heads_packed, int first_head, int block_i,
                          int block_j)
        : w(window), packed(heads_packed), head(first_head), i(block_i), j(block_j) {}
    DEVICE void S(int row, int column, float& x) { of(row).S(row / packed, column, x); }
    DEVICE void P(int row, int column, float& x) { of(row).P(row / packed, column, x); }
    DEVICE void O(int row, int column, float& x) { of(row).O(row / packed, column, x); }
    DEVICE void m(int row, float& x, bool stores) { of(row).m(row / packed, x, stores); }
    DEVICE void alpha(int row, float& x, bool stores) { of(row).alpha(row / packed, x, stores); }
    DEVICE void disturb_l(int row, float& part) { of(row).disturb_l(row / packed, part); }
    DEVICE void l(int row, float sum, bool stores) { of(row).l(row / packed, sum, stores); }

private:
    DEVICE Recorder of(int row) const { return Recorder(w, head + row % packed, i, j); }
    const TraceWindow& w;
    int packed, head, i, j;
};

/// Starts to copy the rows of a tile of Q, from `row0` on; zeros beyond the last.
template <class T, int d>
DEVICE void copy_queries(Swizzled<T, d> to, const Arguments& a, int batch, int first_head, const Cut& cut,
                         int row0, int rows) {
    constexpr int chunks = Swizzled<T, d>::chunks;
    NO_UNROLL
    for (int n = thread(); n < rows * chunks; n += threads()) {
        const int row = n / chunks, c = n % chunks;
        const bool inside = row0 + row < cut.pack * a.N_q;
        const Row from = row_at(inside ? row0 + row : 0, cut, first_head);
        copy_async(to.chunk(row, c), head_of<const T>(a.Q, batch, from.head) + from.query * a.Q.row + c * 8,
                   inside);
    }
}

/// −∞ where the query of a row must not look; `row0` is the band's first row.
DEVICE void cut_scores(Fragments<Bc>& S, const Mask& mask, int row0, int pack, int j0) {
    UNROLL
    for (int r = 0; r < 2; ++r) {
        const int query = (row0 + fragment_row(2 * r)) / pack;
        const int first = mask.first(query), last = mask.last(query);
        UNROLL
        for (int n = 0; n < Bc / 8; ++n) UNROLL
        for (int e = 0; e < 2; ++e) {
            const int key = j0 + 8 * n + fragment_column(e);
            if (key < first || key > last) S[n][2 * r + e] = -INFINITY;
        }
    }
}

/// m, ℓ and O of one split, for row0 and the rows that follow it.
template <class T, int d>
DEVICE void write_part(const Band<T, d, Bc>& band, const Arguments& a, const Cut& cut, int split, int batch,
                       int first_head, int row0) {
    const Parts parts(a, cut.splits);
    UNROLL
    for (int r = 0; r < 2; ++r) {
        const int row = row0 + fragment_row(2 * r);
        const float sum = sum_of_quad(band.l[r]);
        if (row >= cut.pack * a.N_q) continue;
        const Row of = row_at(row, cut, first_head);
        const std::int64_t at = parts.at(split, (std::int64_t(batch) * a.heads + of.head) * a.N_q + of.query);
        UNROLL
        for (int n = 0; n < d / 8; ++n) UNROLL
        for (int e = 0; e < 2; ++e) parts.O[at * d + 8 * n + fragment_column(e)] = band.O[n][2 * r + e];
        if (lane() % 4 > 0) continue;
        parts.m[at] = band.m[r];
        parts.l[at] = sum;
    }
}

/// O ← O ⊘ ℓ and L, where there is one split.
template <class T, int d>
DEVICE void write_rows(const Band<T, d, Bc>& band, const Arguments& a, const Cut& cut, int batch,
                       int first_head, int row0) {
    UNROLL
    for (int r = 0; r < 2; ++r) {
        const int row = row0 + fragment_row(2 * r);
        const float sum = sum_of_quad(band.l[r]);
        if (row >= cut.pack * a.N_q) continue;
        const Row of = row_at(row, cut, first_head);
        const float inverse = sum == 0 ? 0 : 1 / sum;
        T* const out = head_of<T>(a.O, batch, of.head) + of.query * a.O.row;
        UNROLL
        for (int n = 0; n < d / 8; ++n)
            reinterpret_cast<std::uint32_t*>(out)[4 * n + lane() % 4] =
                pack<T>(band.O[n][2 * r] * inverse, band.O[n][2 * r + 1] * inverse);
        if (lane() % 4 == 0)
            a.L[(std::int64_t(batch) * a.heads + of.head) * a.N_q + of.query] =
                sum == 0 ? -INFINITY : band.m[r] * a.scale + log_of(sum);
    }
}

template <class T, int d, int warps, bool traced>
KERNEL void THREADS(32 * warps) split_keys(const Arguments a, const Cut cut) {
    if constexpr (!copies_in_background) return;  // refused on the host
    constexpr int Br = 16 * warps;
    const int i = block_x() / cut.splits, split = block_x() % cut.splits, batch = block_z();
    const int first_head = block_y() * cut.pack, kv_head = first_head / (a.heads / a.kv_heads);
    const T* const K = head_of<const T>(a.K, batch, kv_head);
    const T* const V = head_of<const T>(a.V, batch, kv_head);
    const Mask mask(a);
    const int rows = cut.pack * a.N_q, row0 = i * Br + 16 * warp();
    const int i0 = i * Br / cut.pack, i1 = ((i * Br + Br < rows ? i * Br + Br : rows) - 1) / cut.pack;
    const int seen_first = mask.first_block(i0, Bc), seen_last = mask.last_block(i1, Bc);
    const int own_first = split * cut.split_blocks, own_last = own_first + cut.split_blocks - 1;
    const int first = seen_first > own_first ? seen_first : own_first,
              last = seen_last < own_last ? seen_last : own_last;

    unsigned char* const shared = shared_memory<unsigned char>();
    const Swizzled<T, d> Qi{shared}, Kj{shared + Br * d * 2}, Vj{shared + (Br + Bc) * d * 2};
    if (first <= last) {
        copy_queries(Qi, a, batch, first_head, cut, i * Br, Br);
        copy_rows(Kj, K, a.K.row, first * Bc, Bc, a.N_kv);
        commit_copies();
    }

    Band<T, d, Bc> band[1];
    const float c = a.scale * log2_e;
    for (int j = first; j <= last; ++j) {
        [[maybe_unused]] PackedRecorder record(a.trace, cut.pack, batch * a.heads + first_head, i, j);

        // K_j is here, and all warps are done with V_{j−1}: V_j may come
        wait_copies<0>();
        sync_block();
        copy_rows(Vj, V, a.V.row, j * Bc, Bc, a.N_kv);
        commit_copies();
        Fragments<Bc> S[1];
        multiply_QK<2, T, d, 1, Bc>(S, Qi, Kj, 16 * warp());

        // V_j is here, and all warps are done with K_j: K_{j+1} may come
        wait_copies<0>();
        sync_block();
        if (j < last) copy_rows(Kj, K, a.K.row, (j + 1) * Bc, Bc, a.N_kv);
        commit_copies();

        if (!mask.covers(i0, i1, j * Bc, j * Bc + Bc - 1)) cut_scores(S[0], mask, row0, cut.pack, j * Bc);
        band[0].template soften<traced>(S[0], c, record, 16 * warp());
        multiply_PV<T, d, 1, Bc>(band, S, Vj);
        RECORD(record_O<d>(record, band[0].O, 16 * warp()))
    }
    if (cut.splits == 1)
        write_rows(band[0], a, cut, batch, first_head, row0);
    else
        write_part(band[0], a, cut, split, batch, first_head, row0);
}

/// A warp for each row: m = max m_s, weights exp(m_s − m), ℓ = Σ weight · ℓ_s, O = Σ weight · O_s ⊘ ℓ. A
/// split in which the row sees nothing has m_s = −∞ and the weight 0.
template <class T> KERNEL void THREADS(32 * combine_warps) combine(const Arguments a, const Cut cut) {
    const Parts parts(a, cut.splits);
    const std::int64_t row = std::int64_t(block_x()) * combine_warps + warp();
    if (row >= parts.rows) return;

    // A lane has two of the splits
    float part_m[2], weight[2], m = -INFINITY, l = 0;
    UNROLL
    for (int n = 0; n < 2; ++n) {
        const int split = 32 * n + lane();
        part_m[n] = split < cut.splits ? parts.m[parts.at(split, row)] : -INFINITY;
        m = fmaxf(m, part_m[n]);
    }
    m = max_of_warp(m);
    UNROLL
    for (int n = 0; n < 2; ++n) {
        const int split = 32 * n + lane();
        weight[n] = exp2_of((part_m[n] - m) * a.scale * log2_e);
        if (split < cut.splits) l += weight[n] * parts.l[parts.at(split, row)];
    }
    l = sum_of_warp(l);

    const float inverse = 1 / l;
    const int head = static_cast<int>(row / a.N_q % a.heads), batch = static_cast<int>(row / a.N_q / a.heads);
    T* const out = head_of<T>(a.O, batch, head) + row % a.N_q * a.O.row;
    NO_UNROLL
    for (int column = lane(); column < a.d; column += 32) {
        float sum = 0;
        UNROLL
        for (int n = 0; n < 2; ++n) NO_UNROLL
        for (int owner = 0; owner < 32 && 32 * n + owner < cut.splits; ++owner)
            sum += shuffle(weight[n], owner) * parts.O[parts.at(32 * n + owner, row) * a.d + column];
        out[column] = from_float<T>(sum * inverse);
    }
    if (lane() == 0) a.L[row] = m * a.scale + log_of(l);
}

template <int d> std::int64_t shared_bytes(const Cut& cut) {
    return std::int64_t(16 * cut.warps + 2 * Bc) * d * 2;  // Q, K, V
}

std::string refuse(const Arguments& a, DType type, const Chip& chip) {
    std::int64_t shared = 0;
    with_d<64, 96, 128, 256>(a.d, [&](auto d) { shared = shared_bytes<d>(cut_of(a)); });
    return first_of({refuse_f32(type), refuse_old_bf16(type, chip), refuse_before_ampere(chip),
                     refuse_d<64, 96, 128, 256>(a.d), refuse_traced_d<64, 128>(a),
                     refuse_shared(shared, chip), refuse_unaligned(a, type)});
}

std::int64_t workspace(const Arguments& a, DType) {
    const Cut cut = cut_of(a);
    return cut.splits == 1 ? 0 : 4 * cut.splits * a.q_rows() * (a.d + 2);
}

Tile tile(const Arguments& a, DType, const Chip&) { return {16 * cut_of(a).warps, Bc}; }

int split_blocks(const Arguments& a) {
    const Cut cut = cut_of(a);
    return cut.splits == 1 ? 0 : cut.split_blocks;
}

template <class T, int d, int warps> void run_with(const Arguments& a, const Cut& cut, Stream& stream) {
    const Grid grid{cut.row_blocks * cut.splits, a.heads / cut.pack, a.batch, 32 * warps,
                    shared_bytes<d>(cut)};
    if (a.trace.tiles_i == 0) launch(stream, grid, split_keys<T, d, warps, false>, a, cut);
    if constexpr (d == 64 || d == 128)
        if (a.trace.tiles_i > 0) launch(stream, grid, split_keys<T, d, warps, true>, a, cut);
    if (cut.splits == 1) return;
    const Grid rows{static_cast<int>((a.q_rows() + combine_warps - 1) / combine_warps), 1, 1,
                    32 * combine_warps};
    launch(stream, rows, combine<T>, a, cut);
}

void run(const Arguments& a, DType type, Stream& stream) {
    const Cut cut = cut_of(a);
    with_half(type, [&](auto of) {
        using T = typename decltype(of)::Type;
        with_d<64, 96, 128, 256>(a.d, [&](auto d) {
            if (cut.warps == 1)
                run_with<T, d, 1>(a, cut, stream);
            else
                run_with<T, d, 4>(a, cut, stream);
        });
    });
}

}  // namespace

const Rung& f6_split() {
    static const Rung rung{"f6-split",
                           "Split keys, then combine",
                           "decoding: keys shared out over blocks, the heads of a group as rows of one tile",
                           "cuda/kernels/f6_split.cu",
                           Direction::forward,
                           false,
                           true,
                           refuse,
                           workspace,
                           tile,
                           run,
                           nullptr,
                           split_blocks,
                           16};
    return rung;
}

}  // namespace tilewalk::gpu::BACKEND

// What the backward rungs have in common: D = rowsum(dO ⊙ O) before them, and the sums of dQ.
#pragma once

#include "cuda/kernels/rung_parts.h"

namespace tilewalk::gpu::BACKEND {

/// The workspace of the rungs that recompute: D, and dQ while it is summed (FlashAttention-2, section 3.1.2).
struct BackwardSums {
    float* D;   ///< [batch · heads][N_q]
    float* dQ;  ///< [batch · heads][N_q to the next 16][d], not yet scaled; SumOrder within a head
    std::int64_t dQ_of_head;  ///< so many

    DEVICE explicit BackwardSums(const Arguments& a)
        : D(static_cast<float*>(a.workspace)),
          dQ(D + (std::int64_t(a.batch) * a.heads * a.N_q + 63) / 64 * 64),
          dQ_of_head(std::int64_t((a.N_q + 15) / 16 * 16) * a.d) {}
    static std::int64_t bytes(const Arguments& a, bool with_dQ) {
        const std::int64_t dQ_rows = std::int64_t(a.batch) * a.heads * blocks_of(a.N_q, 16) * 16;
        return 4 * ((a.q_rows() + 63) / 64 * 64 + (with_dQ ? dQ_rows * a.d : 0));
    }
};

/// In which order a head's dQ is summed: row after row, or as it lies in registers, 16 rows after 16,
/// fragment after fragment, c[0] of all lanes, c[1] of all lanes …, so that what a warp adds at once are 32
/// neighbours.
enum class SumOrder { rows, fragments };
constexpr int fragment_size = 128;  ///< 16 × 8

template <SumOrder order> DEVICE std::int64_t place_of_sum(int row, int column, int d) {
    if (order == SumOrder::rows) return std::int64_t(row) * d + column;
    const int fragment = row / 16 * (d / 8) + column / 8, e = row % 16 / 8 * 2 + column % 2;
    return std::int64_t(fragment) * fragment_size + 32 * e + row % 8 * 4 + column % 8 / 2;
}

/// D = rowsum(dO ⊙ O), a warp for each row, and 0 for dQ if it is to be summed: also of rows up to the
/// next 16.
template <class T, bool with_dQ> DEVICE void write_row_dots(const Arguments& a) {
    const int row = block_x() * 4 + warp(), head = block_y(), batch = block_z();
    const std::int64_t of_head = std::int64_t(batch) * a.heads + head;
    const BackwardSums sums(a);
    if (with_dQ) {
        float* const dQ = sums.dQ + of_head * sums.dQ_of_head + std::int64_t(row) * a.d;
        for (int c = lane(); c < a.d; c += 32) dQ[c] = 0;
    }
    if (row >= a.N_q) return;
    const T* const O = head_of<const T>(a.O, batch, head) + row * a.O.row;
    const T* const dO = head_of<const T>(a.dO, batch, head) + row * a.dO.row;
    float D = 0;
    for (int c = lane(); c < a.d; c += 32) D += to_float(O[c]) * to_float(dO[c]);
    D = sum_of_warp(D);
    if (lane() == 0) sums.D[of_head * a.N_q + row] = D;
}
template <class T, bool with_dQ> KERNEL void THREADS(128) row_dots(const Arguments a) {
    write_row_dots<T, with_dQ>(a);
}

/// dQ = scale · its sum, in the format of the outputs.
template <class T, SumOrder order> KERNEL void THREADS(128) finish_dQ(const Arguments a) {
    const int row = block_x() * 4 + warp(), head = block_y(), batch = block_z();
    if (row >= a.N_q) return;
    const BackwardSums sums(a);
    T* const dQ = head_of<T>(a.dQ, batch, head) + row * a.dQ.row;
    const float* const sum = sums.dQ + (std::int64_t(batch) * a.heads + head) * sums.dQ_of_head;
    for (int c = lane(); c < a.d; c += 32)
        dQ[c] = from_float<T>(a.scale * sum[place_of_sum<order>(row, c, a.d)]);
}

/// The grid of the two: four rows for each block, up to the next 16.
inline Grid rows_grid(const Arguments& a) { return {blocks_of(a.N_q, 16) * 4, a.heads, a.batch, 128, 0}; }

}  // namespace tilewalk::gpu::BACKEND

// What the backward rungs have in common: D = rowsum(dO ∘ O) before them, and the sums of dQ.
#pragma once

#include "cuda/kernels/rung_parts.h"

namespace tilewalk::gpu::BACKEND {

/// The workspace of the rungs that recompute: D, and dQ while it is summed (FlashAttention-2, section 3.1.2).
struct BackwardSums {
    float* D;   ///< [batch · heads][N_q]
    float* dQ;  ///< [batch · heads][N_q][d], not yet scaled

    DEVICE explicit BackwardSums(const Arguments& a)
        : D(static_cast<float*>(a.workspace)),
          dQ(D + (std::int64_t(a.batch) * a.heads * a.N_q + 63) / 64 * 64) {}
    static std::int64_t bytes(const Arguments& a, bool with_dQ) {
        return 4 * ((a.q_rows() + 63) / 64 * 64 + (with_dQ ? a.q_rows() * a.d : 0));
    }
};

/// D = rowsum(dO ∘ O), a warp for each row; the row of dQ becomes 0 if it is to be summed.
template <class T, bool with_dQ> KERNEL void THREADS(128) row_dots(const Arguments a) {
    const int row = block_x() * 4 + warp(), head = block_y(), batch = block_z();
    if (row >= a.N_q) return;
    const T* const O = head_of<const T>(a.O, batch, head) + row * a.O.row;
    const T* const dO = head_of<const T>(a.dO, batch, head) + row * a.dO.row;
    const std::int64_t at = (std::int64_t(batch) * a.heads + head) * a.N_q + row;
    const BackwardSums sums(a);
    float D = 0;
    for (int c = lane(); c < a.d; c += 32) {
        D += to_float(O[c]) * to_float(dO[c]);
        if (with_dQ) sums.dQ[at * a.d + c] = 0;
    }
    D = sum_of_warp(D);
    if (lane() == 0) sums.D[at] = D;
}

/// dQ = scale · its sum, in the format of the outputs.
template <class T> KERNEL void THREADS(128) finish_dQ(const Arguments a) {
    const int row = block_x() * 4 + warp(), head = block_y(), batch = block_z();
    if (row >= a.N_q) return;
    T* const dQ = head_of<T>(a.dQ, batch, head) + row * a.dQ.row;
    const float* const sum =
        BackwardSums(a).dQ + ((std::int64_t(batch) * a.heads + head) * a.N_q + row) * a.d;
    for (int c = lane(); c < a.d; c += 32) dQ[c] = from_float<T>(a.scale * sum[c]);
}

/// The grid of the two: four rows for each block.
inline Grid rows_grid(const Arguments& a) { return {blocks_of(a.N_q, 4), a.heads, a.batch, 128, 0}; }

}  // namespace tilewalk::gpu::BACKEND

// What the rungs of standard attention with the vendor's products have in common.
#pragma once

#include "cuda/kernels/mask.h"
#include "cuda/kernels/rung_parts.h"
#include "cuda/launch/product.h"

namespace tilewalk::gpu::BACKEND {

constexpr int softmax_warps = 8;

/// Elements from row to row of S and P: the library is fastest with rows that begin at 16 bytes.
inline std::int64_t width_of(const Arguments& a) { return (std::int64_t(a.N_kv) + 7) / 8 * 8; }

/// P = softmax(S) where the mask lets a query look, 0 elsewhere; L = m + ln ℓ, if it is wanted. A warp for
/// each row.
template <class T>
KERNEL void THREADS(32 * softmax_warps)
    softmax_rows(const Arguments a, const T* S, T* P, std::int64_t width) {
    const int i = block_x() * softmax_warps + warp();
    if (i >= a.N_q) return;
    const std::int64_t row = std::int64_t(block_y()) * a.N_q + i;
    const T* const s = S + row * width;
    T* const p = P + row * width;
    const Mask mask(a);
    const int first = mask.first(i), last = mask.last(i);

    float m = -INFINITY;
    for (int key = first + lane(); key <= last; key += 32) m = fmaxf(m, to_float(s[key]));
    m = max_of_warp(m);

    float l = 0;
    for (int key = first + lane(); key <= last; key += 32) l += exp_of(to_float(s[key]) - m);
    l = sum_of_warp(l);

    for (int key = lane(); key < a.N_kv; key += 32) {
        const bool sees = key >= first && key <= last;
        p[key] = from_float<T>(sees ? exp_of(to_float(s[key]) - m) / l : 0);
    }
    if (lane() == 0 && a.L) a.L[row] = first <= last ? m + log_of(l) : -INFINITY;
}

/// The grid of softmax_rows, and of other kernels with a warp for each row of scores.
inline Grid rows_of_scores(const Arguments& a) {
    return {blocks_of(a.N_q, softmax_warps), a.batch * a.heads, 1, 32 * softmax_warps};
}

/// Both products take the heads of a key head in one call (its K, V serve them all), or, where every query
/// head has its own, all heads of a batch entry. `go` is called with the first head and their number.
template <class F> void for_each_call(const Arguments& a, F&& go) {
    const int group = a.heads / a.kv_heads, heads = group == 1 ? a.heads : group;
    for (int batch = 0; batch < a.batch; ++batch)
        for (int head = 0; head < a.heads; head += heads) go(batch, head, heads);
}

inline Product product_of(DType type, int m, int n, int k, int count) {
    Product product;
    product.type = product.result_type = type;
    product.m = m, product.n = n, product.k = k, product.count = count;
    return product;
}

template <class T> T* head_at(const Tensor& t, int batch, int head) {
    return static_cast<T*>(t.data) + batch * t.batch + head * t.head;
}

/// S = scale · Q Kᵀ of all heads, with rows of `width` elements.                      (N_q × N_kv for each)
template <class T> void scores_of(const Arguments& a, DType type, T* S, Stream& stream) {
    const std::int64_t width = width_of(a), matrix = a.N_q * width;
    const int group = a.heads / a.kv_heads;
    for_each_call(a, [&](int batch, int head, int heads) {
        Product product = product_of(type, a.N_q, a.N_kv, a.d, heads);
        product.alpha = a.scale;
        product.A = {head_at<T>(a.Q, batch, head), a.Q.row, a.Q.head};
        product.B = {head_at<T>(a.K, batch, head / group), a.K.row, group == 1 ? a.K.head : 0};
        product.B.transposed = true;
        product.C = S + (batch * a.heads + head) * matrix;
        product.C_row = width, product.C_next = matrix;
        multiply_matrices(stream, product);
    });
}

/// Y = X Z of all heads, where X is N_q × N_kv for each query head and Z the K or V that it reads: O = P V,
/// dQ = dS K.                                                                              (N_q × d for each)
template <class T>
void weighted_rows(const Arguments& a, DType type, T* X, const Tensor& Z, const Tensor& Y, Stream& stream) {
    const std::int64_t width = width_of(a), matrix = a.N_q * width;
    const int group = a.heads / a.kv_heads;
    for_each_call(a, [&](int batch, int head, int heads) {
        Product product = product_of(type, a.N_q, a.d, a.N_kv, heads);
        product.A = {X + (batch * a.heads + head) * matrix, width, matrix};
        product.B = {head_at<T>(Z, batch, head / group), Z.row, group == 1 ? Z.head : 0};
        product.C = head_at<T>(Y, batch, head);
        product.C_row = Y.row, product.C_next = Y.head;
        multiply_matrices(stream, product);
    });
}

}  // namespace tilewalk::gpu::BACKEND

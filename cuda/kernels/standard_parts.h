// What the rungs of standard attention with the vendor's products have in common.
#pragma once

#include "cuda/kernels/mask.h"
#include "cuda/kernels/rung_parts.h"
#include "cuda/launch/product.h"

#include <climits>
#include <cstring>

namespace tilewalk::gpu::BACKEND {

constexpr int softmax_warps = 8;

/// Elements from row to row of S and P: the library is fastest with rows that begin at 16 bytes.
inline std::int64_t width_of(const Arguments& a) { return (std::int64_t(a.N_kv) + 7) / 8 * 8; }

/// 16 bytes of a row of S or P: what a lane reads and writes at once.
template <class T> struct Chunk {
    static constexpr int size = 16 / int(sizeof(T));
    T x[size];

    DEVICE static Chunk load(const T* from) {
        const Float4 bits = load4(reinterpret_cast<const float*>(from));
        Chunk chunk;
        std::memcpy(&chunk, &bits, sizeof bits);
        return chunk;
    }
    DEVICE void store(T* to) const {
        Float4 bits;
        std::memcpy(&bits, this, sizeof bits);
        store4(reinterpret_cast<float*>(to), bits);
    }
};

/// P = softmax(S) where the mask lets a query look, 0 elsewhere; L = m + ln ℓ, if it is wanted. A warp for
/// each row, which it reads twice: for m and ℓ, by the online softmax, and for the quotients.
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
    const auto seen = [&](int key) { return key >= first && key <= last; };
    constexpr int size = Chunk<T>::size;

    // m and ℓ of the keys that this lane reads. While all their scores are −∞, 0 stands in for m.
    float m = -INFINITY, l = 0;
    for (int key = (first / size + lane()) * size; key <= last; key += 32 * size) {
        const Chunk<T> chunk = Chunk<T>::load(s + key);
        float m_new = m;
        UNROLL
        for (int n = 0; n < size; ++n)
            if (seen(key + n)) m_new = fmaxf(m_new, to_float(chunk.x[n]));
        const float base = m_new == -INFINITY ? 0 : m_new;
        l *= exp2_of((m - base) * log2_e);
        m = m_new;
        UNROLL
        for (int n = 0; n < size; ++n)
            if (seen(key + n)) l += exp2_of((to_float(chunk.x[n]) - base) * log2_e);
    }

    // Those of the row
    const float own = m;
    m = max_of_warp(m);
    l = sum_of_warp(own == -INFINITY ? 0 : l * exp2_of((own - m) * log2_e));

    const float inverse = 1 / l;
    for (int key = lane() * size; key < a.N_kv; key += 32 * size) {
        Chunk<T> chunk = Chunk<T>::load(s + key);
        UNROLL
        for (int n = 0; n < size; ++n) {
            const float weight = exp2_of((to_float(chunk.x[n]) - m) * log2_e) * inverse;
            chunk.x[n] = from_float<T>(seen(key + n) ? weight : 0);
        }
        chunk.store(p + key);
    }
    if (lane() == 0 && a.L) a.L[row] = first <= last ? m + log_of(l) : -INFINITY;
}

/// The grid of softmax_rows, and of other kernels with a warp for each row of scores.
inline Grid rows_of_scores(const Arguments& a) {
    return {blocks_of(a.N_q, softmax_warps), a.batch * a.heads, 1, 32 * softmax_warps};
}

/// A call of the library: `count` products, the first of batch entry `batch` and query head `head`. The
/// matrix of the queries has `rows` rows; from one product to the next it is so many heads to go.
struct Call {
    int batch, head, rows, count, q_heads, kv_heads;
};

/// Whether the query heads that share K and V are one matrix to the library: they lie behind each other.
inline bool heads_join(const Arguments& a, const Tensor& of_queries) {
    const int group = a.heads / a.kv_heads;
    return group == 1 ||
           (of_queries.head == a.N_q * of_queries.row && std::int64_t(group) * a.N_q <= INT_MAX);
}

/// As few calls as the strides allow: all batch entries are one row of heads where they lie behind each
/// other.
template <class F>
void for_each_call(const Arguments& a, const Tensor& of_queries, const Tensor& of_keys, F&& go) {
    const int group = a.heads / a.kv_heads;
    const bool joined = heads_join(a, of_queries);
    const bool in_one = a.batch == 1 || (of_queries.batch == a.heads * of_queries.head &&
                                         of_keys.batch == a.kv_heads * of_keys.head);
    if (joined && in_one) return go(Call{0, 0, group * a.N_q, a.batch * a.kv_heads, group, 1});
    for (int batch = 0; batch < a.batch; ++batch) {
        if (joined) go(Call{batch, 0, group * a.N_q, a.kv_heads, group, 1});
        for (int head = 0; !joined && head < a.heads; head += group)
            go(Call{batch, head, a.N_q, group, 1, 0});
    }
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
    for_each_call(a, a.Q, a.K, [&](const Call& c) {
        Product product = product_of(type, c.rows, a.N_kv, a.d, c.count);
        product.alpha = a.scale;
        product.A = {head_at<T>(a.Q, c.batch, c.head), a.Q.row, c.q_heads * a.Q.head};
        product.B = {head_at<T>(a.K, c.batch, c.head / (a.heads / a.kv_heads)), a.K.row,
                     c.kv_heads * a.K.head};
        product.B.transposed = true;
        product.C = S + (c.batch * a.heads + c.head) * matrix;
        product.C_row = width, product.C_next = c.q_heads * matrix;
        multiply_matrices(stream, product);
    });
}

/// Y = X Z of all heads, where X is N_q × N_kv for each query head and Z the K or V that it reads: O = P V,
/// dQ = dS K.                                                                              (N_q × d for each)
template <class T>
void weighted_rows(const Arguments& a, DType type, T* X, const Tensor& Z, const Tensor& Y, Stream& stream) {
    const std::int64_t width = width_of(a), matrix = a.N_q * width;
    for_each_call(a, Y, Z, [&](const Call& c) {
        Product product = product_of(type, c.rows, a.d, a.N_kv, c.count);
        product.A = {X + (c.batch * a.heads + c.head) * matrix, width, c.q_heads * matrix};
        product.B = {head_at<T>(Z, c.batch, c.head / (a.heads / a.kv_heads)), Z.row, c.kv_heads * Z.head};
        product.C = head_at<T>(Y, c.batch, c.head);
        product.C_row = Y.row, product.C_next = c.q_heads * Y.head;
        multiply_matrices(stream, product);
    });
}

}  // namespace tilewalk::gpu::BACKEND

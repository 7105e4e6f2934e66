// f0-cublas: standard attention as a library computes it: a product, a softmax, a product.
//
// What changed since f0-materialise: the two products are the vendor's, as fast as the device can multiply,
// and S and P have the type of the inputs. This is what flash attention has to beat. What limits it: S and P
// still go to HBM and come back, 4 · N_q · N_kv elements read or written for each head, and for most N that
// takes longer than both products together. How it disappointed: a mask saves it nothing, the library
// multiplies what the softmax then throws away.
#include "cuda/kernels/ladder.h"
#include "cuda/kernels/mask.h"
#include "cuda/kernels/rung_parts.h"

namespace tilewalk::gpu::BACKEND {

namespace {

constexpr int warps = 8;

/// Elements from row to row of S and P: the library is fastest with rows that begin at 16 bytes.
std::int64_t width_of(const Arguments& a) { return (std::int64_t(a.N_kv) + 7) / 8 * 8; }

/// P = softmax(S) where the mask lets a query look, 0 elsewhere; L = m + ln ℓ. A warp for each row.
template <class T>
KERNEL void THREADS(32 * warps) softmax(const Arguments a, const T* S, T* P, std::int64_t width) {
    const int i = block_x() * warps + warp();
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
    if (lane() == 0) a.L[row] = first <= last ? m + log_of(l) : -INFINITY;
}

/// Both products take the heads of a key head in one call (its K, V serve them all), or, where every query
/// head has its own, all heads of a batch entry. `go` is called with the first head and their number.
template <class F> void for_each_call(const Arguments& a, F&& go) {
    const int group = a.heads / a.kv_heads, heads = group == 1 ? a.heads : group;
    for (int batch = 0; batch < a.batch; ++batch)
        for (int head = 0; head < a.heads; head += heads) go(batch, head, heads);
}

Product product_of(DType type, int m, int n, int k, int count) {
    Product product;
    product.type = product.result_type = type;
    product.m = m, product.n = n, product.k = k, product.count = count;
    return product;
}

template <class T> T* head_at(const Tensor& t, int batch, int head) {
    return static_cast<T*>(t.data) + batch * t.batch + head * t.head;
}

template <class T> void run_with(const Arguments& a, DType type, Stream& stream) {
    const std::int64_t width = width_of(a), matrix = a.N_q * width;
    T* const S = static_cast<T*>(a.workspace);
    T* const P = S + a.batch * a.heads * matrix;
    const int group = a.heads / a.kv_heads;
    const auto shared_by_group = [&](std::int64_t next) { return group == 1 ? next : 0; };

    // S = scale · Q Kᵀ                                                          (N_q × N_kv for each head)
    for_each_call(a, [&](int batch, int head, int heads) {
        Product product = product_of(type, a.N_q, a.N_kv, a.d, heads);
        product.alpha = a.scale;
        product.A = {head_at<T>(a.Q, batch, head), a.Q.row, a.Q.head};
        product.B = {head_at<T>(a.K, batch, head / group), a.K.row, shared_by_group(a.K.head)};
        product.B.transposed = true;
        product.C = S + (batch * a.heads + head) * matrix;
        product.C_row = width, product.C_next = matrix;
        multiply_matrices(stream, product);
    });

    const Grid grid{blocks_of(a.N_q, warps), a.batch * a.heads, 1, 32 * warps};
    launch(stream, grid, softmax<T>, a, S, P, width);

    // O = P V                                                                      (N_q × d for each head)
    for_each_call(a, [&](int batch, int head, int heads) {
        Product product = product_of(type, a.N_q, a.d, a.N_kv, heads);
        product.A = {P + (batch * a.heads + head) * matrix, width, matrix};
        product.B = {head_at<T>(a.V, batch, head / group), a.V.row, shared_by_group(a.V.head)};
        product.C = head_at<T>(a.O, batch, head);
        product.C_row = a.O.row, product.C_next = a.O.head;
        multiply_matrices(stream, product);
    });
}

std::string refuse(const Arguments&, DType type, const Chip& chip) { return refuse_old_bf16(type, chip); }

std::int64_t workspace(const Arguments& a, DType type) {
    return 2 * a.q_rows() * width_of(a) * (type == DType::f32 ? 4 : 2);
}

void run(const Arguments& a, DType type, Stream& stream) {
    if (type == DType::f32) run_with<float>(a, type, stream);
    with_half(type, [&](auto of) { run_with<typename decltype(of)::Type>(a, type, stream); });
}

}  // namespace

const Rung& f0_cublas() {
    static const Rung rung{
        "f0-cublas",
        "Standard attention with the vendor's products",
        "what flash attention is measured against: fast products, N × N matrices between them",
        "cuda/kernels/f0_cublas.cu",
        Direction::forward,
        true,
        false,
        refuse,
        workspace,
        no_tile,
        run};
    return rung;
}

}  // namespace tilewalk::gpu::BACKEND

// b0-materialise: the chain rule with whole matrices, as automatic differentiation of standard attention has
// it.
//
// It keeps P from the forward pass and multiplies with the vendor's library:
//   dV = Pᵀ dO,   dP = dO Vᵀ,   dS = P ⊙ (dP − D) with D = rowsum(dO ⊙ O),   dQ = dS K,   dK = dSᵀ Q.
// What should limit it: P and dP, N_q × N_kv each, live at once, are read five times and written twice.
// Where it should fall short: the products are the library's, and memory ends first.
#include "cuda/kernels/ladder.h"
#include "cuda/kernels/standard_parts.h"

namespace tilewalk::gpu::BACKEND {

namespace {

/// dS = scale · P ⊙ (dP − D), in place of dP. A warp for each row.
template <class T>
KERNEL void THREADS(32 * softmax_warps)
    score_gradients(const Arguments a, const T* P, T* dP, std::int64_t width) {
    const int i = block_x() * softmax_warps + warp();
    if (i >= a.N_q) return;
    const int batch = block_y() / a.heads, head = block_y() % a.heads;
    const T* const O = head_of<const T>(a.O, batch, head) + i * a.O.row;
    const T* const dO = head_of<const T>(a.dO, batch, head) + i * a.dO.row;
    float D = 0;
    for (int c = lane(); c < a.d; c += 32) D += to_float(O[c]) * to_float(dO[c]);
    D = sum_of_warp(D);

    const std::int64_t row = (std::int64_t(block_y()) * a.N_q + i) * width;
    constexpr int size = Chunk<T>::size;
    for (int key = lane() * size; key < a.N_kv; key += 32 * size) {
        const Chunk<T> p = Chunk<T>::load(P + row + key);
        Chunk<T> chunk = Chunk<T>::load(dP + row + key);
        UNROLL
        for (int n = 0; n < size; ++n)
            chunk.x[n] = from_float<T>(a.scale * to_float(p.x[n]) * (to_float(chunk.x[n]) - D));
        chunk.store(dP + row + key);
    }
}

/// Y = Xᵀ Z, where X is N_q × N_kv for each query head and Z its rows of Q or dO; the heads that share a key
/// head are added up: dV = Pᵀ dO, dK = dSᵀ Q.                                             (N_kv × d for each)
template <class T>
void weighted_columns(const Arguments& a, DType type, T* X, const Tensor& Z, const Tensor& Y,
                      Stream& stream) {
    const std::int64_t width = width_of(a), matrix = a.N_q * width;
    const auto multiply = [&](const Call& c, float beta) {
        Product product = product_of(type, a.N_kv, a.d, c.rows, c.count);
        product.beta = beta;
        product.A = {X + (c.batch * a.heads + c.head) * matrix, width, c.q_heads * matrix, true};
        product.B = {head_at<T>(Z, c.batch, c.head), Z.row, c.q_heads * Z.head};
        product.C = head_at<T>(Y, c.batch, 0);
        product.C_row = Y.row, product.C_next = Y.head;
        multiply_matrices(stream, product);
    };
    // Heads that are one matrix are added up by the product itself, others one after the other
    if (heads_join(a, Z)) return for_each_call(a, Z, Y, [&](const Call& c) { multiply(c, 0); });
    const int group = a.heads / a.kv_heads;
    for (int batch = 0; batch < a.batch; ++batch)
        for (int head = 0; head < group; ++head)
            multiply({batch, head, a.N_q, a.kv_heads, group, 1}, head == 0 ? 0.0f : 1.0f);
}

/// The two matrices of the workspace: P, and dP that becomes dS.
template <class T> struct Matrices {
    T *P, *dS;
    explicit Matrices(const Arguments& a)
        : P(static_cast<T*>(a.workspace)), dS(P + a.q_rows() * width_of(a)) {}
};

template <class T> void keep_P(const Arguments& a, DType type, Stream& stream) {
    const Matrices<T> matrices(a);
    Arguments without_L = a;
    without_L.L = nullptr;
    scores_of(a, type, matrices.dS, stream);
    launch(stream, rows_of_scores(a), softmax_rows<T>, without_L, matrices.dS, matrices.P, width_of(a));
}

template <class T> void run_with(const Arguments& a, DType type, Stream& stream) {
    const Matrices<T> matrices(a);
    weighted_columns(a, type, matrices.P, a.dO, a.dV, stream);

    // dP = dO Vᵀ is to dO and V what S is to Q and K
    Arguments swapped = a;
    swapped.Q = a.dO, swapped.K = a.V, swapped.scale = 1;
    scores_of(swapped, type, matrices.dS, stream);
    launch(stream, rows_of_scores(a), score_gradients<T>, a, matrices.P, matrices.dS, width_of(a));

    weighted_rows(a, type, matrices.dS, a.K, a.dQ, stream);
    weighted_columns(a, type, matrices.dS, a.Q, a.dK, stream);
}

std::string refuse(const Arguments& a, DType type, const Chip& chip) {
    return first_of({refuse_old_bf16(type, chip), refuse_many_heads(a)});
}

std::int64_t workspace(const Arguments& a, DType type) {
    return 2 * a.q_rows() * width_of(a) * (type == DType::f32 ? 4 : 2);
}

void prepare(const Arguments& a, DType type, Stream& stream) {
    if (type == DType::f32) keep_P<float>(a, type, stream);
    with_half(type, [&](auto of) { keep_P<typename decltype(of)::Type>(a, type, stream); });
}

void run(const Arguments& a, DType type, Stream& stream) {
    if (type == DType::f32) run_with<float>(a, type, stream);
    with_half(type, [&](auto of) { run_with<typename decltype(of)::Type>(a, type, stream); });
}

}  // namespace

const Rung& b0_materialise() {
    static const Rung rung{"b0-materialise",
                           "Backward of standard attention",
                           "The chain rule with P kept from the forward pass, and N × N matrices in HBM",
                           "cuda/kernels/b0_materialise.cu",
                           Direction::backward,
                           true,
                           false,
                           refuse,
                           workspace,
                           no_tile,
                           run,
                           prepare};
    return rung;
}

}  // namespace tilewalk::gpu::BACKEND

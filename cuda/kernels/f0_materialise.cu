// f0-materialise: attention as it is written down, S = scale · Q Kᵀ, P = softmax(S), O = P V, one kernel for
// each, in f32.
//
// This is where the ladder begins: nothing is reused, and S and P (N_q × N_kv for every head) go to HBM and
// come back. A thread computes one element of S or of O, a warp one row of P. What should limit it: S and P
// take 8 N² bytes for each head, and every element of Q, K and V is fetched N times over. Where it should
// fall short: neighbouring threads read neighbouring rows of K, so that one load of a warp touches 16 lines
// of the cache. f0-cublas is the same with a library's products.
#include "cuda/kernels/ladder.h"
#include "cuda/kernels/mask.h"
#include "cuda/kernels/rung_parts.h"

namespace tilewalk::gpu::BACKEND {

namespace {

constexpr int side = 16;         ///< a block of scores() computes 16 × 16 elements
constexpr int block_size = 256;  /// threads of each kernel

/// Row i of the N_q × N_kv matrix of a head, in a workspace that holds one for each head.
DEVICE float* row_of(float* matrices, const Arguments& a, int batch_head, int i) {
    return matrices + (std::int64_t(batch_head) * a.N_q + i) * a.N_kv;
}

/// S = scale · Q Kᵀ, −∞ where a query must not look                                    (N_q × N_kv)
KERNEL void THREADS(block_size) scores(const Arguments a, float* S) {
    const int i = block_y() * side + thread() / side, key = block_x() * side + thread() % side;
    if (i >= a.N_q || key >= a.N_kv) return;
    const int batch = block_z() / a.heads, head = block_z() % a.heads;
    const float* const q = head_of<const float>(a.Q, batch, head) + i * a.Q.row;
    const float* const k = head_of<const float>(a.K, batch, head / (a.heads / a.kv_heads)) + key * a.K.row;
    float dot = 0;
    for (int c = 0; c < a.d; ++c) dot += q[c] * k[c];
    row_of(S, a, block_z(), i)[key] = Mask(a).sees(i, key) ? a.scale * dot : -INFINITY;
}

/// P = softmax(S), L = m + ln ℓ. A warp for each row: its largest element, the sum, the quotients.
KERNEL void THREADS(block_size) softmax(const Arguments a, float* S, float* P) {
    const int i = block_x() * (block_size / 32) + warp();
    if (i >= a.N_q) return;
    const float* const s = row_of(S, a, block_y(), i);
    float* const p = row_of(P, a, block_y(), i);

    float m = -INFINITY;
    for (int key = lane(); key < a.N_kv; key += 32) m = fmaxf(m, s[key]);
    m = max_of_warp(m);
    const float base = m == -INFINITY ? 0 : m;  // a row that sees no key

    float l = 0;
    for (int key = lane(); key < a.N_kv; key += 32) l += exp_of(s[key] - base);
    l = sum_of_warp(l);

    const float inverse = l == 0 ? 0 : 1 / l;
    for (int key = lane(); key < a.N_kv; key += 32) p[key] = exp_of(s[key] - base) * inverse;
    if (lane() == 0) a.L[std::int64_t(block_y()) * a.N_q + i] = l == 0 ? -INFINITY : m + log_of(l);
}

/// O = P V: a thread for each element                                                    (N_q × d)
KERNEL void THREADS(block_size) weighted_sum(const Arguments a, float* P) {
    const int i = block_x();
    const int batch = block_y() / a.heads, head = block_y() % a.heads;
    const float* const p = row_of(P, a, block_y(), i);
    const float* const V = head_of<const float>(a.V, batch, head / (a.heads / a.kv_heads));
    float* const o = head_of<float>(a.O, batch, head) + i * a.O.row;
    for (int c = thread(); c < a.d; c += threads()) {
        float sum = 0;
        for (int key = 0; key < a.N_kv; ++key) sum += p[key] * V[key * a.V.row + c];
        o[c] = sum;
    }
}

std::string refuse(const Arguments& a, DType type, const Chip&) {
    return first_of({refuse_all_but_f32(type), refuse_wide(a.d, 256), refuse_many_heads(a),
                     blocks_of(a.N_q, side) > most_blocks ? "so many queries" : ""});
}

std::int64_t elements(const Arguments& a) { return a.q_rows() * a.N_kv; }
std::int64_t workspace(const Arguments& a, DType) { return 2 * 4 * elements(a); }

void run(const Arguments& a, DType, Stream& stream) {
    float* const S = static_cast<float*>(a.workspace);
    float* const P = S + elements(a);
    const int heads = a.batch * a.heads, columns = blocks_of(a.d, 32) * 32;
    launch(stream, {blocks_of(a.N_kv, side), blocks_of(a.N_q, side), heads, block_size}, scores, a, S);
    launch(stream, {blocks_of(a.N_q, block_size / 32), heads, 1, block_size}, softmax, a, S, P);
    launch(stream, {a.N_q, heads, 1, columns}, weighted_sum, a, P);
}

}  // namespace

const Rung& f0_materialise() {
    static const Rung rung{"f0-materialise",
                           "Standard attention, three kernels of our own",
                           "what N × N matrices in HBM cost: a thread for each element, nothing reused",
                           "cuda/kernels/f0_materialise.cu",
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

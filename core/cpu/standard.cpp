// Rung 1: standard attention, the opponent. One kernel after another over all heads, as a user writes it with
// a good matrix product and as a framework runs it without a fused kernel: S = Q Kᵀ to memory, P = softmax(S)
// from memory to memory, O = P V. The backward pass keeps P and writes dP, then dS, where S was.
//
// It is as fast as that can be: products of OpenBLAS, a vectorised exponential, all memory touched
// beforehand, all threads busy. Under a mask the products still take the full square; only the softmax leaves
// out what nobody sees.
//
// What limits it: memory. 8 bytes for each score are held, and moved about three times: written, read back
// and written by the softmax, read by the last product. Measured: docs/performance.md.
//
// Tensors of 16 bits are converted before and after, S and P stay in float32: it is more exact then than what
// it stands for, and no slower.
#include "core/cpu/by_conversion.h"
#include "core/cpu/product.h"
#include "core/engine/heads.h"

#include <cmath>
#include <limits>

namespace tilewalk::cpu {

namespace {

// Rows of one task: many enough for the product, few enough that a task ends within some 20 ms.
constexpr std::int64_t Br = 256;

class Standard : public FloatKernel {
public:
    Standard(const Workload& workload, ThreadPool& threads, CountedMemory& memory)
        : w(workload), pool(threads), scale(1 / std::sqrt(static_cast<float>(w.d))),
          S(memory, w.q_rows() * w.N_kv), P(memory, w.q_rows() * w.N_kv) {
        if (w.direction == Direction::backward) D = Buffer(memory, w.q_rows());
    }
    void forward(const FloatViews& views, std::stop_token stop) override;
    void backward(const FloatViews& views, std::stop_token stop) override;

private:
    using Rows = RowBlocks::Rows;

    // Operands of the products: `rows` of a query head or of a key head, whole heads, parts of S and P.
    std::int64_t row(const Rows& q) const { return q.head * w.N_q + q.first; }
    Operand queries(const float* X, const Rows& q) const { return {X + row(q) * w.d, w.d}; }
    Operand keys(const float* X, const Rows& q) const {
        return {X + kv_head_of(w, q.head) * w.N_kv * w.d, w.d};
    }
    float* scores(Buffer& X, const Rows& q) const { return X.data() + row(q) * w.N_kv; }

    void softmax(const FloatViews& t, const Rows& q);
    void weight_gradients(const FloatViews& t, const Rows& q);
    void key_gradient(const Buffer& X, const float* of_queries, float factor, float* gradient, const Rows& k);

    template <class Step> void for_queries(std::stop_token stop, const Step& step) {
        const RowBlocks blocks{w.batch * w.heads, w.N_q, Br};
        pool.run(
            blocks.count(), [&](std::int64_t task, int) { step(blocks[task]); }, stop);
    }
    template <class Step> void for_keys(std::stop_token stop, const Step& step) {
        const RowBlocks blocks{w.batch * w.kv_heads, w.N_kv, Br};
        pool.run(
            blocks.count(), [&](std::int64_t task, int) { step(blocks[task]); }, stop);
    }

    Workload w;
    ThreadPool& pool;
    const float scale;
    Buffer S, P;  // heads × N_q × N_kv; backward, S holds dP and then dS
    Buffer D;     // heads × N_q
};

Operand transpose(const Operand& X) { return {X.data, X.stride, !X.transposed}; }

void Standard::forward(const FloatViews& t, std::stop_token stop) {
    // Kernel 1: S = scale · Q Kᵀ, written to memory                                          (N_q × N_kv)
    for_queries(stop, [&](const Rows& q) {
        multiply(
            {q.count, w.N_kv, w.d, scale, queries(t.Q, q), transpose(keys(t.K, q)), scores(S, q), w.N_kv});
    });

    // Kernel 2: P = softmax(S), read back and written again                                  (N_q × N_kv)
    for_queries(stop, [&](const Rows& q) { softmax(t, q); });

    // Kernel 3: O = P V                                                                      (N_q × d)
    for_queries(stop, [&](const Rows& q) {
        multiply({q.count, w.d, w.N_kv, 1, {scores(P, q), w.N_kv}, keys(t.V, q), t.O + row(q) * w.d, w.d});
    });
}

// P = exp(S − m) ⊘ ℓ with m = rowmax(S), ℓ = rowsum(exp(S − m)), and L = m + ln ℓ. What the mask removes has
// weight 0; a row that sees no key is all 0 and has L = −∞.
void Standard::softmax(const FloatViews& t, const Rows& q) {
    const EigenFunctions& eigen = eigen_functions();
    for (std::int64_t r = 0; r < q.count; ++r) {
        const std::int64_t first = w.first_key(q.first + r), end = w.last_key(q.first + r) + 1;
        const float* Si = scores(S, q) + r * w.N_kv;
        float* Pi = scores(P, q) + r * w.N_kv;
        if (end <= first) {
            std::fill(Pi, Pi + w.N_kv, 0.0f);
            t.L[row(q) + r] = -std::numeric_limits<float>::infinity();
            continue;
        }
        std::fill(Pi, Pi + first, 0.0f);
        t.L[row(q) + r] = eigen.softmax_row(Si + first, Pi + first, end - first);
        std::fill(Pi + end, Pi + w.N_kv, 0.0f);
    }
}

void Standard::backward(const FloatViews& t, std::stop_token stop) {
    // dV = Pᵀ dO, over the query heads that read this key head                               (N_kv × d)
    for_keys(stop, [&](const Rows& k) { key_gradient(P, t.dO, 1, t.dV, k); });

    // dP = dO Vᵀ, in place of S                                                              (N_q × N_kv)
    for_queries(stop, [&](const Rows& q) {
        multiply({q.count, w.N_kv, w.d, 1, queries(t.dO, q), transpose(keys(t.V, q)), scores(S, q), w.N_kv});
    });

    // D = rowsum(dO ⊙ O), dS = P ⊙ (dP − D), in place of dP                                  (N_q × N_kv)
    for_queries(stop, [&](const Rows& q) { weight_gradients(t, q); });

    // dQ = scale · dS K                                                                      (N_q × d)
    for_queries(stop, [&](const Rows& q) {
        multiply(
            {q.count, w.d, w.N_kv, scale, {scores(S, q), w.N_kv}, keys(t.K, q), t.dQ + row(q) * w.d, w.d});
    });

    // dK = scale · dSᵀ Q                                                                     (N_kv × d)
    for_keys(stop, [&](const Rows& k) { key_gradient(S, t.Q, scale, t.dK, k); });
}

void Standard::weight_gradients(const FloatViews& t, const Rows& q) {
    const EigenFunctions& eigen = eigen_functions();
    for (std::int64_t i = row(q); i < row(q) + q.count; ++i) {
        D.data()[i] = eigen.dot(t.dO + i * w.d, t.O + i * w.d, w.d);
        eigen.score_gradient_row(P.data() + i * w.N_kv, S.data() + i * w.N_kv, D.data()[i], w.N_kv);
    }
}

// Rows `k` of a key head's gradient: factor · Σ Xᵀ of_queries over the query heads that read it. X is P or
// dS.
void Standard::key_gradient(const Buffer& X, const float* of_queries, float factor, float* gradient,
                            const Rows& k) {
    const std::int64_t first = first_head_of(w, k.head), group = w.heads / w.kv_heads;
    for (std::int64_t head = first; head < first + group; ++head) {
        const Operand columns{X.data() + head * w.N_q * w.N_kv + k.first, w.N_kv};
        const Operand rows{of_queries + head * w.N_q * w.d, w.d};
        multiply({k.count, w.d, w.N_q, factor, transpose(columns), rows,
                  gradient + (k.head * w.N_kv + k.first) * w.d, w.d, head != first});
    }
}

std::int64_t workspace(const Workload& w, int) {
    const std::int64_t S_and_P = 8 * w.q_rows() * w.N_kv, forward = S_and_P + conversion_bytes(w);
    return w.direction == Direction::forward ? forward : forward + 4 * w.q_rows();
}

}  // namespace

const Rung& standard() {
    static const Rung rung{{.name = "standard",
                            .title = "Standard: S and P in memory",
                            .teaches = "Where the textbook's formula ends: two N × N matrices in memory",
                            .file = "core/cpu/standard.cpp",
                            .materialises = true},
                           workspace,
                           make_by_conversion<Standard>};
    return rung;
}

}  // namespace tilewalk::cpu

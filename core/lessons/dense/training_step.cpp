#include "core/lessons/dense/training_step.h"

#include "core/lessons/dense/attention.h"
#include "core/lessons/dense/steps.h"

namespace tilewalk {

namespace {

Region whole(const Matrix& A) { return {0, 0, static_cast<int>(A.rows()), static_cast<int>(A.cols())}; }

std::int64_t product_flops(const Matrix& A, const Matrix& B) {
    return 2 * static_cast<std::int64_t>(A.rows()) * A.cols() * B.cols();
}

void give_inputs(Recorder& rec, const Problem& p) {
    const auto give = [&](Slot slot, const Matrix& A) { rec.give(slot, A, static_cast<int>(A.rows())); };
    const auto identity = [](int n) -> Matrix { return Matrix::Identity(n, n); };
    give(Slot::X, p.projection ? p.projection->X : identity(p.N()));
    if (p.N() != p.N_kv()) give(Slot::X_kv, identity(p.N_kv()));
    give(Slot::W_Q, p.projection ? p.projection->W_Q : p.Q);
    give(Slot::W_K, p.projection ? p.projection->W_K : p.K);
    give(Slot::W_V, p.projection ? p.projection->W_V : p.V);
    give(Slot::dO, output_gradient(p));
}

// Q = X W_Q, K = X W_K, V = X W_V; then attention; then the loss ⟨dO, O⟩, whose gradient by O is dO itself
void forward_pass(Recorder& rec, const Problem& p) {
    for (const WeightPath& path : weight_paths) {
        rec.begin(Op::project);
        const Matrix& X = rec.fetch(input_of(p, path));
        const Matrix& W = rec.fetch(path.weight);
        const Matrix product = X * W;  // (N × d) or (N_kv × d)
        rec.store(path.matrix, 0, product, whole(product));
        rec.end(product_flops(X, W));
    }
    DenseForward forward{rec, p, false};
    forward.scores();
    forward.softmax();
    forward.output();

    rec.begin(Op::loss);
    const Matrix& dO = rec.fetch(Slot::dO);
    const Matrix& O = rec.fetch(Slot::O);
    rec.write(Slot::loss, Matrix::Constant(1, 1, dO.cwiseProduct(O).sum()), {0, 0, 1, 1});
    rec.end(2 * O.size());
}

void change_weights(Recorder& rec, const Problem& p) {
    // dW = Xᵀ dQ and so on                                                                   (d_model × d)
    for (const WeightPath& path : weight_paths) {
        rec.begin(Op::weight_gradient);
        const Matrix& X = rec.fetch(input_of(p, path));
        const Matrix& gradient = rec.fetch(path.gradient);
        const Matrix dW = X.transpose() * gradient;
        rec.store(path.weight_gradient, 0, dW, whole(dW));
        rec.end(product_flops(X, gradient));
    }
    // W ← W − η dW
    for (const WeightPath& path : weight_paths) {
        rec.begin(Op::update);
        const Matrix& W = rec.fetch(path.weight);
        const Matrix& dW = rec.fetch(path.weight_gradient);
        rec.store(path.weight, 0, W - p.options.learning_rate * dW, whole(W));
        rec.end(2 * W.size());
    }
}

}  // namespace

Slot input_of(const Problem& p, const WeightPath& path) {
    return path.weight != Slot::W_Q && p.N() != p.N_kv() ? Slot::X_kv : Slot::X;
}

std::shared_ptr<const Trace> training_step(const Problem& p) {
    Recorder rec(p, "training-step");
    rec.ignore_sram();
    give_inputs(rec, p);

    // The first pass: what the loss is
    rec.phase(0);
    forward_pass(rec, p);

    // Who is to blame: the gradient back to Q, K and V
    dense_backward(rec, p, 1, true);

    // Every weight a small step against its gradient
    rec.phase(2);
    change_weights(rec, p);

    // The same pass with the new weights: has the loss become smaller?
    rec.phase(3);
    forward_pass(rec, p);
    return rec.finish();
}

std::int64_t training_step_bytes(const Problem& p) {
    const double N = p.N(), M = p.N_kv(), d = p.d();
    const double model = p.projection ? static_cast<double>(p.projection->X.cols()) : N + M;
    // X, X_kv; W, dW, the new W; twice Q, K, V, O, S, S masked, P̃, P, m, ℓ; dO, dQ, dK, dV, dP, dS, D
    return dense_bytes((N + M) * model + 9 * model * d + 2 * (2 * N * d + 2 * M * d + 4 * N * M + 2 * N) +
                       2 * N * d + 2 * M * d + 2 * N * M + N + 2);
}

std::span<const CodeLine> training_step_code(const Problem&) {
    static const CodeLine lines[] = {
        {0, "forward"},
        {1, "Q, K, V ← X W_Q, X W_K, X W_V"},
        {1, "S ← scale · Q Kᵀ"},
        {1, "S ← −∞ where masked", true},
        {1, "m ← rowmax(S)"},
        {1, "P̃ ← exp(S − m)"},
        {1, "ℓ ← rowsum(P̃)"},
        {1, "P ← P̃ ⊘ ℓ"},
        {1, "O ← P V"},
        {1, "loss ← sum(dO ⊙ O)"},
        {0, "backward"},
        {1, "dV ← Pᵀ dO"},
        {1, "dP ← dO Vᵀ"},
        {1, "D  ← rowsum(P ⊙ dP)"},
        {1, "dS ← P ⊙ (dP − D)"},
        {1, "dQ ← scale · dS K"},
        {1, "dK ← scale · dSᵀ Q"},
        {0, "for W in W_Q, W_K, W_V"},
        {1, "dW ← Xᵀ dQ (dK, dV)"},
        {1, "W  ← W − η dW"},
        {0, "forward again: a smaller loss?"},
    };
    return lines;
}

std::string training_step_lane(const Problem&, int phase) {
    static const char* const names[] = {"Forward", "Backward", "Weights", "Forward again"};
    return names[phase];
}

}  // namespace tilewalk

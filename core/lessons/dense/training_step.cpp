#include "core/lessons/dense/dense.h"
#include "core/lessons/dense/steps.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/shared/memory_model.h"
#include "core/lessons/shared/running_words.h"
#include "core/lessons/shared/tile_steps.h"
#include "core/problem/heads.h"

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
    if (keys_have_own_input(p)) give(Slot::X_kv, identity(p.N_kv()));
    give(Slot::W_Q, p.projection ? p.projection->W_Q : p.Q);
    give(Slot::W_K, p.projection ? p.projection->W_K : p.K);
    give(Slot::W_V, p.projection ? p.projection->W_V : p.V);
    give(Slot::dO, output_gradient(p));
    give_sink(rec, p);
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
    // sink ← sink − η dsink
    if (!p.logits.sink) return;
    rec.begin(Op::update);
    const Matrix& sink = rec.fetch(Slot::sink);
    const Matrix& gradient = rec.fetch(Slot::dsink);
    rec.store(Slot::sink, 0, sink - p.options.learning_rate * gradient, whole(sink));
    rec.end(2);
}

void walk(Recorder& rec, const Problem& p) {
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
}

// What is walked through: of several heads that share K and V all of them.
Problem packed(const Problem& p) { return packed_group(p).value_or(p); }

std::int64_t estimate(const Problem& one_head) {
    const Problem p = packed(one_head);
    const double N = p.N(), M = p.N_kv(), d = p.d();
    const double model = p.projection ? static_cast<double>(p.projection->X.cols()) : N + M;
    const int more = logit_steps(p, Capped::kept);
    // X, X_kv; W, dW, the new W; twice Q, K, V, O, S, S masked, P̃, P, m, ℓ; dO, dQ, dK, dV, dP, dS, D
    return dense_bytes((N + M) * model + 9 * model * d +
                       2 * (2 * N * d + 2 * M * d + (4 + more) * N * M + 2 * N) + 2 * N * d + 2 * M * d +
                       (2 + more) * N * M + 3 * N + 2);
}

std::span<const CodeLine> code_of(const Problem& p) {
    static const CodeLine lines[] = {
        {0, "forward"},
        {1, "Q, K, V ← X W_Q, X W_K, X W_V", Op::project},
        {1, "S ← scale · Q Kᵀ", Op::scores},
        {1, "S ← cap · tanh(S ÷ cap)", Op::softcap},
        {1, "S ← S − slope · distance", Op::bias},
        {1, "S ← −∞ where masked", Op::mask},
        {1, "m ← rowmax(S)", Op::row_max},
        {1, "P̃ ← exp(S − m)", Op::exponentials},
        {1, "ℓ ← rowsum(P̃)", Op::row_sum},
        {1, "P ← P̃ ⊘ ℓ", Op::divide},
        {1, "O ← P V", Op::output},
        {1, "loss ← sum(dO ⊙ O)", Op::loss},
        {0, "backward"},
        {1, "dV ← Pᵀ dO", Op::dv},
        {1, "dP ← dO Vᵀ", Op::dp},
        {1, "D  ← rowsum(P ⊙ dP)", Op::row_dot},
        {1, "dsink ← −Σ exp(sink − L) D", Op::sink_gradient},
        {1, "dS ← P ⊙ (dP − D)", Op::ds},
        {1, "dS ← dS_cap ⊙ (1 − (S ÷ cap)²)", Op::cap_gradient},
        {1, "dQ ← scale · dS K", Op::dq},
        {1, "dK ← scale · dSᵀ Q", Op::dk},
        {0, "for W in W_Q, W_K, W_V"},
        {1, "dW ← Xᵀ dQ (dK, dV)", Op::weight_gradient},
        {1, "W  ← W − η dW", Op::update},
        {0, "forward again: a smaller loss?", Op::loss, 3},
    };
    static const FaultCode code(lines, {},
                                {{Op::row_max, "m ← max(rowmax(S), sink)"},
                                 {Op::row_sum, "ℓ ← rowsum(P̃) + exp(sink − m)"},
                                 {Op::divide, "P ← P̃ ⊘ ℓ,  L ← m + ln ℓ"}});
    return code.of(p);
}

std::string lane(const Problem&, int phase) {
    static const char* const names[] = {"Forward", "Backward", "Weights", "Forward again"};
    return names[phase];
}

// ---- What it moves

// Sizes in elements; the element size comes in at the end.
struct Sizes {
    std::int64_t queries, keys;  // N × d, N_kv × d
    std::int64_t x, x_kv;        // inputs of queries and of keys
    std::int64_t w, w_kv;        // weights of queries and of keys
};

Sizes sizes(const Problem& p) {
    const std::int64_t N = p.N(), M = p.N_kv(), d = p.d();
    // Without a projection each position has an input of its own, so the identity has as many columns as
    // rows.
    const std::int64_t model = p.projection ? p.projection->X.cols() : N,
                       model_kv = p.projection ? p.projection->X.cols() : M;
    return {N * d, M * d, N * model, M * model_kv, model * d, model_kv * d};
}

TrafficModel add(const TrafficModel& a, const TrafficModel& b) {
    return {a.hbm_read + b.hbm_read, a.hbm_write + b.hbm_write, 0};
}

TrafficModel in_bytes(const Problem& p, std::int64_t read, std::int64_t written) {
    return {read * p.element_bytes, written * p.element_bytes, 0};
}

// Q = X W_Q, K = X W_K, V = X W_V; attention; the loss from dO and O
TrafficModel pass_model(const Problem& p, const Sizes& s) {
    const TrafficModel project = in_bytes(p, s.x + s.w + 2 * (s.x_kv + s.w_kv), s.queries + 2 * s.keys);
    const TrafficModel L{0, p.logits.sink ? 4LL * p.N() : 0, 0};  // for the gradient of the sink
    return add(add(add(project, standard_forward_model(p)), L), in_bytes(p, 2 * s.queries, 0));
}

// Projections, forward pass and loss; backward pass; gradients and update of the weights; the first once
// more.
TrafficModel model(const Problem& one_head) {
    const Problem p = packed(one_head);
    const Sizes s = sizes(p);
    const std::int64_t w = s.w + 2 * s.w_kv;
    const TrafficModel gradients = in_bytes(p, s.x + s.queries + 2 * (s.x_kv + s.keys), w),
                       update = in_bytes(p, 2 * w, w), pass = pass_model(p, s);
    const TrafficModel sink = p.logits.sink ? TrafficModel{8, 4, 0} : TrafficModel{};
    return add(add(add(pass, backward_model(p)), add(gradients, add(update, sink))), pass);
}

constexpr Slot results[] = {Slot::W_Q, Slot::W_K, Slot::W_V, Slot::dQ, Slot::dK, Slot::dV, Slot::O};
// The weights are what one changes here, even where X is I and they are Q, K, V.
constexpr Slot inputs[] = {Slot::X, Slot::W_Q, Slot::W_K, Slot::W_V, Slot::dO};

}  // namespace

bool keys_have_own_input(const Problem& p) { return p.packed > 1 || p.N() != p.N_kv(); }

Slot input_of(const Problem& p, const WeightPath& path) {
    return path.weight != Slot::W_Q && keys_have_own_input(p) ? Slot::X_kv : Slot::X;
}

constinit const Lesson training_step = {
    .id = "training-step",
    .title = "Training step",
    .summary = "Where the gradients go: one update of W_Q, W_K and W_V, and the loss before and after it.",
    .chapter = ChapterId::training,
    .tab = "Training step",
    .picture = Picture::training,
    .walk = walk,
    .estimate = estimate,
    .code = code_of,
    .explain = explain_dense,
    .say = say_weight,
    .symbol = block_symbol,
    .indices = own_indices,
    .step_symbol = dense_step_symbol,
    .lane = lane,
    .card = no_card,
    .model = model,
    .rival = {},
    .beside = nullptr,
    .results = results,
    .inputs = inputs,
    .faults = no_faults,
    .division = Division::none,
    .choices = chooses_learning_rate | takes_logits | takes_sink | packs_heads,
    .by_cell = true,
    .one_row = false,
};

}  // namespace tilewalk

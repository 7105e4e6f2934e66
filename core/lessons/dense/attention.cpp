#include "core/lessons/dense/dense.h"
#include "core/lessons/dense/steps.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/shared/memory_model.h"
#include "core/lessons/shared/running_words.h"
#include "core/lessons/shared/tile_steps.h"

namespace tilewalk {

namespace {

// A result leaves the chip: it is counted as written and lies in HBM from now on.
void store(Recorder& rec, Slot from, Slot to) {
    rec.begin(Op::store);
    const Matrix& A = rec.read(from);
    rec.store(to, 0, A, {0, 0, static_cast<int>(A.rows()), static_cast<int>(A.cols())});
    rec.end();
}

void walk(Recorder& rec, const Problem& p) {
    rec.ignore_sram();
    rec.give(Slot::Q, p.Q, p.N());
    rec.give(Slot::K, p.K, p.N_kv());
    rec.give(Slot::V, p.V, p.N_kv());
    give_sink(rec, p);
    DenseForward forward{rec, p, true};

    // Kernel 1: S = Q Kᵀ, written to HBM                                                     (N × N_kv)
    rec.phase(0);
    rec.begin(Op::load);
    rec.fetch(Slot::Q);
    rec.fetch(Slot::K);
    rec.end();
    forward.scores();
    store(rec, Slot::S, Slot::S_hbm);

    // Kernel 2: P = softmax(S), read back and written again                                  (N × N_kv)
    rec.phase(1);
    rec.begin(Op::load);
    rec.load(Slot::S_hbm, 0, Slot::S);
    rec.end();
    forward.softmax();
    store(rec, Slot::Prob, Slot::P_hbm);

    // Kernel 3: O = P V                                                                      (N × d)
    rec.phase(2);
    rec.begin(Op::load);
    rec.load(Slot::P_hbm, 0, Slot::Prob);
    rec.fetch(Slot::V);
    rec.end();
    forward.output();
    store(rec, Slot::Oi, Slot::O);
}

std::int64_t estimate(const Problem& p) {
    const double N = p.N(), M = p.N_kv(), d = p.d();
    // Q, K, V; S as computed, scaled, stored and masked, capped, biased, P̃, P twice; m, ℓ; O twice
    const int more = logit_steps(p, Capped::dropped);
    return dense_bytes(N * d + 2 * M * d + (7 + more) * N * M + 2 * N + 2 * N * d);
}

std::span<const CodeLine> code_of(const Problem& p) {
    static const CodeLine lines[] = {
        {0, "kernel S = Q Kᵀ"},
        {1, "load Q, K", Op::load, 0},
        {1, "S ← Q Kᵀ", Op::scores},
        {1, "S ← scale · S", Op::scale},
        {1, "S ← cap · tanh(S ÷ cap)", Op::softcap},
        {1, "store S", Op::store, 0},
        {0, "kernel softmax"},
        {1, "load S", Op::load, 1},
        {1, "S ← S − slope · distance", Op::bias},
        {1, "S ← −∞ where masked", Op::mask},
        {1, "m ← rowmax(S)", Op::row_max},
        {1, "P̃ ← exp(S − m)", Op::exponentials},
        {1, "ℓ ← rowsum(P̃)", Op::row_sum},
        {1, "P ← P̃ ⊘ ℓ", Op::divide},
        {1, "store P", Op::store, 1},
        {0, "kernel O = P V"},
        {1, "load P, V", Op::load, 2},
        {1, "O ← P V", Op::output},
        {1, "store O", Op::store, 2},
    };
    static const std::vector<CodeLine> unscaled = [] {
        std::vector<CodeLine> out(std::begin(lines), std::end(lines));
        std::erase_if(out, [](const CodeLine& line) { return line.op == Op::scale; });
        return out;
    }();
    static const std::initializer_list<SinkLine> sink = {{Op::row_max, "m ← max(rowmax(S), sink)"},
                                                         {Op::row_sum, "ℓ ← rowsum(P̃) + exp(sink − m)"}};
    static const FaultCode code(lines, {}, sink), plain(unscaled, {}, sink);
    return (p.softmax_scale() == 1.0 ? plain : code).of(p);
}

std::string lane(const Problem&, int phase) {
    return phase == 0 ? "Scores" : phase == 1 ? "Softmax" : "Output";
}

constexpr Slot results[] = {Slot::O, Slot::P_hbm};

}  // namespace

constinit const Lesson attention = {
    .id = "attention",
    .title = "Attention",
    .summary =
        "Standard attention: three kernels that hand the N × N scores and weights to each other through "
        "HBM.",
    .chapter = ChapterId::attention,
    .tab = "Attention",
    .picture = Picture::attention,
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
    .model = standard_forward_model,
    .rival = {"FlashAttention-2", flash_forward_model, "less: no N × N matrix goes through HBM"},
    .beside = nullptr,
    .results = results,
    .inputs = {},
    .faults = no_faults,
    .division = Division::none,
    .choices = takes_logits | takes_sink,
    .by_cell = true,
    .one_row = false,
};

}  // namespace tilewalk

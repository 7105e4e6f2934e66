#include "core/lessons/dense/dense.h"
#include "core/lessons/dense/steps.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/shared/memory_model.h"
#include "core/lessons/shared/tile_steps.h"

namespace tilewalk {

namespace {

void walk(Recorder& rec, const Problem& p) {
    const auto forward = attention.build(p);
    rec.ignore_sram();
    rec.give(Slot::Q, p.Q, p.N());
    rec.give(Slot::K, p.K, p.N_kv());
    rec.give(Slot::V, p.V, p.N_kv());
    if (p.logits.softcap) rec.give(Slot::S_hbm, forward->result(Slot::S_hbm), p.N());
    rec.give(Slot::P_hbm, forward->result(Slot::P_hbm), p.N());
    rec.give(Slot::O, forward->result(Slot::O), p.N());
    if (p.logits.sink) {
        const Matrix &m = forward->live(Slot::m, forward->size() - 1).value->data,
                     &l = forward->live(Slot::l, forward->size() - 1).value->data;
        rec.give(Slot::L, log_sum(m, l), p.N());
        give_sink(rec, p);
    }
    rec.give(Slot::dO, output_gradient(p), p.N());
    dense_backward(rec, p, 0, false);
}

std::int64_t estimate(const Problem& p) {
    const double N = p.N(), M = p.N_kv(), d = p.d();
    // Q, O, dO, dQ; K, V, dK, dV; P, dP, dS; D; with a softcap S and dS before it
    return dense_bytes(4 * N * d + 4 * M * d + (p.logits.softcap ? 5 : 3) * N * M + 2 * N + 1);
}

std::span<const CodeLine> code_of(const Problem& p) {
    static const CodeLine lines[] = {
        {0, "given Q, K, V, P, dO"},
        {0, "dV ← Pᵀ dO", Op::dv},
        {0, "dP ← dO Vᵀ", Op::dp},
        {0, "D  ← rowsum(P ⊙ dP)", Op::row_dot},
        {0, "dsink ← −Σ exp(sink − L) D", Op::sink_gradient},
        {0, "dS ← P ⊙ (dP − D)", Op::ds},
        {0, "dS ← dS_cap ⊙ (1 − (S ÷ cap)²)", Op::cap_gradient},
        {0, "dQ ← scale · dS K", Op::dq},
        {0, "dK ← scale · dSᵀ Q", Op::dk},
    };
    static const FaultCode code(lines, {});
    return code.of(p);
}

std::string lane(const Problem&, int phase) {
    static const char* const names[] = {"dV", "dP", "dS", "dQ", "dK"};
    return names[phase];
}

constexpr Slot results[] = {Slot::dQ, Slot::dK, Slot::dV};

}  // namespace

constinit const Lesson attention_backward = {
    .id = "backward",
    .title = "Backward",
    .summary =
        "The gradients of standard attention: dV, dP, the softmax's dS, dQ and dK, from dO and the stored "
        "P.",
    .chapter = ChapterId::backward,
    .tab = "dense",
    .picture = Picture::dense_backward,
    .walk = walk,
    .estimate = estimate,
    .code = code_of,
    .explain = explain_dense,
    .say = says_nothing,
    .symbol = block_symbol,
    .indices = own_indices,
    .step_symbol = dense_step_symbol,
    .lane = lane,
    .card = no_card,
    .model = backward_model,
    .rival = {"Flash backward", flash_backward_model, "less: no N × N matrix goes through HBM"},
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

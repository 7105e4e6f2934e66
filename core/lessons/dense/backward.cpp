#include "core/lessons/dense/backward.h"

#include "core/lessons/dense/attention.h"
#include "core/lessons/dense/steps.h"

namespace tilewalk {

std::shared_ptr<const Trace> backward(const Problem& p) {
    const auto forward = attention(p);
    Recorder rec(p, "backward");
    rec.ignore_sram();
    rec.give(Slot::Q, p.Q, p.N());
    rec.give(Slot::K, p.K, p.N_kv());
    rec.give(Slot::V, p.V, p.N_kv());
    rec.give(Slot::P_hbm, forward->result(Slot::P_hbm), p.N());
    rec.give(Slot::O, forward->result(Slot::O), p.N());
    rec.give(Slot::dO, output_gradient(p), p.N());
    dense_backward(rec, p, 0, false);
    return rec.finish();
}

std::int64_t backward_bytes(const Problem& p) {
    const double N = p.N(), M = p.N_kv(), d = p.d();
    // Q, O, dO, dQ; K, V, dK, dV; P, dP, dS; D
    return dense_bytes(4 * N * d + 4 * M * d + 3 * N * M + N);
}

std::span<const CodeLine> backward_code(const Problem&) {
    static const CodeLine lines[] = {
        {0, "given Q, K, V, P, dO"}, {0, "dV ← Pᵀ dO"},        {0, "dP ← dO Vᵀ"},
        {0, "D  ← rowsum(P ⊙ dP)"},  {0, "dS ← P ⊙ (dP − D)"}, {0, "dQ ← scale · dS K"},
        {0, "dK ← scale · dSᵀ Q"},
    };
    return lines;
}

std::string backward_lane(const Problem&, int phase) {
    static const char* const names[] = {"dV", "dP", "dS", "dQ", "dK"};
    return names[phase];
}

}  // namespace tilewalk

#include "core/lessons/dense/attention.h"

#include "core/lessons/dense/steps.h"

namespace tilewalk {

namespace {

// A result leaves the chip: it is counted as written and lies in HBM from now on.
void store(Recorder& rec, Slot from, Slot to) {
    rec.begin(Op::store);
    const Matrix& A = rec.read(from);
    rec.store(to, 0, A, {0, 0, static_cast<int>(A.rows()), static_cast<int>(A.cols())});
    rec.end();
}

}  // namespace

std::shared_ptr<const Trace> attention(const Problem& p) {
    Recorder rec(p, "attention");
    rec.ignore_sram();
    rec.give(Slot::Q, p.Q, p.N());
    rec.give(Slot::K, p.K, p.N_kv());
    rec.give(Slot::V, p.V, p.N_kv());
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
    return rec.finish();
}

std::int64_t dense_bytes(double numbers) {
    constexpr std::int64_t steps = 48, accesses = 8;  // more than any dense lesson has
    constexpr std::int64_t frame =
        steps * static_cast<std::int64_t>(2 * sizeof(Step) +
                                          accesses * (2 * sizeof(Access) + sizeof(Value) + 48)) +
        slot_count * 64;
    return numbers > 1e17 ? std::int64_t{1} << 62 : frame + 8 * static_cast<std::int64_t>(numbers);
}

std::int64_t attention_bytes(const Problem& p) {
    const double N = p.N(), M = p.N_kv(), d = p.d();
    // Q, K, V; S as computed, scaled, stored and masked, P̃, P twice; m, ℓ; O twice
    return dense_bytes(N * d + 2 * M * d + 7 * N * M + 2 * N + 2 * N * d);
}

std::span<const CodeLine> attention_code(const Problem& p) {
    static const CodeLine scaled[] = {
        {0, "kernel S = Q Kᵀ"}, {1, "load Q, K"},      {1, "S ← Q Kᵀ"},      {1, "S ← scale · S"},
        {1, "store S"},         {0, "kernel softmax"}, {1, "load S"},        {1, "S ← −∞ where masked", true},
        {1, "m ← rowmax(S)"},   {1, "P̃ ← exp(S − m)"}, {1, "ℓ ← rowsum(P̃)"}, {1, "P ← P̃ ⊘ ℓ"},
        {1, "store P"},         {0, "kernel O = P V"}, {1, "load P, V"},     {1, "O ← P V"},
        {1, "store O"},
    };
    static const std::vector<CodeLine> plain = [] {
        std::vector<CodeLine> lines(std::begin(scaled), std::end(scaled));
        lines.erase(lines.begin() + 3);
        return lines;
    }();
    if (p.softmax_scale() == 1.0) return plain;
    return scaled;
}

std::string attention_lane(const Problem&, int phase) {
    return phase == 0 ? "Scores" : phase == 1 ? "Softmax" : "Output";
}

}  // namespace tilewalk

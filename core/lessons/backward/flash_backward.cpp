#include "core/base/exactly.h"
#include "core/lessons/backward/backward.h"
#include "core/lessons/backward/explain.h"
#include "core/lessons/forward/forward.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/shared/memory_model.h"
#include "core/lessons/shared/tile_steps.h"
#include "core/problem/logits.h"

namespace tilewalk {

namespace {

bool keys_outside(const Problem& p) { return p.options.order == BackwardOrder::key_outer; }

// The weights from the scores and L, one exp each. A row that sees no key has L = −∞ and weights of 0.
Matrix weights_of(const Matrix& S, const Matrix& L) {
    const Matrix base = base_of(L);
    return exp_exactly(S.colwise() - base.col(0));
}

// A sum that grows either on chip, in `chip`, or in HBM, in tile `tile` of `hbm`: then this step reads it
// there, adds, and writes it back.
struct Sum {
    Slot chip, hbm;
    bool in_hbm;
    int tile;
};

void add(Recorder& rec, const Sum& sum, Format format, const Matrix& more, Region at) {
    const Matrix& old = sum.in_hbm ? rec.fetch(sum.hbm, sum.tile) : rec.read(sum.chip);
    const Matrix& now = rec.write(sum.chip, round_to(format, old + more), at);
    if (sum.in_hbm) rec.store(sum.hbm, sum.tile, now, at);
}

// S as in the forward pass, then P = exp(S − Lᵢ)                                               (Br × Bc)
void recompute(Recorder& rec, const Problem& p, const StepTile& t) {
    const std::int64_t Br = t.q.rows, Bc = t.k.rows;
    score_steps(rec, p, t, Capped::kept);
    rec.begin(Op::recompute, t.i, t.j);
    const Matrix& S = rec.read(Slot::S);
    const Matrix& Li = rec.read(Slot::Li);
    const Matrix zeros = Matrix::Zero(t.q.rows, 1);
    rec.write(Slot::Prob, round_to(p.precision.softmax, weights_of(S, p.switches.no_lse ? zeros : Li)), t.S);
    rec.end(2 * Br * Bc);
}

// dVⱼ, dP and dS of one tile
void weight_gradients(Recorder& rec, const Problem& p, const StepTile& t) {
    const std::int64_t Br = t.q.rows, Bc = t.k.rows, d = p.d();

    // dVⱼ ← dVⱼ + Pᵀ dOᵢ                                                                      (Bc × d)
    rec.begin(Op::dv, t.i, t.j);
    const Matrix& P = rec.read(Slot::Prob);
    const Matrix& dOi = rec.read(Slot::dOi);
    const Matrix cast = round_to(p.precision.weights, P);
    add(rec, {Slot::dVj, Slot::dV, !keys_outside(p), t.j}, p.precision.accumulator, cast.transpose() * dOi,
        t.k);
    rec.end(2 * Br * Bc * d);

    // dP = dOᵢ Vⱼᵀ                                                                            (Br × Bc)
    rec.begin(Op::dp, t.i, t.j);
    rec.read(Slot::dOi);
    const Matrix& Vj = rec.read(Slot::Vj);
    const Matrix& dP = rec.write(Slot::dP, round_to(p.precision.scores, dOi * Vj.transpose()), t.S);
    rec.end(2 * Br * Bc * d);

    // dS = P ⊙ (dP − Dᵢ)                                                                      (Br × Bc)
    rec.begin(Op::ds, t.i, t.j);
    rec.read(Slot::Prob);
    rec.read(Slot::dP);
    const Matrix& Di = rec.read(Slot::Di);
    rec.write(Slot::dS, round_to(p.precision.softmax, P.cwiseProduct(dP.colwise() - Di.col(0))), t.S);
    rec.end(2 * Br * Bc);
    if (!p.logits.softcap) return;

    // dS ← dS ⊙ (1 − (S ÷ cap)²): back through the softcap, before bias and mask               (Br × Bc)
    rec.begin(Op::cap_gradient, t.i, t.j);
    const Matrix& dS = rec.read(Slot::dS);
    const Matrix slope = cap_slope(p, rec.read(Slot::S_cap));
    rec.write(Slot::dS, round_to(p.precision.softmax, dS.cwiseProduct(slope)), t.S);
    rec.end(4 * Br * Bc);
}

// dQᵢ and dKⱼ of one tile
void input_gradients(Recorder& rec, const Problem& p, const StepTile& t) {
    const std::int64_t Br = t.q.rows, Bc = t.k.rows, d = p.d();
    const double scale = p.softmax_scale();
    const std::int64_t flops = 2 * Br * Bc * d + (scale == 1.0 ? 0 : Br * Bc);

    // dQᵢ ← dQᵢ + scale · dS Kⱼ                                                               (Br × d)
    rec.begin(Op::dq, t.i, t.j);
    const Matrix dS = round_to(p.precision.weights, rec.read(Slot::dS));
    const Matrix& Kj = rec.read(Slot::Kj);
    add(rec, {Slot::dQi, Slot::dQ, keys_outside(p), t.i}, p.precision.accumulator, scale * dS * Kj, t.q);
    rec.end(flops);

    // dKⱼ ← dKⱼ + scale · dSᵀ Qᵢ                                                              (Bc × d)
    rec.begin(Op::dk, t.i, t.j);
    rec.read(Slot::dS);
    const Matrix& Qi = rec.read(Slot::Qi);
    add(rec, {Slot::dKj, Slot::dK, !keys_outside(p), t.j}, p.precision.accumulator,
        scale * dS.transpose() * Qi, t.k);
    rec.end(flops);
}

void load_queries(Recorder& rec, int i, int j) {
    rec.begin(Op::load_q, i, j);
    rec.load(Slot::Q, i, Slot::Qi);
    rec.load(Slot::dO, i, Slot::dOi);
    rec.load(Slot::L, i, Slot::Li);
    rec.load(Slot::D, i, Slot::Di);
    rec.end();
}

// One tile, or a `skip` where the mask removes it whole: then nothing is loaded for it
void walk_tile(Recorder& rec, const Problem& p, int i, int j) {
    if (tile_cover(p, i, j) == TileCover::none) return skip_tile(rec, i, j);
    const StepTile tile = tile_at(p, i, j);
    keys_outside(p) ? load_queries(rec, i, j) : load_keys(rec, i, j);
    recompute(rec, p, tile);
    weight_gradients(rec, p, tile);
    input_gradients(rec, p, tile);
}

// dsink = −Σ exp(sink − L) D: what every query gave the sink, times what it cost it
void sink_gradient(Recorder& rec, const Problem& p) {
    rec.begin(Op::sink_gradient);
    const double sink = rec.fetch(Slot::sink)(0, 0);
    double total = 0;
    for (int i = 0; i < p.Tr(); ++i) {
        const Matrix& L = rec.fetch(Slot::L, i);
        const Matrix& D = rec.fetch(Slot::D, i);
        total -= L.unaryExpr([=](double l) { return exp_exactly(sink - l); }).cwiseProduct(D).sum();
    }
    rec.store(Slot::dsink, 0, Matrix::Constant(1, 1, round_to(p.precision.softmax, total)), {0, 0, 1, 1});
    rec.end(4LL * p.N());
}

// Dᵢ = rowsum(dOᵢ ⊙ Oᵢ), before the tiles; what will grow in HBM starts there at 0
void preprocess(Recorder& rec, const Problem& p) {
    for (int i = 0; i < p.Tr(); ++i) {
        const Region q = query_rows(p, i);
        rec.begin(Op::preprocess, i);
        const Matrix& O = rec.fetch(Slot::O, i);
        const Matrix& dO = rec.fetch(Slot::dO, i);
        rec.store(Slot::D, i, round_to(p.precision.softmax, dO.cwiseProduct(O).rowwise().sum()),
                  {q.row, 0, q.rows, 1});
        if (keys_outside(p)) rec.store(Slot::dQ, i, Matrix::Zero(q.rows, q.cols), q);
        rec.end(std::int64_t{2} * q.rows * q.cols);
    }
    if (p.logits.sink) sink_gradient(rec, p);
    if (keys_outside(p)) return;
    rec.begin(Op::init);
    for (int j = 0; j < p.Tc(); ++j) {
        const Region k = key_rows(p, j);
        rec.store(Slot::dK, j, Matrix::Zero(k.rows, k.cols), k);
        rec.store(Slot::dV, j, Matrix::Zero(k.rows, k.cols), k);
    }
    rec.end();
}

// FlashAttention-2: dKⱼ and dVⱼ grow on chip while the query blocks pass; dQ grows in HBM
void walk_key_block(Recorder& rec, const Problem& p, int j) {
    const Region k = key_rows(p, j);
    if (query_blocks_looking(p, j) > 0) load_keys(rec, -1, j);

    rec.begin(Op::init, -1, j);
    rec.write(Slot::dKj, Matrix::Zero(k.rows, k.cols), k);
    rec.write(Slot::dVj, Matrix::Zero(k.rows, k.cols), k);
    rec.end();

    for (int i = 0; i < p.Tr(); ++i) walk_tile(rec, p, i, j);

    rec.begin(Op::store, -1, j);
    rec.store(Slot::dK, j, round_to(p.precision.output, rec.read(Slot::dKj)), k);
    rec.store(Slot::dV, j, round_to(p.precision.output, rec.read(Slot::dVj)), k);
    rec.end();
}

// The other order: dQᵢ grows on chip while the key blocks pass; dK and dV grow in HBM
void walk_query_block(Recorder& rec, const Problem& p, int i) {
    const Region q = query_rows(p, i);
    if (key_blocks_seen(p, i) > 0) load_queries(rec, i, -1);

    rec.begin(Op::init, i);
    rec.write(Slot::dQi, Matrix::Zero(q.rows, q.cols), q);
    rec.end();

    for (int j = 0; j < p.Tc(); ++j) walk_tile(rec, p, i, j);

    rec.begin(Op::store, i);
    rec.store(Slot::dQ, i, round_to(p.precision.output, rec.read(Slot::dQi)), q);
    rec.end();
}

// What the forward pass left in HBM: O and L; m and ℓ beside them, for comparison only. The switches break
// the backward kernel alone; a forward pass in the same formats went before it.
void give_forward_results(Recorder& rec, const Problem& p) {
    Problem whole = p;
    whole.switches = {};
    whole.savings = {};
    const auto forward = flash_forward.build(whole);
    Matrix m(p.N(), 1), l(p.N(), 1);
    for (int k = 0; k < forward->size(); ++k) {
        if (forward->step(k).op != Op::store) continue;
        const Value &mi = *forward->live(Slot::m, k).value, &li = *forward->live(Slot::l, k).value;
        m.middleRows(mi.region.row, mi.region.rows) = mi.data;
        l.middleRows(li.region.row, li.region.rows) = li.data;
    }
    rec.give(Slot::O, forward->result(Slot::O), p.Br);
    rec.give(Slot::L, forward->result(Slot::L), p.Br);
    rec.give(Slot::m_hbm, m, p.Br);
    rec.give(Slot::l_hbm, l, p.Br);
}

void walk(Recorder& rec, const Problem& p) {
    give_rounded_inputs(rec, p);
    rec.give(Slot::dO, round_to(p.precision.inputs, output_gradient(p)), p.Br);
    give_forward_results(rec, p);
    // Sums that grow in HBM are kept in fp32 there, whatever the inputs are; they stay in the accumulators'
    // format to the end.
    if (keys_outside(p)) {
        rec.count_as_fp32(Slot::dQ);
    } else {
        rec.count_as_fp32(Slot::dK);
        rec.count_as_fp32(Slot::dV);
    }
    preprocess(rec, p);
    const int blocks = keys_outside(p) ? p.Tc() : p.Tr();
    for (int b = 0; b < blocks; ++b) {
        rec.phase(b);
        keys_outside(p) ? walk_key_block(rec, p, b) : walk_query_block(rec, p, b);
    }
}

std::int64_t estimate(const Problem& p) {
    const std::int64_t N = p.N(), M = p.N_kv(), d = p.d();
    // The doubles in the values: what is given, the results, and per tile S (twice if masked), P, dP, dS, dV,
    // dK and dQ, one or two of them also stored. The forward walk that is made first is gone by the end, but
    // needs its room until then.
    return tiled_bytes({.tiles = std::int64_t{p.Tr()} * p.Tc(),
                        .per_tile = 12 + logit_steps(p, Capped::kept),
                        .beside = 8 * (std::int64_t{p.Tr()} + p.Tc()),
                        .accesses = 8,
                        .doubles = 4 * N * d + 3 * M * d + 4 * N +
                                   (5 + logit_steps(p, Capped::kept) + (p.logits.softcap ? 1 : 0)) * N * M +
                                   2 * p.Tc() * N * d + 4 * p.Tr() * M * d + 2 * N * d + 4 * M * d}) +
           flash_forward.estimate(p);
}

std::span<const CodeLine> code_of(const Problem& p) {
    static const CodeLine key_outer[] = {
        {0, "for all i:  Dᵢ ← rowsum(dOᵢ ⊙ Oᵢ),  dQᵢ ← 0", Op::preprocess},
        {0, "dsink ← −Σ exp(sink − L) D", Op::sink_gradient},
        {0, "for j in 0 … Tc−1"},
        {1, "load Kⱼ, Vⱼ", Op::load_kv},
        {1, "dKⱼ ← 0,  dVⱼ ← 0", Op::init},
        {1, "for i in 0 … Tr−1", Op::skip},
        {2, "load Qᵢ, dOᵢ, Lᵢ, Dᵢ", Op::load_q},
        {2, "S  ← scale · Qᵢ Kⱼᵀ", Op::scores},
        {2, "S, S_cap ← cap · tanh(S ÷ cap)", Op::softcap},
        {2, "S  ← S − slope · distance", Op::bias},
        {2, "S  ← −∞ where masked", Op::mask},
        {2, "P  ← exp(S − Lᵢ)", Op::recompute},
        {2, "dVⱼ ← dVⱼ + Pᵀ dOᵢ", Op::dv},
        {2, "dP ← dOᵢ Vⱼᵀ", Op::dp},
        {2, "dS ← P ⊙ (dP − Dᵢ)", Op::ds},
        {2, "dS ← dS_cap ⊙ (1 − (S_cap ÷ cap)²)", Op::cap_gradient},
        {2, "dQᵢ ← dQᵢ + scale · dS Kⱼ  in HBM", Op::dq},
        {2, "dKⱼ ← dKⱼ + scale · dSᵀ Qᵢ", Op::dk},
        {1, "store dKⱼ, dVⱼ", Op::store},
    };
    static const CodeLine query_outer[] = {
        {0, "for all i:  Dᵢ ← rowsum(dOᵢ ⊙ Oᵢ)", Op::preprocess},
        {0, "dsink ← −Σ exp(sink − L) D", Op::sink_gradient},
        {0, "dK ← 0,  dV ← 0  in HBM", Op::init, CodeLine::no_block},
        {0, "for i in 0 … Tr−1"},
        {1, "load Qᵢ, dOᵢ, Lᵢ, Dᵢ", Op::load_q},
        {1, "dQᵢ ← 0", Op::init},
        {1, "for j in 0 … Tc−1", Op::skip},
        {2, "load Kⱼ, Vⱼ", Op::load_kv},
        {2, "S  ← scale · Qᵢ Kⱼᵀ", Op::scores},
        {2, "S, S_cap ← cap · tanh(S ÷ cap)", Op::softcap},
        {2, "S  ← S − slope · distance", Op::bias},
        {2, "S  ← −∞ where masked", Op::mask},
        {2, "P  ← exp(S − Lᵢ)", Op::recompute},
        {2, "dVⱼ ← dVⱼ + Pᵀ dOᵢ  in HBM", Op::dv},
        {2, "dP ← dOᵢ Vⱼᵀ", Op::dp},
        {2, "dS ← P ⊙ (dP − Dᵢ)", Op::ds},
        {2, "dS ← dS_cap ⊙ (1 − (S_cap ÷ cap)²)", Op::cap_gradient},
        {2, "dQᵢ ← dQᵢ + scale · dS Kⱼ", Op::dq},
        {2, "dKⱼ ← dKⱼ + scale · dSᵀ Qᵢ  in HBM", Op::dk},
        {1, "store dQᵢ", Op::store},
    };
    static const std::initializer_list<FaultLine> broken = {
        {&Switches::wrong_mask_edge, Op::mask, "S  ← −∞ where masked, edge + 1"},
        {&Switches::no_lse, Op::recompute, "P  ← exp(S)"}};
    static const FaultCode keys(key_outer, broken);
    static const FaultCode queries(query_outer, broken);
    return (keys_outside(p) ? keys : queries).of(p);
}

std::string lane(const Problem& p, int phase) {
    return keys_outside(p) ? key_block_lane(p, phase) : query_block_lane(p, phase);
}

// Loads and stores are named by what they move.
Line step_symbol_of(const Trace& trace, int k) {
    const auto writes_to = [&](Slot slot) {
        return std::ranges::any_of(trace.writes(k), [&](const Access& a) { return a.slot == slot; });
    };
    const Op op = trace.step(k).op;
    if (op == Op::load_q) return {symbol(Slot::Qi), word(" "), symbol(Slot::dOi)};
    if (op == Op::store && writes_to(Slot::dK)) return {symbol(Slot::dK), word(" "), symbol(Slot::dV)};
    if (op == Op::store) return {symbol(Slot::dQ)};
    const bool of_block = op == Op::preprocess && trace.step(k).i >= 0;
    return of_block ? slot_symbol(Slot::D, trace.step(k).i) : step_symbol(op);
}

constexpr Slot results[] = {Slot::dQ, Slot::dK, Slot::dV};

}  // namespace

constinit const Lesson flash_backward = {
    .id = "flash-backward",
    .title = "Flash backward",
    .summary =
        "The tiled backward pass: P is recomputed from L tile by tile, and gives dV, dP, dS, dQ and dK.",
    .chapter = ChapterId::backward,
    .tab = "flash",
    .picture = Picture::flash_backward,
    .walk = walk,
    .estimate = estimate,
    .code = code_of,
    .explain = explain_flash_backward,
    .say = say_gradient,
    .symbol = block_symbol,
    .indices = own_indices,
    .step_symbol = step_symbol_of,
    .lane = lane,
    .card = no_card,
    .model = flash_backward_model,
    .rival = standard_attention(backward_model),
    .beside = nullptr,
    .results = results,
    .inputs = {},
    .faults = backward_faults,
    .division = Division::none,
    .choices = chooses_order | takes_logits | takes_sink,
    .by_cell = false,
    .one_row = false,
};

}  // namespace tilewalk

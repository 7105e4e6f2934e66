#include "core/lessons/dense/steps.h"

#include "core/base/exactly.h"
#include "core/lessons/shared/tile_steps.h"
#include "core/problem/logits.h"
#include "core/walk/formula.h"

#include <algorithm>

namespace tilewalk {

namespace {

Region pairs(const Problem& p) { return {0, 0, p.N(), p.N_kv()}; }
Region queries(const Problem& p) { return {0, 0, p.N(), p.d()}; }
Region keys(const Problem& p) { return {0, 0, p.N_kv(), p.d()}; }
Region column(const Problem& p) { return {0, 0, p.N(), 1}; }
std::int64_t cells(const Region& region) { return std::int64_t{region.rows} * region.cols; }

}  // namespace

bool has_masked_cells(const Problem& p) {
    for (int r = 0; r < p.N(); ++r) {
        const KeyRange seen = visible_keys(p, r);
        if (seen.first > 0 || seen.last < p.N_kv() - 1) return true;
    }
    return false;
}

bool scales_apart(const Trace& trace) {
    return std::ranges::any_of(trace.lesson().code(trace.problem()),
                               [](const CodeLine& line) { return line.op == Op::scale; });
}

void DenseForward::leave_scores(Matrix S) {
    if (staged)
        rec.write(Slot::S, std::move(S), pairs(p));
    else
        rec.store(Slot::S_hbm, 0, std::move(S), pairs(p));
}

void DenseForward::scores() {
    const double scale = p.softmax_scale();
    const std::int64_t products = cells(pairs(p)) * p.d();

    // S = Q Kᵀ, or scale · Q Kᵀ at once                                                      (N × N_kv)
    rec.begin(Op::scores);
    const Matrix& Q = take(Slot::Q);
    const Matrix& K = take(Slot::K);
    Matrix S = Q * K.transpose();
    if (!staged) S *= scale;
    if (p.logits.softcap)
        rec.write(Slot::S, std::move(S), pairs(p));
    else
        leave_scores(std::move(S));
    rec.end(2 * products + (staged || scale == 1.0 ? 0 : cells(pairs(p))));

    // S ← scale · S                                                                          (N × N_kv)
    if (staged && scale != 1.0) {
        rec.begin(Op::scale);
        rec.write(Slot::S, scale * rec.read(Slot::S), pairs(p));
        rec.end(cells(pairs(p)));
    }

    // S ← cap · tanh(S ÷ cap), before S leaves the kernel                                    (N × N_kv)
    if (p.logits.softcap) {
        rec.begin(Op::softcap);
        leave_scores(capped(p, rec.read(Slot::S)));
        rec.end(3 * cells(pairs(p)));
    }
}

void DenseForward::softmax() {
    const std::int64_t all = cells(pairs(p));
    Slot where = staged ? Slot::S : Slot::S_hbm;  // the scores that the next step reads

    // S ← S − slope · distance                                                               (N × N_kv)
    if (p.logits.alibi) {
        rec.begin(Op::bias);
        Matrix farther = biased(p, take_scores(where), 0, 0);
        rec.write(where = Slot::S, std::move(farther), pairs(p));
        rec.end(2 * all);
    }

    // Mask: −∞ where a query must not look
    if (has_masked_cells(p)) {
        rec.begin(Op::mask);
        Matrix masked = take_scores(where);
        for (int r = 0; r < p.N(); ++r)
            for (int c = 0; c < p.N_kv(); ++c)
                if (!visible(p, r, c)) masked(r, c) = minus_infinity;
        rec.write(where = Slot::S, std::move(masked), pairs(p));
        rec.end();
    }

    // m = rowmax(S), the sink among them (N × 1)
    rec.begin(Op::row_max);
    const Matrix& S = take_scores(where);
    Matrix largest = S.rowwise().maxCoeff();
    double sink = minus_infinity;
    if (p.logits.sink) sink = rec.fetch(Slot::sink)(0, 0), largest = largest.cwiseMax(sink);
    const Matrix& m = rec.write(Slot::m, std::move(largest), column(p));
    rec.end(all - (p.logits.sink ? 0 : p.N()));

    // P̃ = exp(S − m). A row that sees no key has m = −∞; 0 stands in for it, so that P̃ becomes 0 instead
    // of NaN.                                                                                (N × N_kv)
    rec.begin(Op::exponentials);
    rec.read(where);
    rec.read(Slot::m);
    const Matrix base = base_of(m);
    const Matrix& E = rec.write(Slot::E, exp_exactly(S.colwise() - base.col(0)), pairs(p));
    rec.end(2 * all);

    // ℓ = rowsum(P̃), and exp(sink − m) of a sink (N × 1)
    rec.begin(Op::row_sum);
    rec.read(Slot::E);
    Matrix total = E.rowwise().sum();
    if (p.logits.sink) rec.read(Slot::sink), rec.read(Slot::m), total += exp_exactly(sink - m.array());
    const Matrix& l = rec.write(Slot::l, std::move(total), column(p));
    rec.end(all + (p.logits.sink ? 2 : -1) * p.N());

    divide(m, l, E);
}

void DenseForward::divide(const Matrix& m, const Matrix& l, const Matrix& E) {
    // P = P̃ ⊘ ℓ. A row that sees no key has ℓ = 0 and keeps P = 0.                            (N × N_kv)
    rec.begin(Op::divide);
    rec.read(Slot::E);
    rec.read(Slot::l);
    const Matrix divisor = divisor_of(l);
    Matrix P = E.array().colwise() / divisor.col(0).array();
    if (staged)
        rec.write(Slot::Prob, std::move(P), pairs(p));
    else
        rec.store(Slot::P_hbm, 0, std::move(P), pairs(p));
    // The gradient of a sink needs L: 1 − rowsum(P) would lose a sink far below the scores.
    const bool keeps_L = !staged && p.logits.sink;
    if (keeps_L) {
        rec.read(Slot::m);
        rec.store(Slot::L, 0, log_sum(m, l), column(p));
    }
    rec.end(cells(pairs(p)) + (keeps_L ? 2 * p.N() : 0));
}

void DenseForward::output() {
    // O = P V                                                                                (N × d)
    rec.begin(Op::output);
    const Matrix& P = take(staged ? Slot::Prob : Slot::P_hbm);
    const Matrix& V = take(Slot::V);
    if (staged)
        rec.write(Slot::Oi, P * V, queries(p));
    else
        rec.store(Slot::O, 0, P * V, queries(p));
    rec.end(2 * cells(pairs(p)) * p.d());
}

namespace {

// A lane for each product, or one for all
struct Lanes {
    Recorder& rec;
    int phase;
    bool one;
    void next() { rec.phase(one ? phase : phase++); }
};

// dV, dP and D = rowsum(P ⊙ dP)
void weight_gradients(Recorder& rec, const Problem& p, Lanes& lanes) {
    const std::int64_t all = cells(pairs(p)), products = 2 * all * p.d();

    // dV = Pᵀ dO                                                                             (N_kv × d)
    lanes.next();
    rec.begin(Op::dv);
    const Matrix& P = rec.fetch(Slot::P_hbm);
    const Matrix& dO = rec.fetch(Slot::dO);
    rec.store(Slot::dV, 0, P.transpose() * dO, keys(p));
    rec.end(products);

    // dP = dO Vᵀ                                                                             (N × N_kv)
    lanes.next();
    rec.begin(Op::dp);
    rec.fetch(Slot::dO);
    const Matrix& V = rec.fetch(Slot::V);
    rec.store(Slot::dP_hbm, 0, dO * V.transpose(), pairs(p));
    rec.end(products);

    // D = rowsum(P ⊙ dP): the mean of dP under the weights of the row                        (N × 1)
    lanes.next();
    rec.begin(Op::row_dot);
    rec.fetch(Slot::P_hbm);
    const Matrix& dP = rec.fetch(Slot::dP_hbm);
    rec.write(Slot::Di, P.cwiseProduct(dP).rowwise().sum(), column(p));
    rec.end(2 * all);
}

// dsink and dS, from what is at hand by now
void score_gradients(Recorder& rec, const Problem& p) {
    const std::int64_t all = cells(pairs(p));

    // dsink = −Σ exp(sink − L) D: what every query gave the sink, times what it cost it
    if (p.logits.sink) {
        rec.begin(Op::sink_gradient);
        const double sink = rec.fetch(Slot::sink)(0, 0);
        const Matrix& L = rec.fetch(Slot::L);
        const Matrix& D = rec.read(Slot::Di);
        const Matrix weight = exp_exactly(Matrix((sink - L.array()).matrix()));
        rec.store(Slot::dsink, 0, Matrix::Constant(1, 1, -weight.cwiseProduct(D).sum()), {0, 0, 1, 1});
        rec.end(4LL * p.N());
    }

    // dS = P ⊙ (dP − D): the derivative of softmax, row by row                               (N × N_kv)
    rec.begin(Op::ds);
    const Matrix& P = rec.read(Slot::P_hbm);
    const Matrix& dP = rec.read(Slot::dP_hbm);
    const Matrix& D = rec.read(Slot::Di);
    const Matrix gradient = P.cwiseProduct(Matrix(dP.colwise() - D.col(0)));
    if (p.logits.softcap)
        rec.write(Slot::dS, gradient, pairs(p));
    else
        rec.store(Slot::dS_hbm, 0, gradient, pairs(p));
    rec.end(2 * all);

    // dS ← dS ⊙ (1 − (S ÷ cap)²): back through the softcap                                   (N × N_kv)
    if (p.logits.softcap) {
        rec.begin(Op::cap_gradient);
        rec.read(Slot::dS);
        const Matrix& S = rec.fetch(Slot::S_hbm);
        rec.store(Slot::dS_hbm, 0, gradient.cwiseProduct(cap_slope(p, S)), pairs(p));
        rec.end(4 * all);
    }
}

// dQ and dK
void input_gradients(Recorder& rec, const Problem& p, Lanes& lanes) {
    const std::int64_t products = 2 * cells(pairs(p)) * p.d();
    const double scale = p.softmax_scale();

    // dQ = scale · dS K                                                                      (N × d)
    lanes.next();
    rec.begin(Op::dq);
    const Matrix& dS = rec.fetch(Slot::dS_hbm);
    const Matrix& K = rec.fetch(Slot::K);
    rec.store(Slot::dQ, 0, scale * (dS * K), queries(p));
    rec.end(products + (scale == 1.0 ? 0 : cells(queries(p))));

    // dK = scale · dSᵀ Q                                                                     (N_kv × d)
    lanes.next();
    rec.begin(Op::dk);
    rec.fetch(Slot::dS_hbm);
    const Matrix& Q = rec.fetch(Slot::Q);
    rec.store(Slot::dK, 0, scale * (dS.transpose() * Q), keys(p));
    rec.end(products + (scale == 1.0 ? 0 : cells(keys(p))));
}

}  // namespace

void dense_backward(Recorder& rec, const Problem& p, int phase, bool one_lane) {
    Lanes lanes{rec, phase, one_lane};
    weight_gradients(rec, p, lanes);
    score_gradients(rec, p);
    input_gradients(rec, p, lanes);
}

std::int64_t dense_bytes(double numbers) {
    constexpr std::int64_t steps = 48, accesses = 8;  // more than any dense lesson has
    constexpr std::int64_t frame =
        steps * static_cast<std::int64_t>(2 * sizeof(Step) +
                                          accesses * (2 * sizeof(Access) + sizeof(Value) + 48)) +
        slot_count * 64;
    return numbers > 1e17 ? std::int64_t{1} << 62 : frame + 8 * static_cast<std::int64_t>(numbers);
}

// Matrices in HBM are named by what moves.
Line dense_step_symbol(const Trace& trace, int k) {
    const Op op = trace.step(k).op;
    const auto reads = trace.reads(k), writes = trace.writes(k);
    if (is_store(op)) return {symbol(writes.back().slot)};
    if (is_load(op) && reads.size() == 1) return {symbol(reads.front().slot)};
    if (is_load(op)) return {symbol(reads.front().slot), word(" "), symbol(reads.back().slot)};
    if (op == Op::project || op == Op::update || op == Op::weight_gradient)
        return slot_symbol(writes.back().slot);
    return step_symbol(op);
}

}  // namespace tilewalk

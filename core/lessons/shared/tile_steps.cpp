#include "core/lessons/shared/tile_steps.h"

#include "core/base/exactly.h"
#include "core/problem/logits.h"
#include "core/problem/savings.h"

#include <cmath>

namespace tilewalk {

StepTile tile_at(const Problem& p, int i, int j) {
    const Region q = query_rows(p, i), k = key_rows(p, j);
    return {i, j, q, k, {q.row, k.row, q.rows, k.rows}, {q.row, 0, q.rows, 1}};
}

Matrix row_maximum(const Matrix& S) {
    if (!S.hasNaN()) return S.rowwise().maxCoeff();
    Matrix out = Matrix::Constant(S.rows(), 1, minus_infinity);
    for (Eigen::Index r = 0; r < S.rows(); ++r)
        for (Eigen::Index c = 0; c < S.cols(); ++c) out(r, 0) = std::fmax(out(r, 0), S(r, c));
    return out;
}

void load_keys(Recorder& rec, int i, int j, int tile) {
    rec.begin(Op::load_kv, i, j);
    rec.load(Slot::K, tile, Slot::Kj);
    rec.load(Slot::V, tile, Slot::Vj);
    rec.end();
}

void skip_tile(Recorder& rec, int i, int j) {
    rec.begin(Op::skip, i, j);
    rec.end();
}

int logit_steps(const Problem& p, Capped kept) {
    const int cap = kept == Capped::kept ? 2 : 1;
    return (p.logits.softcap ? cap : 0) + (p.logits.alibi ? 1 : 0);
}

void softcap_step(Recorder& rec, const Problem& p, int i, int j, const Region& at, Capped kept) {
    rec.begin(Op::softcap, i, j);
    const Matrix S = round_to(p.precision.scores, capped(p, rec.read(Slot::S)));
    if (kept == Capped::kept) rec.write(Slot::S_cap, S, at);
    rec.write(Slot::S, S, at);
    rec.end(3 * S.size());
}

namespace {

// S ← S − slope · distance                                                                    (Br × Bc)
void bias_step(Recorder& rec, const Problem& p, const StepTile& t) {
    rec.begin(Op::bias, t.i, t.j);
    const Matrix S = biased(p, rec.read(Slot::S), t.S.row, t.S.col);
    rec.write(Slot::S, round_to(p.precision.scores, S), t.S);
    rec.end(2 * S.size());
}

// S ← −∞ where a query must not look                                                          (Br × Bc)
void mask_step(Recorder& rec, const Problem& p, const StepTile& t) {
    rec.begin(Op::mask, t.i, t.j);
    Matrix masked = rec.read(Slot::S);
    for (int r = 0; r < t.q.rows; ++r)
        for (int c = 0; c < t.k.rows; ++c)
            if (!passes_mask(p, t.q.row + r, t.k.row + c)) masked(r, c) = minus_infinity;
    rec.write(Slot::S, std::move(masked), t.S);
    rec.end();
}

}  // namespace

const Matrix& product_step(Recorder& rec, const Problem& p, const StepTile& t) {
    const std::int64_t Br = t.q.rows, Bc = t.k.rows, d = p.d();
    const double scale = p.softmax_scale();
    rec.begin(Op::scores, t.i, t.j);
    const Matrix& Qi = rec.read(Slot::Qi);
    const Matrix& Kj = rec.read(Slot::Kj);
    const Matrix& S = rec.write(Slot::S, round_to(p.precision.scores, scale * Qi * Kj.transpose()), t.S);
    rec.end(2 * Br * Bc * d + (scale == 1.0 ? 0 : Br * Bc));
    return S;
}

const Matrix& score_steps(Recorder& rec, const Problem& p, const StepTile& t, Capped kept) {
    product_step(rec, p, t);
    if (p.logits.softcap) softcap_step(rec, p, t.i, t.j, t.S, kept);
    if (p.logits.alibi) bias_step(rec, p, t);
    if (cover_of(p, t.q, t.k) == TileCover::partial) mask_step(rec, p, t);
    return rec.latest(Slot::S);
}

void weight_steps(Recorder& rec, const Problem& p, const StepTile& t, const Matrix& S, const Savings& saved) {
    const std::int64_t Br = t.q.rows, Bc = t.k.rows;
    const Switches& off = p.switches;
    const Format format = p.precision.softmax;

    // m̃ = rowmax(S)                                                                          (Br × 1)
    rec.begin(Op::tile_max, t.i, t.j);
    rec.read(Slot::S);
    const Matrix& m_tile = rec.write(Slot::m_tile, round_to(format, row_maximum(S)), t.column);
    rec.end(Br * (Bc - 1));

    // m ← max(m, m̃)                                                                          (Br × 1)
    rec.begin(Op::new_max, t.i, t.j);
    const Matrix& m_old = rec.read(Slot::m);
    rec.read(Slot::m_tile);
    const Matrix raised = saved.lazy ? lazy_maximum(*saved.lazy, m_old, m_tile) : m_old.cwiseMax(m_tile);
    const Matrix& m_new = rec.write(Slot::m, off.no_max ? m_old : raised, t.column);
    rec.end(Br);

    // α = exp(m_old − m_new)                                                                  (Br × 1)
    rec.begin(Op::correction, t.i, t.j);
    rec.read_previous(Slot::m);
    rec.read(Slot::m);
    const Matrix base = base_of(m_new);
    const Matrix ones = Matrix::Ones(t.q.rows, 1);
    rec.write(Slot::alpha, off.no_correction ? ones : round_to(format, exp_exactly(m_old - base)), t.column);
    rec.end(2 * Br);

    // P̃ = exp(S − m_new), not yet normalised                                                 (Br × Bc)
    rec.begin(Op::exponentials, t.i, t.j);
    rec.read(Slot::S);
    const Matrix& m_read = off.stale_max ? rec.read_previous(Slot::m) : rec.read(Slot::m);
    const auto subtracted = (off.stale_max ? m_read : base).col(0);
    const Matrix exponents = S.colwise() - subtracted;
    rec.write(Slot::P, round_to(format, saved.cubic ? cubic_exp(exponents) : exp_exactly(exponents)), t.S);
    rec.end(2 * Br * Bc);
}

RowStart without_keys(const Problem& p) { return {p.switches.no_max ? 0 : minus_infinity, 0}; }

RowStart row_start(Recorder& rec, const Problem& p) {
    const bool no_max = p.switches.no_max;
    if (!p.logits.sink) return without_keys(p);
    const Format format = p.precision.softmax;
    const double sink = rec.fetch(Slot::sink)(0, 0), m = no_max ? 0 : round_to(format, sink);
    return {m, round_to(format, exp_exactly(sink - m))};
}

void start_values(Recorder& rec, const Region& q, const RowStart& start) {
    const Region column{q.row, 0, q.rows, 1};
    rec.write(Slot::m, Matrix::Constant(q.rows, 1, start.m), column);
    rec.write(Slot::l, Matrix::Constant(q.rows, 1, start.l), column);
    rec.write(Slot::Oi, Matrix::Zero(q.rows, q.cols), q);
}

void give_sink(Recorder& rec, const Problem& p) {
    if (p.logits.sink) rec.give(Slot::sink, Matrix::Constant(1, 1, *p.logits.sink), 1);
}

RowSum row_sum_step(Recorder& rec, const Problem& p, const StepTile& t) {
    const std::int64_t Br = t.q.rows, Bc = t.k.rows;
    rec.begin(Op::row_sum, t.i, t.j);
    const Matrix& alpha = rec.read(Slot::alpha);
    const Matrix& l_old = rec.read(Slot::l);
    const Matrix& P = rec.read(Slot::P);
    const Matrix sum = alpha.cwiseProduct(l_old) + P.rowwise().sum();
    const Matrix& l = rec.write(Slot::l, round_to(p.precision.softmax, sum), t.column);
    rec.end(Br * (1 + Bc));
    return {alpha, l_old, P, l};
}

void output_step(Recorder& rec, const Problem& p, const StepTile& t, const RowSum& sum) {
    const std::int64_t Br = t.q.rows, Bc = t.k.rows, d = p.d();
    rec.begin(Op::output, t.i, t.j);
    rec.read(Slot::alpha);
    const Matrix& O_old = rec.read(Slot::Oi);
    rec.read(Slot::P);
    const Matrix& Vj = rec.read(Slot::Vj);
    const Matrix weights = round_to(p.precision.weights, sum.P);
    const Matrix O = sum.alpha.col(0).asDiagonal() * O_old + weights * Vj;
    rec.write(Slot::Oi, round_to(p.precision.accumulator, O), t.q);
    rec.end(Br * d + 2 * Br * Bc * d);
}

Matrix base_of(const Matrix& m) { return (m.array() == minus_infinity).select(0.0, m); }

Matrix divisor_of(const Matrix& l) { return (l.array() == 0.0).select(1.0, l); }

Matrix divide_rows(const Matrix& A, const Matrix& divisor) {
    const Matrix inverse = divisor.cwiseInverse();
    if ((inverse.array() < infinity).all()) return inverse.col(0).asDiagonal() * A;
    return A.array().colwise() / divisor.col(0).array();
}

void give_rounded_inputs(Recorder& rec, const Problem& p) {
    const Format format = p.precision.inputs;
    rec.give(Slot::Q, round_to(format, p.Q), p.Br);
    rec.give(Slot::K, round_to(format, p.K), p.Bc);
    rec.give(Slot::V, round_to(format, p.V), p.Bc);
    give_sink(rec, p);
}

std::string query_block_lane(const Problem&, int phase) { return "Query block " + std::to_string(phase); }
std::string key_block_lane(const Problem&, int phase) { return "Key block " + std::to_string(phase); }

std::int64_t tiled_bytes(const TileCount& n) {
    const std::int64_t per_value = static_cast<std::int64_t>(sizeof(Value)) + 16 + 16;
    const std::int64_t per_step =
        static_cast<std::int64_t>(sizeof(Step) + static_cast<std::size_t>(n.accesses) * sizeof(Access)) * 2 +
        per_value;
    if (n.tiles > step_budget_bytes / per_step) return n.tiles * per_step;  // no need to look closer
    return (n.tiles * n.per_tile + n.beside) * per_step + 8 * n.doubles;
}

}  // namespace tilewalk

#include "core/lessons/forward/flash_forward.h"

#include "core/lessons/shared/fault_code.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/shared/memory_model.h"

#include <cmath>
#include <limits>

namespace tilewalk {

namespace {

const double minus_infinity = -std::numeric_limits<double>::infinity();

// Element by element through std::exp: Eigen's vectorised exp gives 5.6e-309 for −∞, and the lesson shows 0.
Matrix exp_of(const Matrix& A) {
    return A.unaryExpr([](double x) { return std::exp(x); });
}
Matrix log_of(const Matrix& A) {
    return A.unaryExpr([](double x) { return std::log(x); });
}
// One key block seen by one query block. `q` and `k` are the rows of Q and of K in this tile. The steps are
// the same with every switch; what a step computes is rounded once, to the format of its stage.
void walk_tile(Recorder& rec, const Problem& p, int i, int j, Region q, Region k) {
    const Region tile{q.row, k.row, q.rows, k.rows};
    const Region column{q.row, 0, q.rows, 1};
    const std::int64_t Br = q.rows, Bc = k.rows, d = p.d();
    const double scale = p.softmax_scale();
    const Switches& off = p.switches;
    const Precision& format = p.precision;

    // Load Kⱼ and Vⱼ from HBM to SRAM
    rec.begin(Op::load_kv, i, j);
    rec.load(Slot::K, j, Slot::Kj);
    rec.load(Slot::V, j, Slot::Vj);
    rec.end();

    // S = scale · Qᵢ Kⱼᵀ                                                                     (Br × Bc)
    rec.begin(Op::scores, i, j);
    const Matrix& Qi = rec.read(Slot::Qi);
    const Matrix& Kj = rec.read(Slot::Kj);
    const Matrix* S = &rec.write(Slot::S, round_to(format.scores, scale * Qi * Kj.transpose()), tile);
    rec.end(2 * Br * Bc * d + (scale == 1.0 ? 0 : Br * Bc));

    // Cut the tile with the mask: −∞ where a query must not look
    if (tile_cover(p, i, j) == TileCover::partial) {
        rec.begin(Op::mask, i, j);
        Matrix masked = rec.read(Slot::S);
        for (int r = 0; r < q.rows; ++r)
            for (int c = 0; c < k.rows; ++c)
                if (!passes_mask(p, q.row + r, k.row + c)) masked(r, c) = minus_infinity;
        S = &rec.write(Slot::S, std::move(masked), tile);
        rec.end();
    }

    // m̃ = rowmax(S)                                                                          (Br × 1)
    rec.begin(Op::tile_max, i, j);
    rec.read(Slot::S);
    const Matrix& m_tile = rec.write(Slot::m_tile, round_to(format.softmax, row_maximum(*S)), column);
    rec.end(Br * (Bc - 1));

    // m ← max(m, m̃)                                                                          (Br × 1)
    rec.begin(Op::new_max, i, j);
    const Matrix& m_old = rec.read(Slot::m);
    rec.read(Slot::m_tile);
    const Matrix& m_new = rec.write(Slot::m, off.no_max ? m_old : Matrix(m_old.cwiseMax(m_tile)), column);
    rec.end(Br);

    // α = exp(m_old − m_new). A row that has seen no key yet has m = −∞ on both sides; 0 stands in for m_new
    // there, so that α and P̃ become 0 instead of NaN.
    rec.begin(Op::correction, i, j);
    rec.read_previous(Slot::m);
    rec.read(Slot::m);
    const Matrix base = (m_new.array() == minus_infinity).select(0.0, m_new);
    const Matrix ones = Matrix::Ones(q.rows, 1);
    const Matrix& alpha = rec.write(
        Slot::alpha, off.no_correction ? ones : round_to(format.softmax, exp_of(m_old - base)), column);
    rec.end(2 * Br);

    // P̃ = exp(S − m_new), not yet normalised                                                 (Br × Bc)
    rec.begin(Op::exponentials, i, j);
    rec.read(Slot::S);
    const Matrix& m_read = off.stale_max ? rec.read_previous(Slot::m) : rec.read(Slot::m);
    const auto subtracted = (off.stale_max ? m_read : base).col(0);
    const Matrix& P = rec.write(Slot::P, round_to(format.softmax, exp_of(S->colwise() - subtracted)), tile);
    rec.end(2 * Br * Bc);

    // ℓ ← α ⊙ ℓ + rowsum(P̃)                                                                  (Br × 1)
    rec.begin(Op::row_sum, i, j);
    rec.read(Slot::alpha);
    const Matrix& l_old = rec.read(Slot::l);
    rec.read(Slot::P);
    rec.write(Slot::l, round_to(format.softmax, alpha.cwiseProduct(l_old) + P.rowwise().sum()), column);
    rec.end(Br * (1 + Bc));

    // O ← α ⊙ O + P̃ Vⱼ, still unnormalised                                                   (Br × d)
    rec.begin(Op::output, i, j);
    rec.read(Slot::alpha);
    const Matrix& O_old = rec.read(Slot::Oi);
    rec.read(Slot::P);
    const Matrix& Vj = rec.read(Slot::Vj);
    const Matrix weights = round_to(format.weights, P);
    rec.write(Slot::Oi, round_to(format.accumulator, alpha.col(0).asDiagonal() * O_old + weights * Vj),
              {q.row, 0, q.rows, p.d()});
    rec.end(Br * d + 2 * Br * Bc * d);
}

void walk_query_block(Recorder& rec, const Problem& p, int i) {
    const Region q{i * p.Br, 0, std::min(p.Br, p.N() - i * p.Br), p.d()};
    const Region column{q.row, 0, q.rows, 1};

    // Load Qᵢ from HBM to SRAM
    rec.begin(Op::load_q, i);
    rec.load(Slot::Q, i, Slot::Qi);
    rec.end();

    // m ← −∞, ℓ ← 0, O ← 0
    rec.begin(Op::init, i);
    rec.write(Slot::m, Matrix::Constant(q.rows, 1, p.switches.no_max ? 0 : minus_infinity), column);
    rec.write(Slot::l, Matrix::Zero(q.rows, 1), column);
    rec.write(Slot::Oi, Matrix::Zero(q.rows, p.d()), q);
    rec.end();

    // Stream the key blocks past it; a tile that the mask removes whole is neither loaded nor computed
    for (int j = 0; j < p.Tc(); ++j) {
        if (tile_cover(p, i, j) == TileCover::none) {
            rec.begin(Op::skip, i, j);
            rec.end();
            continue;
        }
        walk_tile(rec, p, i, j, q, {j * p.Bc, 0, std::min(p.Bc, p.N_kv() - j * p.Bc), p.d()});
    }

    // Normalise once: O ← O ⊘ ℓ. A row that saw no key has ℓ = 0 and keeps O = 0.
    rec.begin(Op::normalize, i);
    const Matrix& O_sum = rec.read(Slot::Oi);
    const Matrix& l = rec.read(Slot::l);
    const Matrix divisor = (l.array() == 0.0).select(1.0, l);
    const Matrix& O = rec.write(
        Slot::Oi,
        p.switches.no_division ? O_sum : round_to(p.precision.accumulator, divide_rows(O_sum, divisor)), q);
    rec.end(static_cast<std::int64_t>(q.rows) * p.d());

    // Store Oᵢ and L = m + ln ℓ to HBM: all that the backward pass will need
    rec.begin(Op::store, i);
    rec.read(Slot::Oi);
    const Matrix& m = rec.read(Slot::m);
    rec.read(Slot::l);
    rec.store(Slot::O, i, round_to(p.precision.output, O), q);
    rec.store(Slot::L, i, round_to(p.precision.softmax, m + log_of(l)), column);
    rec.end(2 * static_cast<std::int64_t>(q.rows));
}

}  // namespace

std::shared_ptr<const Trace> flash_forward(const Problem& problem) {
    Recorder rec(problem, "flash-forward");
    give_rounded_inputs(rec, problem);
    for (int i = 0; i < problem.Tr(); ++i) {
        rec.phase(i);
        walk_query_block(rec, problem, i);
    }
    return rec.finish();
}

std::int64_t flash_forward_bytes(const Problem& p) {
    const std::int64_t tiles = static_cast<std::int64_t>(p.Tr()) * p.Tc();
    const std::int64_t N = p.N(), M = p.N_kv(), d = p.d();
    // Every step with its accesses; then the doubles in the values: inputs and outputs once, and per tile
    // S (twice if masked), P, m_tile, m, α, ℓ and O.
    const std::int64_t per_value = static_cast<std::int64_t>(sizeof(Value)) + 16 + 16;
    const std::int64_t per_step =
        static_cast<std::int64_t>(sizeof(Step) + 6 * sizeof(Access)) * 2 + per_value;
    if (tiles > step_budget_bytes / per_step) return tiles * per_step;  // no need to look closer
    const std::int64_t doubles =
        2 * N * d + 2 * M * d + N * d + 3 * N * M + p.Tc() * N * (4 + d) + 4 * N + 2 * N * d;
    return (tiles * 9 + 4 * static_cast<std::int64_t>(p.Tr())) * per_step + 8 * doubles;
}

std::span<const CodeLine> flash_forward_code(const Problem& p) {
    static const CodeLine lines[] = {
        {0, "for i in 0 … Tr−1"},          {1, "load Qᵢ"},         {1, "m ← −∞,  ℓ ← 0,  O ← 0"},
        {1, "for j in 0 … Tc−1"},          {2, "load Kⱼ, Vⱼ"},     {2, "S  ← scale · Qᵢ Kⱼᵀ"},
        {2, "S  ← −∞ where masked", true}, {2, "m̃  ← rowmax(S)"},  {2, "m_old ← m,  m ← max(m, m̃)"},
        {2, "α  ← exp(m_old − m)"},        {2, "P̃  ← exp(S − m)"}, {2, "ℓ  ← α ⊙ ℓ + rowsum(P̃)"},
        {2, "O  ← α ⊙ O + P̃ Vⱼ"},          {1, "O ← O ⊘ ℓ"},       {1, "store Oᵢ, Lᵢ = m + ln ℓ"},
    };
    static const FaultCode code(lines, forward_faults(),
                                {{&Switches::no_max, 2, "m ← 0,  ℓ ← 0,  O ← 0"},
                                 {&Switches::no_max, 8, "m_old ← m,  m ← 0"},
                                 {&Switches::wrong_mask_edge, 6, "S  ← −∞ where masked, edge + 1"},
                                 {&Switches::no_correction, 9, "α  ← 1"},
                                 {&Switches::stale_max, 10, "P̃  ← exp(S − m_old)"},
                                 {&Switches::no_division, 13, "O ← O"}});
    return code.of(p);
}

}  // namespace tilewalk

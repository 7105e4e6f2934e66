#include "core/lessons/forward/flash_forward_v1.h"

#include "core/lessons/shared/fault_code.h"
#include "core/lessons/shared/faults.h"

#include <cmath>
#include <limits>

namespace tilewalk {

namespace {

const double minus_infinity = -std::numeric_limits<double>::infinity();

// Element by element through std::exp: Eigen's vectorised exp is wrong at −∞.
Matrix exp_of(const Matrix& A) {
    return A.unaryExpr([](double x) { return std::exp(x); });
}

// What is subtracted before exp: m, and 0 for a row that has seen no key (−∞ − (−∞) would be NaN).
Matrix base_of(const Matrix& m) { return (m.array() == minus_infinity).select(0.0, m); }

// A row that has seen no key has ℓ = 0 and keeps O = 0.
Matrix divisor_of(const Matrix& l) { return (l.array() == 0.0).select(1.0, l); }

// One query block under one key block that it sees.
struct Tile {
    int i, j;
    Region q, k;       // the rows of Q and of K
    Region S, column;  // Br × Bc and Br × 1
};

// S = scale · Qᵢ Kⱼᵀ, −∞ where a query must not look                                         (Br × Bc)
const Matrix& scores(Recorder& rec, const Problem& p, const Tile& t) {
    const std::int64_t Br = t.q.rows, Bc = t.k.rows, d = p.d();
    const double scale = p.softmax_scale();
    rec.begin(Op::scores, t.i, t.j);
    const Matrix& Qi = rec.read(Slot::Qi);
    const Matrix& Kj = rec.read(Slot::Kj);
    const Matrix& S = rec.write(Slot::S, round_to(p.precision.scores, scale * Qi * Kj.transpose()), t.S);
    rec.end(2 * Br * Bc * d + (scale == 1.0 ? 0 : Br * Bc));
    if (tile_cover(p, t.i, t.j) != TileCover::partial) return S;

    rec.begin(Op::mask, t.i, t.j);
    Matrix masked = rec.read(Slot::S);
    for (int r = 0; r < t.q.rows; ++r)
        for (int c = 0; c < t.k.rows; ++c)
            if (!passes_mask(p, t.q.row + r, t.k.row + c)) masked(r, c) = minus_infinity;
    const Matrix& out = rec.write(Slot::S, std::move(masked), t.S);
    rec.end();
    return out;
}

// m̃, the new m, α and P̃: as in FlashAttention-2
void weights(Recorder& rec, const Problem& p, const Matrix& S, const Tile& t) {
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
    const Matrix& m_new = rec.write(Slot::m, off.no_max ? m_old : Matrix(m_old.cwiseMax(m_tile)), t.column);
    rec.end(Br);

    // α = exp(m_old − m_new)                                                                  (Br × 1)
    rec.begin(Op::correction, t.i, t.j);
    rec.read_previous(Slot::m);
    rec.read(Slot::m);
    const Matrix base = base_of(m_new);
    const Matrix ones = Matrix::Ones(t.q.rows, 1);
    rec.write(Slot::alpha, off.no_correction ? ones : round_to(format, exp_of(m_old - base)), t.column);
    rec.end(2 * Br);

    // P̃ = exp(S − m_new)                                                                     (Br × Bc)
    rec.begin(Op::exponentials, t.i, t.j);
    rec.read(Slot::S);
    const Matrix& m_read = off.stale_max ? rec.read_previous(Slot::m) : rec.read(Slot::m);
    const auto subtracted = (off.stale_max ? m_read : base).col(0);
    rec.write(Slot::P, round_to(format, exp_of(S.colwise() - subtracted)), t.S);
    rec.end(2 * Br * Bc);
}

// ℓ and the normalised O with this tile's keys in them
void update(Recorder& rec, const Problem& p, const Tile& t) {
    const std::int64_t Br = t.q.rows, Bc = t.k.rows, d = p.d();

    // ℓ ← α ⊙ ℓ + rowsum(P̃)                                                                  (Br × 1)
    rec.begin(Op::row_sum, t.i, t.j);
    const Matrix& alpha = rec.read(Slot::alpha);
    const Matrix& l_old = rec.read(Slot::l);
    const Matrix& P = rec.read(Slot::P);
    const Matrix& l_new = rec.write(
        Slot::l, round_to(p.precision.softmax, alpha.cwiseProduct(l_old) + P.rowwise().sum()), t.column);
    rec.end(Br * (1 + Bc));

    // O ← (α ⊙ ℓ_old ⊙ O + P̃ Vⱼ) ⊘ ℓ: the old division is taken back, the new one made         (Br × d)
    rec.begin(Op::output, t.i, t.j);
    rec.read(Slot::alpha);
    rec.read_previous(Slot::l);
    const Matrix& O_old = rec.read(Slot::Oi);
    rec.read(Slot::P);
    const Matrix& Vj = rec.read(Slot::Vj);
    rec.read(Slot::l);
    const Matrix cast = round_to(p.precision.weights, P);
    const Matrix sum = alpha.cwiseProduct(l_old).col(0).asDiagonal() * O_old + cast * Vj;
    const Matrix O = p.switches.no_division ? sum : divide_rows(sum, divisor_of(l_new));
    rec.write(Slot::Oi, round_to(p.precision.accumulator, O), {t.q.row, 0, t.q.rows, p.d()});
    rec.end(Br + 2 * Br * d + 2 * Br * Bc * d);
}

void walk_tile(Recorder& rec, const Problem& p, const Tile& t) {
    // Load Qᵢ, and what the earlier key blocks left of its O, m and ℓ
    rec.begin(Op::load_q, t.i, t.j);
    rec.load(Slot::Q, t.i, Slot::Qi);
    rec.end();
    rec.begin(Op::load_state, t.i, t.j);
    rec.load(Slot::O, t.i, Slot::Oi);
    rec.load(Slot::m_hbm, t.i, Slot::m);
    rec.load(Slot::l_hbm, t.i, Slot::l);
    rec.end();

    weights(rec, p, scores(rec, p, t), t);
    update(rec, p, t);

    // Store Oᵢ, m and ℓ: the next key block will ask for them. O is rounded to its format in HBM every time.
    rec.begin(Op::store_state, t.i, t.j);
    rec.store(Slot::O, t.i, round_to(p.precision.output, rec.read(Slot::Oi)), t.q);
    rec.store(Slot::m_hbm, t.i, rec.read(Slot::m), t.column);
    rec.store(Slot::l_hbm, t.i, rec.read(Slot::l), t.column);
    rec.end();
}

Region query_rows(const Problem& p, int i) { return {i * p.Br, 0, std::min(p.Br, p.N() - i * p.Br), p.d()}; }
Region key_rows(const Problem& p, int j) { return {j * p.Bc, 0, std::min(p.Bc, p.N_kv() - j * p.Bc), p.d()}; }

// O ← 0, m ← −∞, ℓ ← 0 for every query block, in HBM
void clear(Recorder& rec, const Problem& p) {
    rec.begin(Op::init);
    for (int i = 0; i < p.Tr(); ++i) {
        const Region q = query_rows(p, i), column{q.row, 0, q.rows, 1};
        rec.store(Slot::O, i, Matrix::Zero(q.rows, q.cols), q);
        rec.store(Slot::m_hbm, i, Matrix::Constant(q.rows, 1, p.switches.no_max ? 0 : minus_infinity),
                  column);
        rec.store(Slot::l_hbm, i, Matrix::Zero(q.rows, 1), column);
    }
    rec.end();
}

void walk_key_block(Recorder& rec, const Problem& p, int j) {
    const Region k = key_rows(p, j);
    bool seen = false;
    for (int i = 0; i < p.Tr() && !seen; ++i) seen = tile_cover(p, i, j) != TileCover::none;

    // Load Kⱼ and Vⱼ once, if any query looks at them
    if (seen) {
        rec.begin(Op::load_kv, -1, j);
        rec.load(Slot::K, j, Slot::Kj);
        rec.load(Slot::V, j, Slot::Vj);
        rec.end();
    }
    // Let the query blocks pass; a tile that the mask removes whole is neither loaded nor computed
    for (int i = 0; i < p.Tr(); ++i) {
        const Region q = query_rows(p, i);
        if (tile_cover(p, i, j) == TileCover::none) {
            rec.begin(Op::skip, i, j);
            rec.end();
        } else {
            walk_tile(rec, p, {i, j, q, k, {q.row, k.row, q.rows, k.rows}, {q.row, 0, q.rows, 1}});
        }
    }
}

}  // namespace

std::shared_ptr<const Trace> flash_forward_v1(const Problem& problem) {
    Recorder rec(problem, "flash-forward-v1");
    give_rounded_inputs(rec, problem);
    rec.phase(0);
    clear(rec, problem);
    for (int j = 0; j < problem.Tc(); ++j) {
        rec.phase(j);
        walk_key_block(rec, problem, j);
    }
    return rec.finish();
}

std::int64_t flash_forward_v1_bytes(const Problem& p) {
    const std::int64_t tiles = static_cast<std::int64_t>(p.Tr()) * p.Tc();
    const std::int64_t N = p.N(), M = p.N_kv(), d = p.d();
    // Every step with its accesses; then the doubles in the values: the inputs, and per tile S (twice if
    // masked), P, m_tile, alpha, m and l (each also stored), and O, also stored.
    const std::int64_t per_value = static_cast<std::int64_t>(sizeof(Value)) + 16 + 16;
    const std::int64_t per_step =
        static_cast<std::int64_t>(sizeof(Step) + 7 * sizeof(Access)) * 2 + per_value;
    if (tiles > step_budget_bytes / per_step) return tiles * per_step;  // no need to look closer
    const std::int64_t doubles = N * d + 2 * M * d + 3 * N * M + p.Tc() * N * (6 + 2 * d) + N * (2 + d);
    const std::int64_t blocks = p.Tr() + p.Tc();
    return (tiles * 13 + 4 * blocks) * per_step + 8 * doubles;
}

std::span<const CodeLine> flash_forward_v1_code(const Problem& p) {
    static const CodeLine lines[] = {
        {0, "O ← 0,  m ← −∞,  ℓ ← 0  in HBM"},
        {0, "for j in 0 … Tc−1"},
        {1, "load Kⱼ, Vⱼ"},
        {1, "for i in 0 … Tr−1"},
        {2, "load Qᵢ"},
        {2, "load Oᵢ, m, ℓ"},
        {2, "S  ← scale · Qᵢ Kⱼᵀ"},
        {2, "S  ← −∞ where masked", true},
        {2, "m̃  ← rowmax(S)"},
        {2, "m_old ← m,  m ← max(m, m̃)"},
        {2, "α  ← exp(m_old − m)"},
        {2, "P̃  ← exp(S − m)"},
        {2, "ℓ_old ← ℓ,  ℓ ← α ⊙ ℓ + rowsum(P̃)"},
        {2, "O  ← (α ⊙ ℓ_old ⊙ O + P̃ Vⱼ) ⊘ ℓ"},
        {2, "store Oᵢ, m, ℓ"},
    };
    static const FaultCode code(lines, forward_faults(),
                                {{&Switches::no_max, 0, "O ← 0,  m ← 0,  ℓ ← 0  in HBM"},
                                 {&Switches::no_max, 9, "m_old ← m,  m ← 0"},
                                 {&Switches::wrong_mask_edge, 7, "S  ← −∞ where masked, edge + 1"},
                                 {&Switches::no_correction, 10, "α  ← 1"},
                                 {&Switches::stale_max, 11, "P̃  ← exp(S − m_old)"},
                                 {&Switches::no_division, 13, "O  ← α ⊙ ℓ_old ⊙ O + P̃ Vⱼ"}});
    return code.of(p);
}

}  // namespace tilewalk

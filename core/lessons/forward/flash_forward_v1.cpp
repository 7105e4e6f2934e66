#include "core/lessons/forward/explain.h"
#include "core/lessons/forward/forward.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/shared/memory_model.h"
#include "core/lessons/shared/running_words.h"
#include "core/lessons/shared/tile_steps.h"

namespace tilewalk {

namespace {

// ℓ and the normalised O with this tile's keys in them
void update(Recorder& rec, const Problem& p, const StepTile& t) {
    const std::int64_t Br = t.q.rows, Bc = t.k.rows, d = p.d();
    const RowSum row = row_sum_step(rec, p, t);

    // O ← (α ⊙ ℓ_old ⊙ O + P̃ Vⱼ) ⊘ ℓ: the old division is taken back, the new one made         (Br × d)
    rec.begin(Op::output, t.i, t.j);
    rec.read(Slot::alpha);
    rec.read_previous(Slot::l);
    const Matrix& O_old = rec.read(Slot::Oi);
    rec.read(Slot::P);
    const Matrix& Vj = rec.read(Slot::Vj);
    rec.read(Slot::l);
    const Matrix cast = round_to(p.precision.weights, row.P);
    const Matrix sum = row.alpha.cwiseProduct(row.l_old).col(0).asDiagonal() * O_old + cast * Vj;
    const Matrix O = p.switches.no_division ? sum : divide_rows(sum, divisor_of(row.l));
    rec.write(Slot::Oi, round_to(p.precision.accumulator, O), t.q);
    rec.end(Br + 2 * Br * d + 2 * Br * Bc * d);
}

void walk_tile(Recorder& rec, const Problem& p, const StepTile& t) {
    // Load Qᵢ, and what the earlier key blocks left of its O, m and ℓ
    rec.begin(Op::load_q, t.i, t.j);
    rec.load(Slot::Q, t.i, Slot::Qi);
    rec.end();
    rec.begin(Op::load_state, t.i, t.j);
    rec.load(Slot::O, t.i, Slot::Oi);
    rec.load(Slot::m_hbm, t.i, Slot::m);
    rec.load(Slot::l_hbm, t.i, Slot::l);
    rec.end();

    // m̃, m, α and P̃ as in FlashAttention-2
    weight_steps(rec, p, t, score_steps(rec, p, t));
    update(rec, p, t);

    // Store Oᵢ, m and ℓ: the next key block will ask for them. O is rounded to its format in HBM every time.
    rec.begin(Op::store_state, t.i, t.j);
    rec.store(Slot::O, t.i, round_to(p.precision.output, rec.read(Slot::Oi)), t.q);
    rec.store(Slot::m_hbm, t.i, rec.read(Slot::m), t.column);
    rec.store(Slot::l_hbm, t.i, rec.read(Slot::l), t.column);
    rec.end();
}

// O ← 0, m ← −∞, ℓ ← 0 for every query block, in HBM
void clear(Recorder& rec, const Problem& p) {
    rec.begin(Op::init);
    const RowStart start = row_start(rec, p);
    for (int i = 0; i < p.Tr(); ++i) {
        const Region q = query_rows(p, i), column{q.row, 0, q.rows, 1};
        rec.store(Slot::O, i, Matrix::Zero(q.rows, q.cols), q);
        rec.store(Slot::m_hbm, i, Matrix::Constant(q.rows, 1, start.m), column);
        rec.store(Slot::l_hbm, i, Matrix::Constant(q.rows, 1, start.l), column);
    }
    rec.end();
}

void walk_key_block(Recorder& rec, const Problem& p, int j) {
    // Load Kⱼ and Vⱼ once, if any query looks at them
    if (query_blocks_looking(p, j) > 0) load_keys(rec, -1, j);

    // Let the query blocks pass; a tile that the mask removes whole is neither loaded nor computed
    for (int i = 0; i < p.Tr(); ++i)
        if (tile_cover(p, i, j) == TileCover::none)
            skip_tile(rec, i, j);
        else
            walk_tile(rec, p, tile_at(p, i, j));
}

void walk(Recorder& rec, const Problem& p) {
    give_rounded_inputs(rec, p);
    clear(rec, p);
    for (int j = 0; j < p.Tc(); ++j) {
        rec.phase(j);
        walk_key_block(rec, p, j);
    }
}

std::int64_t estimate(const Problem& p) {
    const std::int64_t N = p.N(), M = p.N_kv(), d = p.d();
    // The doubles in the values: the inputs, and per tile S (twice if masked), P, m_tile, alpha, m and l
    // (each also stored), and O, also stored.
    return tiled_bytes({.tiles = std::int64_t{p.Tr()} * p.Tc(),
                        .per_tile = 13 + logit_steps(p, Capped::dropped),
                        .beside = 4LL * (p.Tr() + p.Tc()),
                        .accesses = 7,
                        .doubles = N * d + 2 * M * d + (3 + logit_steps(p, Capped::dropped)) * N * M +
                                   p.Tc() * N * (6 + 2 * d) + N * (2 + d)});
}

std::span<const CodeLine> code_of(const Problem& p) {
    static const CodeLine lines[] = {
        {0, "O ← 0,  m ← −∞,  ℓ ← 0  in HBM", Op::init},
        {0, "for j in 0 … Tc−1"},
        {1, "load Kⱼ, Vⱼ", Op::load_kv},
        {1, "for i in 0 … Tr−1", Op::skip},
        {2, "load Qᵢ", Op::load_q},
        {2, "load Oᵢ, m, ℓ", Op::load_state},
        {2, "S  ← scale · Qᵢ Kⱼᵀ", Op::scores},
        {2, "S  ← cap · tanh(S ÷ cap)", Op::softcap},
        {2, "S  ← S − slope · distance", Op::bias},
        {2, "S  ← −∞ where masked", Op::mask},
        {2, "m̃  ← rowmax(S)", Op::tile_max},
        {2, "m_old ← m,  m ← max(m, m̃)", Op::new_max},
        {2, "α  ← exp(m_old − m)", Op::correction},
        {2, "P̃  ← exp(S − m)", Op::exponentials},
        {2, "ℓ_old ← ℓ,  ℓ ← α ⊙ ℓ + rowsum(P̃)", Op::row_sum},
        {2, "O  ← (α ⊙ ℓ_old ⊙ O + P̃ Vⱼ) ⊘ ℓ", Op::output},
        {2, "store Oᵢ, m, ℓ", Op::store_state},
    };
    static const FaultCode code(
        lines,
        with_tile_faults({{&Switches::no_max, Op::init, "O ← 0,  m ← 0,  ℓ ← 0  in HBM"},
                          {&Switches::no_division, Op::output, "O  ← α ⊙ ℓ_old ⊙ O + P̃ Vⱼ"}}),
        {{Op::init, "O ← 0, m ← sink, ℓ ← 1  in HBM"},
         {Op::init, "O ← 0,  m ← 0,  ℓ ← exp(sink)  in HBM", &Switches::no_max}});
    return code.of(p);
}

Line step_symbol_of(const Trace& trace, int k) {
    const Op op = trace.step(k).op;
    if (op != Op::load_state && op != Op::store_state) return step_symbol(op);
    return {symbol(Slot::Oi), word(" "), symbol(Slot::m), word(" "), symbol(Slot::l)};
}

constexpr Slot results[] = {Slot::O, Slot::m_hbm, Slot::l_hbm};

}  // namespace

constinit const Lesson flash_forward_v1 = {
    .id = "flash-forward-v1",
    .title = "FlashAttention-1",
    .summary = "The same pass with the key blocks outside: O, m and ℓ go through HBM in every tile "
               "(FlashAttention-1 order).",
    .chapter = ChapterId::forward,
    .tab = "FlashAttention-1",
    .picture = Picture::forward_v1,
    .walk = walk,
    .estimate = estimate,
    .code = code_of,
    .explain = explain_v1,
    .say = say_maximum,
    .symbol = block_symbol,
    .indices = own_indices,
    .step_symbol = step_symbol_of,
    .lane = key_block_lane,
    .card = no_card,
    .model = flash_forward_v1_model,
    .rival = standard_attention(standard_forward_model),
    .beside = &flash_forward,
    .results = results,
    .inputs = {},
    .faults = forward_faults,
    .division = Division::in_every_tile,
    .choices = takes_logits | takes_sink,
    .by_cell = false,
    .one_row = false,
};

}  // namespace tilewalk

#include "core/lessons/forward/explain.h"
#include "core/lessons/forward/forward.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/shared/memory_model.h"
#include "core/lessons/shared/running_words.h"
#include "core/lessons/shared/tile_steps.h"

#include <cmath>

namespace tilewalk {

namespace {

// One key block seen by one query block. What a step computes is rounded once, to the format of its stage.
void walk_tile(Recorder& rec, const Problem& p, const StepTile& t) {
    load_keys(rec, t.i, t.j);
    weight_steps(rec, p, t, score_steps(rec, p, t), p.savings);
    output_step(rec, p, t, row_sum_step(rec, p, t));
}

void walk_query_block(Recorder& rec, const Problem& p, int i) {
    const Region q = query_rows(p, i);
    const Region column{q.row, 0, q.rows, 1};

    // Load Qᵢ from HBM to SRAM
    rec.begin(Op::load_q, i);
    rec.load(Slot::Q, i, Slot::Qi);
    rec.end();

    // m ← −∞, ℓ ← 0, O ← 0
    rec.begin(Op::init, i);
    start_values(rec, q, row_start(rec, p));
    rec.end();

    // Stream the key blocks past it; a tile that the mask removes whole is neither loaded nor computed
    for (int j = 0; j < p.Tc(); ++j) {
        if (tile_cover(p, i, j) == TileCover::none)
            skip_tile(rec, i, j);
        else
            walk_tile(rec, p, tile_at(p, i, j));
    }

    // Normalise once: O ← O ⊘ ℓ. A row that saw no key has ℓ = 0 and keeps O = 0.
    rec.begin(Op::normalize, i);
    const Matrix& O_sum = rec.read(Slot::Oi);
    const Matrix& l = rec.read(Slot::l);
    const Matrix divided = round_to(p.precision.accumulator, divide_rows(O_sum, divisor_of(l)));
    const Matrix& O = rec.write(Slot::Oi, p.switches.no_division ? O_sum : divided, q);
    rec.end(static_cast<std::int64_t>(q.rows) * p.d());

    // Store Oᵢ and L = m + ln ℓ to HBM: all that the backward pass will need
    rec.begin(Op::store, i);
    rec.read(Slot::Oi);
    const Matrix& m = rec.read(Slot::m);
    rec.read(Slot::l);
    rec.store(Slot::O, i, round_to(p.precision.output, O), q);
    rec.store(Slot::L, i, round_to(p.precision.softmax, log_sum(m, l)), column);
    rec.end(2 * static_cast<std::int64_t>(q.rows));
}

void walk(Recorder& rec, const Problem& p) {
    give_rounded_inputs(rec, p);
    for (int i = 0; i < p.Tr(); ++i) {
        rec.phase(i);
        walk_query_block(rec, p, i);
    }
}

std::int64_t estimate(const Problem& p) {
    const std::int64_t N = p.N(), M = p.N_kv(), d = p.d();
    // The doubles in the values: inputs and outputs once, and per tile S (twice if masked), P, m_tile, m, α,
    // ℓ and O.
    return tiled_bytes({.tiles = std::int64_t{p.Tr()} * p.Tc(),
                        .per_tile = 9 + logit_steps(p, Capped::dropped),
                        .beside = 4LL * p.Tr(),
                        .accesses = 6,
                        .doubles = 2 * N * d + 2 * M * d + N * d +
                                   (3 + logit_steps(p, Capped::dropped)) * N * M + p.Tc() * N * (4 + d) +
                                   4 * N + 2 * N * d});
}

std::span<const CodeLine> code_of(const Problem& p) {
    static const CodeLine lines[] = {
        {0, "for i in 0 … Tr−1"},
        {1, "load Qᵢ", Op::load_q},
        {1, "m ← −∞,  ℓ ← 0,  O ← 0", Op::init},
        {1, "for j in 0 … Tc−1", Op::skip},
        {2, "load Kⱼ, Vⱼ", Op::load_kv},
        {2, "S  ← scale · Qᵢ Kⱼᵀ", Op::scores},
        {2, "S  ← cap · tanh(S ÷ cap)", Op::softcap},
        {2, "S  ← S − slope · distance", Op::bias},
        {2, "S  ← −∞ where masked", Op::mask},
        {2, "m̃  ← rowmax(S)", Op::tile_max},
        {2, "m_old ← m,  m ← max(m, m̃)", Op::new_max},
        {2, "α  ← exp(m_old − m)", Op::correction},
        {2, "P̃  ← exp(S − m)", Op::exponentials},
        {2, "ℓ  ← α ⊙ ℓ + rowsum(P̃)", Op::row_sum},
        {2, "O  ← α ⊙ O + P̃ Vⱼ", Op::output},
        {1, "O ← O ⊘ ℓ", Op::normalize},
        {1, "store Oᵢ, Lᵢ = m + ln ℓ", Op::store},
    };
    static const FaultCode code(lines,
                                with_tile_faults({{&Switches::no_max, Op::init, "m ← 0,  ℓ ← 0,  O ← 0"},
                                                  {&Switches::no_division, Op::normalize, "O ← O"}}),
                                {{Op::init, "m ← sink,  ℓ ← 1,  O ← 0"},
                                 {Op::init, "m ← 0,  ℓ ← exp(sink),  O ← 0", &Switches::no_max}},
                                {{[](const Savings& saved) { return saved.lazy.has_value(); }, Op::new_max,
                                  "m_old ← m,  m ← m̃ if m̃ > m + τ ln 2"},
                                 {[](const Savings& saved) { return saved.cubic; }, Op::exponentials,
                                  "P̃  ← cubic exp2((S − m) log₂ e)"}});
    return code.of(p);
}

constexpr Slot results[] = {Slot::O, Slot::L};

}  // namespace

constinit const Lesson flash_forward = {
    .id = "flash-forward",
    .title = "FlashAttention-2",
    .summary = "The tiled forward pass: online softmax with m, ℓ and the rescaled O, tile by tile "
               "(FlashAttention-2 order).",
    .chapter = ChapterId::forward,
    .tab = "FlashAttention-2",
    .picture = Picture::forward,
    .walk = walk,
    .estimate = estimate,
    .code = code_of,
    .explain = explain_forward,
    .say = say_running,
    .symbol = block_symbol,
    .indices = own_indices,
    .step_symbol = op_symbol,
    .lane = query_block_lane,
    .card = no_card,
    .model = flash_forward_model,
    .rival = standard_attention(standard_forward_model),
    .beside = nullptr,
    .results = results,
    .inputs = {},
    .faults = forward_faults,
    .division = Division::at_the_end,
    .choices = takes_logits | takes_sink | takes_savings,
    .by_cell = false,
    .one_row = false,
};

}  // namespace tilewalk

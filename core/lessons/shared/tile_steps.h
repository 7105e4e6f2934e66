// Steps that several tiled lessons have in common, and what their kernels compute with.
#pragma once

#include "core/base/exactly.h"
#include "core/problem/mask.h"
#include "core/problem/precision.h"
#include "core/walk/lesson.h"

#include <cmath>

namespace tilewalk {

/// One query block under one key block that it sees.
struct StepTile {
    int i, j;
    Region q, k;       ///< the rows of Q and of K
    Region S, column;  ///< Br × Bc and Br × 1
};
StepTile tile_at(const Problem& problem, int i, int j);

/// L = m + ln ℓ
inline Matrix log_sum(const Matrix& m, const Matrix& l) { return m + log_exactly(l); }

/// Load Kⱼ and Vⱼ from HBM to SRAM; `tile`: where they lie there, if not in the order of the blocks.
void load_keys(Recorder& rec, int i, int j, int tile);
inline void load_keys(Recorder& rec, int i, int j) { load_keys(rec, i, j, j); }
/// A tile that the mask removes whole: nothing is loaded, nothing is computed.
void skip_tile(Recorder& rec, int i, int j);
/// S = scale · Qᵢ Kⱼᵀ alone                                                                      (Br × Bc)
const Matrix& product_step(Recorder& rec, const Problem& problem, const StepTile& tile);
/// S = scale · Qᵢ Kⱼᵀ, then what the problem has of softcap, ALiBi bias and mask              (Br × Bc)
/// A backward pass keeps the capped scores, for the gradient through the softcap.
enum class Capped { dropped, kept };
const Matrix& score_steps(Recorder& rec, const Problem& problem, const StepTile& tile,
                          Capped capped = Capped::dropped);
/// S ← cap · tanh(S ÷ cap), of the scores `at` that belong to (i, j)
void softcap_step(Recorder& rec, const Problem& problem, int i, int j, const Region& at, Capped capped);
/// Steps of a tile beside those that every problem has: softcap and bias, in a backward pass the gradient
/// through the softcap.
int logit_steps(const Problem& problem, Capped capped);
/// m̃, the new m, α and P̃ from S. The steps are the same with every switch and all that is saved.
void weight_steps(Recorder& rec, const Problem& problem, const StepTile& tile, const Matrix& S,
                  const Savings& saved = {});
/// What m and ℓ of a row start with: −∞ and 0, or with a sink as if it had been seen: m = sink, ℓ = exp(0).
struct RowStart {
    double m, l;
};
/// The step that begins reads the sink from HBM, if there is one.
RowStart row_start(Recorder& rec, const Problem& problem);
/// m, ℓ and O of the queries `q` before their first key, within the step that begins.
void start_values(Recorder& rec, const Region& q, const RowStart& start);
/// Where the sink, if there is one, is counted elsewhere.
RowStart without_keys(const Problem& problem);
/// The sink as it lies in HBM; nothing to give without one.
void give_sink(Recorder& rec, const Problem& problem);
/// ℓ ← α ⊙ ℓ + rowsum(P̃); what follows finds α, the old ℓ and P̃ here.
struct RowSum {
    const Matrix &alpha, &l_old, &P, &l;
};
RowSum row_sum_step(Recorder& rec, const Problem& problem, const StepTile& tile);
/// O ← α ⊙ O + P̃ Vⱼ, still unnormalised                                                          (Br × d)
void output_step(Recorder& rec, const Problem& problem, const StepTile& tile, const RowSum& sum);

/// The largest number of each row (rows × 1). NaN is passed over, as the hardware's max does; −∞ if there is
/// nothing else.
Matrix row_maximum(const Matrix& S);
/// What is subtracted before exp: m (or L), and 0 for a row that has seen no key (−∞ − (−∞) would be NaN).
Matrix base_of(const Matrix& m);
/// A row that has seen no key has ℓ = 0 and keeps O = 0.
Matrix divisor_of(const Matrix& l);
/// Each row of A divided by its number of `divisor`, with one division per row as in the kernels; where 1 ÷ ℓ
/// itself would overflow (a sum without maximum may be that small) every element is divided.  (n × d, n × 1)
Matrix divide_rows(const Matrix& A, const Matrix& divisor);

/// Q, K and V as they lie in HBM: in the format of the inputs.
void give_rounded_inputs(Recorder& rec, const Problem& problem);

/// "Query block 0", "Key block 0"
std::string query_block_lane(const Problem& problem, int phase);
std::string key_block_lane(const Problem& problem, int phase);
constexpr Rival standard_attention(TrafficModel (*model)(const Problem&)) {
    return {"Standard attention", model, "less: with tiles this small, flash reads its blocks too often",
            true};
}

/// Upper bound of a trace with so many steps and tiles: `accesses` of a step, `doubles` in all values.
struct TileCount {
    std::int64_t tiles, per_tile, beside;  ///< steps of a tile, and beside the tiles
    int accesses;
    std::int64_t doubles;
};
std::int64_t tiled_bytes(const TileCount& count);

}  // namespace tilewalk

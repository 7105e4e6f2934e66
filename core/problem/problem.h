// The problem that every lesson starts from: Q, K, V, the tile sizes, the mask and the softmax scale.
#pragma once

#include "core/base/matrix.h"
#include "core/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewalk {

/// The factor in front of Q Kᵀ: none (1), sqrt (1/√d), or a number of the user's.
struct Scale {
    enum class Kind { none, sqrt, number };
    Kind kind = Kind::none;
    double number = 1.0;  ///< used when kind == number

    double value(int d) const;
    bool operator==(const Scale&) const = default;
};

/// Letters for the running sum and the running output in the softmax lessons, as the sources write them:
/// m, ℓ, O (FlashAttention), m, d′, o′ (online softmax) or m, δ, ω.
enum class Notation : std::uint8_t { l_O, d_o, delta_omega };

/// Which loop of the flash backward pass is outside: key blocks (FlashAttention-2; dQ grows in HBM) or query
/// blocks (dK and dV grow in HBM).
enum class BackwardOrder : std::uint8_t { key_outer, query_outer };

/// In which order partial results are merged: one after another, by pairs, or all in one step.
enum class MergeOrder : std::uint8_t { chain, pairs, at_once };

/// What is kept of a part: m, ℓ and an O that is not divided, or the divided O and L, as kernels store it.
enum class PartForm : std::uint8_t { sums, normalised };

/// Which positions of the sequence a rank of a ring holds: so many in a row; of twice as many pieces the r-th
/// and the r-th from behind; every R-th position (ring::Shards, core/distributed/shards.h).
enum class ShardKind : std::uint8_t { contiguous, zigzag, striped };

/// What single lessons let one choose (Lesson::choices).
struct Options {
    int row = 0;                        ///< of the queries, 0 … N − 1
    int queries = 1;                    ///< that are decoded together: rows row … row + queries − 1
    Notation notation = Notation::l_O;  ///< of the softmax lessons
    bool normalised = true;             ///< o′ normalised at every element, or once at the end
    BackwardOrder order = BackwardOrder::key_outer;
    double learning_rate = 0.1;  ///< η
    std::vector<int> splits;     ///< keys of each part, in order; empty: the lesson's own choice
    MergeOrder merge = MergeOrder::chain;
    PartForm parts = PartForm::sums;
    int workers = 4;  ///< that run side by side
    int ranks = 0;    ///< of a ring; 0: two, or one where there are too few rows
    ShardKind shards = ShardKind::contiguous;
    std::optional<int> prefix;  ///< keys that all sequences share; absent: half of them
    int sequences = 0;          ///< that share the prefix; 0: two, or one where there is one query
    int pages = 0;              ///< keys that a page of K and V holds; 0: they lie in order
    std::vector<int>
        page_table;  ///< where each page lies; empty: scattered() of core/problem/shared_prefix.h
    bool operator==(const Options&) const = default;
};

/// The input X and the weights that Q, K, V come from: Q = X W_Q and so on. X is N × d_model, each W is
/// d_model × d.
struct Projection {
    Matrix X, W_Q, W_K, W_V;
};

/// Deliberate faults of the lessons that can be broken. The other steps stay as they are, so that step k of
/// the broken walk stands beside step k of the true one.
struct Switches {
    bool no_max = false;           ///< m is kept at 0: exp(S) instead of exp(S − m)
    bool no_correction = false;    ///< α = 1
    bool no_division = false;      ///< O is stored without the division by ℓ
    bool wrong_mask_edge = false;  ///< in tiles that the mask cuts, each query sees one key too many
    bool stale_max = false;        ///< P̃ = exp(S − m_old): the maximum of before this tile
    bool no_lse = false;           ///< backward: P = exp(S), L left out
    bool no_weights = false;       ///< partial results are merged as they are: w = 1
    bool no_log_sum = false;       ///< L = m: a part does not say how much it has summed
    bool no_share = false;         ///< ring, backward: dK and dV go on without what the rank adds
    bool any() const { return *this != Switches{}; }
    bool operator==(const Switches&) const = default;
};

/// Number formats that a GPU kernel computes in.
enum class Format : std::uint8_t { fp64, fp32, tf32, fp16, bf16, e4m3 };

/// The format that each stage of the tiled lessons rounds to, where the CUDA kernels round.
struct Precision {
    Format inputs = Format::fp64;       ///< Q, K, V, dO as they lie in HBM
    Format scores = Format::fp64;       ///< S, dP: sums of the first matrix products
    Format softmax = Format::fp64;      ///< m, α, exp, ℓ, L, D, dS before it is cast
    Format weights = Format::fp64;      ///< P̃, P and dS as operands of the next matrix product
    Format accumulator = Format::fp64;  ///< O, dQ, dK, dV while they grow
    Format output = Format::fp64;       ///< O, dQ, dK, dV as they are stored
    bool any() const { return *this != Precision{}; }
    bool operator==(const Precision&) const = default;
};

/// What kernels for newer GPUs save in the softmax of a tile; see core/problem/savings.h.
struct Savings {
    std::optional<double> lazy;  ///< τ: m and O stay while the maximum rises by at most τ powers of two
    bool cubic = false;          ///< P̃ by a polynomial of degree 3 in place of exp
    bool any() const { return *this != Savings{}; }
    bool operator==(const Savings&) const = default;
};

/// What is done to the scores between the scale and the mask, and beside the keys; see core/problem/logits.h.
struct Logits {
    std::optional<double> softcap;  ///< cap: S becomes cap · tanh(S ÷ cap)
    std::optional<double> alibi;    ///< slope: S loses slope · distance
    std::optional<double> sink;     ///< one more logit for every query, without a value
    bool operator==(const Logits&) const = default;
};

/// Several heads: H query heads in H_kv groups, each with the keys and values of one head. The problem's own
/// Q, K, V and dO are those of the shown head, and its walk is that head's; see core/problem/heads.h.
struct Heads {
    std::vector<Matrix> Q;   ///< H × (N × d)
    std::vector<Matrix> K;   ///< H_kv × (N_kv × d)
    std::vector<Matrix> V;   ///< H_kv × (N_kv × d)
    std::vector<Matrix> dO;  ///< H × (N × d), or none
    int shown = 0;           ///< of the query heads
    bool once = false;       ///< a kernel loads K and V of a group once for all its heads
};

struct Problem {
    std::string name;                   ///< short identifier, "worked-4x4"; empty for the user's own
    std::string title;                  ///< for people, "4 × 4 worked example"
    std::string watch;                  ///< one sentence: what to watch in this problem
    std::optional<std::uint64_t> seed;  ///< of a random problem

    Matrix Q;                  ///< N × d
    Matrix K;                  ///< N_kv × d
    Matrix V;                  ///< N_kv × d
    std::optional<Matrix> dO;  ///< N × d, the gradient that arrives from the loss (backward lessons)

    int Br = 2;                 ///< query rows per tile, ≥ 1 (may exceed N: then there is one tile)
    int Bc = 2;                 ///< key rows per tile, ≥ 1
    bool causal = false;        ///< aligned bottom-right: the last query sees the last key
    std::optional<int> window;  ///< at most W positions before the query (and after it, if not causal)
    Scale scale;
    Logits logits;
    std::optional<Heads> heads;            ///< absent: one
    int packed = 1;                        ///< heads whose rows stand below each other in Q and dO (heads.h)
    std::vector<std::string> tokens;       ///< labels of the max(N, N_kv) positions; empty: none
    std::optional<Projection> projection;  ///< where Q, K, V come from; absent: X = I, W = Q, K, V
    Options options;
    Switches switches;
    Precision precision;
    Savings savings;
    int element_bytes =
        4;  ///< bytes of one element of Q, K, V, O in HBM: 4 (fp32), 2 (fp16/bf16), 1 (fp8), 8 (fp64)

    int N() const { return static_cast<int>(Q.rows()); }
    int N_kv() const { return static_cast<int>(K.rows()); }
    int d() const { return static_cast<int>(Q.cols()); }
    int rows_of_head() const { return N() / packed; }  ///< N, of one of the packed heads
    int Tr() const { return ceil_div(N(), Br); }       ///< query blocks
    int Tc() const { return ceil_div(N_kv(), Bc); }    ///< key blocks
    double softmax_scale() const { return scale.value(d()); }
    bool broken() const { return switches.any() || precision.any() || savings.any(); }
    /// The word of query r or key c; empty without words. The last query stands at the last key's position.
    std::string query_token(int r) const;
    std::string key_token(int c) const;
};

/// So many queries are decoded together at the most, each with a row of its own of every partial result.
constexpr int most_queries = 8;
/// Another row, and as many of the queries decoded together as there are from there on.
void choose_row(Options& options, int row, int of_rows);

/// An example that has been changed is no longer that example: drops its name and what it says to watch, and
/// says so in the title.
void mark_changed(Problem& problem);

/// Nothing when the problem can be walked through; otherwise one sentence that says what is wrong where.
std::optional<std::string> validate(const Problem& problem);

/// dO as given, or all ones: the gradient of the sum of O.                                      (N × d)
Matrix output_gradient(const Problem& problem);
/// The same problem without switches and savings, in full precision.
Problem without_faults(Problem problem);
/// Q, K, V from X and the weights; nothing to do without a projection.
void project(Problem& problem);

/// The same for lessons with a backward pass: the sums of their gradients must stay finite, too.
std::optional<std::string> validate_gradients(const Problem& problem);

/// The same for the lesson that updates the weights: the forward pass with the new ones must stay finite.
std::optional<std::string> validate_update(const Problem& problem);

/// Q, K, V, dO (N × d each), every element a multiple of 0.01 in [−2, 2]; the same for a seed on every
/// machine. Sizes outside 1 … 4096 (N) and 1 … 1024 (d) are refused with a sentence.
Result<Problem> random_problem(int N, int d, std::uint64_t seed);

}  // namespace tilewalk

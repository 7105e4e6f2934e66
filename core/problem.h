// The problem that every lesson starts from: Q, K, V, the tile sizes, the mask and the softmax scale.
#pragma once

#include "core/matrix.h"
#include "core/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tilewalk {

/// The factor in front of Q Kᵀ: none (1), sqrt (1/√d), or a number of the user's.
struct Scale {
    enum class Kind { none, sqrt, number };
    Kind kind = Kind::none;
    double number = 1.0;  ///< used when kind == number

    double value(int d) const;
    bool operator==(const Scale&) const = default;
};

struct Problem {
    std::string name;   ///< short identifier, "worked-4x4"; empty for the user's own
    std::string title;  ///< for people, "4 × 4 worked example"
    std::string watch;  ///< one sentence: what to watch in this problem

    Matrix Q;                  ///< N × d
    Matrix K;                  ///< N_kv × d
    Matrix V;                  ///< N_kv × d
    std::optional<Matrix> dO;  ///< N × d, the gradient that arrives from the loss (backward lessons)

    int Br = 2;                 ///< query rows per tile, ≥ 1 (may exceed N: then there is one tile)
    int Bc = 2;                 ///< key rows per tile, ≥ 1
    bool causal = false;        ///< aligned bottom-right: the last query sees the last key
    std::optional<int> window;  ///< at most W positions before the query (and after it, if not causal)
    Scale scale;
    int element_bytes =
        4;  ///< bytes of one element of Q, K, V, O in HBM: 4 (fp32), 2 (fp16/bf16), 1 (fp8), 8 (fp64)

    int N() const { return static_cast<int>(Q.rows()); }
    int N_kv() const { return static_cast<int>(K.rows()); }
    int d() const { return static_cast<int>(Q.cols()); }
    int Tr() const { return ceil_div(N(), Br); }     ///< query blocks
    int Tc() const { return ceil_div(N_kv(), Bc); }  ///< key blocks
    double softmax_scale() const { return scale.value(d()); }
};

/// An example that has been changed is no longer that example: drops its name and what it says to watch, and
/// says so in the title.
void mark_changed(Problem& problem);

/// Nothing when the problem can be walked through; otherwise one sentence that says what is wrong where.
std::optional<std::string> validate(const Problem& problem);

/// Q, K, V, dO (N × d each), every element a multiple of 0.01 in [−2, 2]; the same for a seed on every
/// machine. Sizes outside 1 … 4096 (N) and 1 … 1024 (d) are refused with a sentence.
Result<Problem> random_problem(int N, int d, std::uint64_t seed);

}  // namespace tilewalk

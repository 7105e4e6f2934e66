// Why the online softmax is right, with the numbers of one row: the derivation of the recurrences element by
// element (Ye 2023, sections 3 and 4), and the proof by splitting the row in two (any two parts merge, so any
// order of tiles does). Both sides of every equation are computed, each in its own way.
#pragma once

#include "core/walk/explain.h"

#include <vector>

namespace tilewalk {

/// One line of an argument. `numbers` is the right side worked out from stored values, `result` the left side
/// as it is defined; for an equation of two sums `other` is the right side's own value.
struct Argument {
    std::string title;  ///< "The surrogate d′"
    Line formula;       ///< in symbols
    Line numbers;       ///< the same in numbers; empty where there is nothing to divide
    Line result;        ///< "d′₃ = 1.503"; its last span is the number
    std::string why;
    double value = 0;  ///< what `result` shows
    double other = 0;  ///< the value that `numbers` stands for, computed on its own; equal up to rounding
};

/// The six steps from the safe softmax to one pass, at element n (1 … N_kv) and output column `col`:
/// 1 d_n needs m_N, 2 the surrogate d′ and d′_N = d_N, 3 the recurrence of d′, 4 o_n needs m_N and d_N,
/// 5 the surrogate o′ and o′_N = o_N, 6 the recurrence of o′.
std::vector<Argument> softmax_derivation(const Problem& problem, int n, int col);

/// The row cut after element `split` (0 … N_kv; an empty part has m = −∞ and sums of 0): maximum, sum and
/// output of the parts, and that they merge to those of the whole row.
std::vector<Argument> softmax_proof(const Problem& problem, int split, int col);

}  // namespace tilewalk

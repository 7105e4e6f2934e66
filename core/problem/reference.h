// Standard attention, dense and direct: the oracle that the lessons are held against.
#pragma once

#include "core/problem/problem.h"

namespace tilewalk {

/// All N × N_kv intermediates of O = softmax(scale · Q Kᵀ) V, each computed in full.
struct Reference {
    Matrix S;  ///< N × N_kv, scaled, −∞ where masked
    Matrix P;  ///< N × N_kv, rows sum to 1; a row that sees no key is 0
    Matrix O;  ///< N × d
    Matrix L;  ///< N × 1, log-sum-exp of the row, −∞ if it sees no key
};
Reference reference_attention(const Problem& problem);

}  // namespace tilewalk

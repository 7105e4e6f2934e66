// Problems to hold the lessons against, and the answer to them in long double, written without a line of the
// code under test.
#pragma once

#include "core/problem/problem.h"

#include <random>
#include <string>
#include <vector>

namespace tilewalk::test {

using Random = std::mt19937_64;

/// An integer of [low, high]; the same on every machine.
int pick(Random& random, int low, int high);
/// One of the numbers given.
double choose(Random& random, std::initializer_list<double> numbers);

/// The 4 × 4 example with 2 × 2 tiles, as the tutorial prints it.
Problem worked_example();
/// The same with the dO of the tutorial's backward pass: ones in rows 0 and 2.
Problem tutorial_backward();

/// A valid problem with up to `largest` queries and keys: any tile sizes (also larger than the matrix, 1 × 1
/// and ragged), masks, scales, element sizes; small and very large numbers, and integers with many ties.
Problem any_problem(Random& random, int largest = 9);
/// What any_problem drew, for the message of a failing test.
std::string describe(const Problem& problem);

/// Query r may look at key c, told by the distance between their positions.
bool sees(const Problem& problem, int r, int c);
/// Some query of block i sees some key of block j.
bool tile_is_needed(const Problem& problem, int i, int j);

/// Rows of query block i and of key block j.
int rows_of(const Problem& problem, int i);
int keys_of(const Problem& problem, int j);

/// softmax(scale · Q Kᵀ) V by plain loops.
struct Dense {
    using Table = std::vector<std::vector<long double>>;
    Table S;                     ///< N × N_kv, −∞ where masked
    Table P;                     ///< N × N_kv, rows sum to 1 (or are 0)
    Table O;                     ///< N × d
    std::vector<long double> L;  ///< N
    std::vector<long double>
        size;      ///< N: the largest Σ |scale · q k| of the row, what rounding of S grows with
    Table weight;  ///< N × d: Σ P |V|, what rounding of O grows with
};
Dense dense_attention(const Problem& problem);

/// How far a double computation may lie from Dense: 1e-12 of the size, and what the rounding of the scores
/// becomes in exp.
double tolerance_O(const Dense& dense, int r, int c);
double tolerance_L(const Dense& dense, int r);

}  // namespace tilewalk::test

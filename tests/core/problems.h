// Problems to hold the lessons against, and the answer to them in long double, written without a line of the
// code under test.
#pragma once

#include "core/problem/problem.h"

#include <random>
#include <string>
#include <utility>

namespace tilewalk::test {

using namespace tilewalk;  // for the tests that say `using namespace tilewalk::test`

using Random = std::mt19937_64;

/// An integer of [low, high]; the same on every machine.
int pick(Random& random, int low, int high);
/// One of the numbers given.
double choose(Random& random, std::initializer_list<double> numbers);

/// Finite doubles of every size.
Matrix any_doubles(Random& random, int rows, int cols);

/// The 4 × 4 example with 2 × 2 tiles, as the tutorial prints it.
Problem worked_example();
/// The same with the dO of the tutorial's backward pass: ones in rows 0 and 2.
Problem tutorial_backward();

/// Leaves the problem its first `count` keys.
void keep_keys(Problem& problem, int count);
/// The same, and no query looks ahead.
Problem causal(Problem problem);
/// The same with a fault.
Problem with(Problem problem, bool Switches::*fault);

/// A valid problem with up to `largest` queries and keys: any tile sizes (also larger than the matrix, 1 × 1
/// and ragged), masks, scales, element sizes; small and very large numbers, and integers with many ties.
Problem any_problem(Random& random, int largest = 9);
/// Draws a row, and how many queries are decoded together from there on.
void choose_rows(Random& random, Problem& problem);
/// Draws what is done to the scores between scale and mask: softcap and ALiBi slope, each mostly there, and a
/// sink.
Logits any_logits(Random& random);
/// What any_problem drew, for the message of a failing test.
std::string describe(const Problem& problem);

/// Query r may look at key c, told by the distance between their positions.
bool sees(const Problem& problem, int r, int c);
/// Some query of block i sees some key of block j.
bool tile_is_needed(const Problem& problem, int i, int j);

/// What rank `rank` of a ring holds of N positions, told by the definition of its shards.
std::vector<int> positions_of_rank(const Problem& problem, int N, int ranks, int rank);

/// Draws sequences with a prefix, and pages with and without a table; any of it may be left to the lesson.
void choose_sequences(Random& random, Problem& problem);
/// Query r belongs to a sequence that has key c, told by counting who gets which row, and a causal mask
/// within it does not hide it.
bool sees_in_sequence(const Problem& problem, int r, int c);
/// How many positions key c stands ahead of query r in its sequence: the prefix, then its own keys, at the
/// last of which its last query stands.
long long ahead_in_sequence(const Problem& problem, int r, int c);
/// Pass 0 takes all queries over the prefix, pass 1 + s those of sequence s over its own keys: the first row
/// and how many.
std::pair<int, int> queries_of_pass(const Problem& problem, int pass);
std::pair<int, int> keys_of_pass(const Problem& problem, int pass);
/// Blocks of keys of the prefix, then of each sequence: the first key and how many.
std::vector<std::pair<int, int>> blocks_of_sequences(const Problem& problem);

/// Rows of query block i and of key block j.
int rows_of(const Problem& problem, int i);
int keys_of(const Problem& problem, int j);

/// softmax(scale · Q Kᵀ) V.
struct Dense {
    using Table = Eigen::MatrixX<long double>;
    Table capped;                   ///< N × N_kv: S before bias and mask
    Table S;                        ///< N × N_kv, −∞ where masked
    Table P;                        ///< N × N_kv, rows sum to 1 (or are 0)
    Table O;                        ///< N × d
    Eigen::VectorX<long double> L;  ///< N
    Eigen::VectorX<long double>
        size;      ///< N: the largest Σ |scale · q k| of the row: rounding of S grows with it
    Table weight;  ///< N × d: Σ P |V|, what rounding of O grows with
};
/// `sees`: who may look at whom, if it is not the mask that says it; `ahead`: how far a key stands ahead of a
/// query, if not by their rows.
Dense dense_attention(const Problem& problem, bool (*sees)(const Problem&, int r, int c) = nullptr,
                      long long (*ahead)(const Problem&, int r, int c) = nullptr);
inline Matrix matrix_of(const Dense::Table& table) { return table.cast<double>(); }

/// How far a double computation may lie from Dense: 1e-12 of the size, and what the rounding of the scores
/// becomes in exp.
Dense::Table tolerance_O(const Dense& dense);
Dense::Table tolerance_L(const Dense& dense);
/// "[1,2] is 3, not 4": the first element that lies further off than its slack; empty if there is none. Equal
/// infinities are not apart.
std::string far_off(const Matrix& got, const Dense::Table& expected, const Dense::Table& slack);

}  // namespace tilewalk::test

// What the tests of the dense lessons share: an oracle for the gradients in long double.
#pragma once

#include "tests/core/problems.h"
#include "tests/core/steps.h"

#include <initializer_list>

namespace tilewalk::test {

/// Gradients of Σ dO ⊙ O, and how large the sums are that they come from.
struct DenseGradients {
    Dense::Table dP, dS, dQ, dK, dV;
    Dense::Table dS_capped;  ///< of the capped scores; dS has the slope of the softcap in it
    Eigen::VectorX<long double> D;
    long double dsink = 0, size_dsink = 0;  ///< of the sink, if there is one
    Dense::Table size_dS, size_dQ, size_dK, size_dV;
    long double precision = 0;  ///< relative error that the scores leave in P
};
DenseGradients dense_gradients(const Problem& problem, const Matrix& dO);
/// |got − expected| ≤ (1e-12 + what the scores leave) · size, for every element; weights that a double cannot
/// hold (below 1e-290) count as 0.
bool close_to(const Matrix& got, const Dense::Table& expected, const Dense::Table& size,
              long double precision);

/// A problem with dO, with numbers small enough for differences, masks and scales; N and N_kv up to
/// `largest`.
Problem gradient_problem(Random& random, int largest = 5);
/// The same with an input X and weights.
Problem projected_problem(Random& random, int largest = 5);
/// Σ dO ⊙ O.
double loss_of(const Problem& problem, const Matrix& dO);

/// (f(x + h) − f(x − h)) / 2h of every element of one of the inputs is its gradient, to 1e-6.
void check_differences(const Problem& problem, Matrix Problem::*input, const Matrix& gradient);

/// A printed matrix: every figure holds within `unit` (half a unit of the last digit if it was rounded well).
void check_figures(const Matrix& got, std::initializer_list<double> printed, double unit);

}  // namespace tilewalk::test

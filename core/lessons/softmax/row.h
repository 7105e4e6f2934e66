// Sums over a part of one row of scores, directly from their definitions. The derivation and the proof hold
// the recurrences against them.
#pragma once

#include "core/problem/problem.h"
#include "core/walk/formula.h"

namespace tilewalk {

struct SoftmaxRow {
    Matrix x;  ///< 1 × N_kv, −∞ where masked
    Matrix v;  ///< N_kv × 1: the chosen column of V

    SoftmaxRow(const Problem& problem, int col);

    // Parts of the row are [first, last), counted from 0. m = −∞ (nothing seen) gives weights of 0.
    double value(int j) const { return v(j, 0); }
    double maximum(int first, int last) const;
    double sum(int first, int last, double m) const;  ///< Σ exp(x − m)
    /// Σ exp(x − m) v ÷ d; 0 if d is 0.
    double output(int first, int last, double m, double d) const;
    /// exp(from − to); 0 if `from` is −∞.
    static double weight(double from, double to);
    double weight_of(int j, double m) const { return weight(x(0, j), m); }

    // The same as they are written out. Of more than five terms all but the last three are added up in one
    // number.
    Expr exp_of(double from, double to, Role role) const;
    Expr weights(int first, int last, double m) const;
    Expr values(int first, int last, double m, double d) const;
};

}  // namespace tilewalk

// What the derivation and the proof share: sums over a part of one row of scores, directly from their
// definitions, which the recurrences are held against, and how a line of the argument is made.
#pragma once

#include "core/lessons/softmax/softmax.h"
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

/// `symbol` = `value` is the result; `numbers`, where there are some, the right side worked out; `other` its
/// own value.
Argument argument_line(std::string title, Line formula, Line symbol, const Expr* numbers, double value,
                       double other, std::string why);
/// "o′₃" and behind it, where the row has several columns, the one that is shown: "[2]".
Line component(Line symbol, const Problem& problem, int col);

}  // namespace tilewalk

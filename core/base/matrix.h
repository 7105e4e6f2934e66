// Matrices as the lessons use them: row-major double, so that one row is one query and lies in one piece.
#pragma once

#include <Eigen/Core>

#include <cmath>
#include <limits>

namespace tilewalk {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A rectangle of a whole matrix: where a tile lies in Q, K, S … Rows and columns count from 0.
struct Region {
    int row = 0, col = 0, rows = 0, cols = 0;

    bool contains(int r, int c) const { return r >= row && r < row + rows && c >= col && c < col + cols; }
    bool operator==(const Region&) const = default;
};

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double minus_infinity = -infinity;

/// Element by element through std::exp: Eigen's vectorised exp gives 5.6e-309 for −∞, and a lesson shows 0.
inline Matrix exp_of(const Matrix& A) {
    return A.unaryExpr([](double x) { return std::exp(x); });
}

/// ⌈a / b⌉ for positive integers: the number of tiles of b rows that cover a rows.
constexpr int ceil_div(int a, int b) { return a / b + (a % b != 0); }

}  // namespace tilewalk

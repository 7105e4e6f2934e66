// A table of the dense computation as a matrix of doubles.
#pragma once

#include "tests/core/problems.h"

namespace tilewalk::test {

inline Matrix matrix_of(const Dense::Table& table) {
    const auto rows = static_cast<Eigen::Index>(table.size()),
               cols = static_cast<Eigen::Index>(table[0].size());
    return Matrix::NullaryExpr(rows, cols, [&](Eigen::Index r, Eigen::Index c) {
        return static_cast<double>(table[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]);
    });
}

}  // namespace tilewalk::test

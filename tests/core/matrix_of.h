// A table of the dense computation as a matrix of doubles.
#pragma once

#include "tests/core/problems.h"

namespace tilewalk::test {

inline Matrix matrix_of(const Dense::Table& table) { return table.cast<double>(); }

}  // namespace tilewalk::test

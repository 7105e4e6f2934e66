// Numbers of a matrix that stand outside it: in a formula's result, at a bar, in the list of a drawing.
#pragma once

#include "core/base/numbers.h"

#include <string>

namespace tilewalk {

/// As the matrix has it, 1.000 where that has 0.368; what would be 0 there as a power of ten.
std::string text_alone(const MatrixDigits& digits, double value);
/// The decimals of the matrix show every one of its numbers exactly.
bool shows_all(const MatrixDigits& digits);

}  // namespace tilewalk

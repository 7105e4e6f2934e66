// What the parts of the comparison share.
#pragma once

#include "core/compare/kernel_compare.h"

namespace tilewalk {

/// Every output of the kernel against fp64 and against standard attention in the same type.
std::vector<OutputVerdict> judge_outputs(const KernelComparison& comparison);
/// The first number beyond rounding.
KernelFinding locate(const KernelComparison& comparison);

/// Floats of a record as a matrix.
Matrix as_matrix(const std::vector<float>& values, int rows, int columns);
/// How far the kernel is from the CPU's walk, over all cells.
KernelDistance distance_of(const ThreeWays& values, Format format);

}  // namespace tilewalk

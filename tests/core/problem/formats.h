// Rounding to the formats of GPUs in another way than the program does it: by looking up the neighbours in
// the list of all numbers of the format, made from their bit patterns.
#pragma once

#include "core/problem/problem.h"

#include <string>
#include <utility>
#include <vector>

namespace tilewalk::test {

/// Every number ≥ 0 of a format in rising order, so that its place is its bit pattern. Not for fp32 and fp64.
const std::vector<double>& numbers_of(Format format);

/// The nearest number of the format, the even bit pattern of two equally near; ±∞ (e4m3: ±448) beyond.
long double nearest(Format format, long double value);

/// As the formulas write them: {"fp16", Format::fp16}.
const std::vector<std::pair<std::string, Format>>& format_names();

}  // namespace tilewalk::test

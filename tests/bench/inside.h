// The record of a kernel: how long it takes to make, to draw and to walk through.
#pragma once

#include "tests/bench/timing.h"

namespace tilewalk::bench {

std::vector<Row> rows_inside();

}  // namespace tilewalk::bench

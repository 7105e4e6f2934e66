// Reports made up for tests of what shows them. Their numbers follow simple laws and were never measured.
#pragma once

#include "core/engine/report.h"

namespace tilewalk::test {

struct MadeUp {
    std::vector<std::int64_t> lengths = {512, 1024, 2048, 4096, 8192};
    std::vector<std::string> kernels = {"standard", "flash-eigen", "flash"};
    Direction direction = Direction::forward;
    std::int64_t d = 64, heads = 8;
    bool causal = false;
    DType dtype = DType::f32;
    std::int64_t memory = std::int64_t{4} << 30;  ///< what does not fit into it has no time
    double speed = 1;                             ///< factor of all rates
    std::string source = {};                      ///< of a file; empty: this run
};
/// Standard attention at 50 GFLOP/s, each further kernel half as fast again, of a peak of 120 GFLOP/s.
BenchReport made_up_report(const MadeUp& wish = {});

}  // namespace tilewalk::test

// The inputs of make_inputs() row by row, for those who must not hold all of them.
#pragma once

#include "core/engine/engine.h"

#include <random>

namespace tilewalk {

/// Rows of Q, of K, of V and, backward, of dO, in this order; each tensor head by head.
class InputStream {
public:
    InputStream(const Workload& workload, std::uint64_t seed) : w(workload), engine(seed) {}
    /// The next row, d floats.
    void next(float* row);
    void skip(std::int64_t rows);

private:
    Workload w;
    std::mt19937_64 engine;
    std::normal_distribution<float> normal;
};

}  // namespace tilewalk

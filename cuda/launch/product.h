// A product of matrices as the GPU's library computes it: many of one shape, in one call.
#pragma once

#include "core/base/dtype.h"

#include <cstdint>

namespace tilewalk::gpu {

/// One operand: row-major, `row` elements from row to row, `next` from one matrix to the next (0: all the
/// same).
struct Operand {
    const void* data = nullptr;
    std::int64_t row = 0, next = 0;
    bool transposed = false;  ///< its transpose is multiplied
};

/// C (m × n) = alpha · A (m × k) B (k × n) + beta · C, `count` times, summed in float.
struct Product {
    DType type = DType::f32;         ///< of A and B
    DType result_type = DType::f32;  ///< of C: `type` or f32
    int m = 0, n = 0, k = 0, count = 1;
    float alpha = 1, beta = 0;
    Operand A, B;
    void* C = nullptr;
    std::int64_t C_row = 0, C_next = 0;
};

}  // namespace tilewalk::gpu

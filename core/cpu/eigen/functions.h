// What is written with Eigen. Eigen chooses its instructions when it is compiled, so the files of this folder
// are compiled once for each instruction set (core/CMakeLists.txt), each time with a namespace of Eigen of
// its own, and the program takes the best that the machine has. They include little else: what the standard
// library defines inline must not be compiled for instructions that the machine may lack.
#pragma once

#include "core/engine/engine.h"

namespace tilewalk::cpu {

/// A row-major matrix in memory, or the transpose of one: row r begins at data + r · stride.
struct Operand {
    const float* data;
    std::int64_t stride;
    bool transposed = false;
};

/// C ← factor · A B, or with `add` C ← C + factor · A B; C has rows × columns, A rows × depth.
struct Product {
    std::int64_t rows, columns, depth;
    float factor;
    Operand A, B;
    float* C;
    std::int64_t stride;  ///< of C
    bool add = false;
};

/// A tile of flash_eigen(): `rows` queries from `row` on meet `keys` keys from `key` on. Pointers are those
/// of the head, from its first row.
struct FlashTile {
    const Workload& w;
    std::int64_t row, rows, key, keys;
    const float *Q, *K, *V, *dO;
    float *O, *L;         ///< forward, O is not yet divided by ℓ
    float *dQ, *dK, *dV;  ///< grow with each tile
    const float* D;
    float *m, *l;   ///< of these queries; forward they grow
    float *S, *dS;  ///< of this thread, rows × keys each; dS backward only
};

/// The functions as compiled for one instruction set.
struct EigenFunctions {
    const char* version;  ///< of Eigen, "3.4.0"
    void (*multiply)(const Product& product);
    /// P ← softmax(S) of one row of `count` scores; returns L = m + ln ℓ.
    float (*softmax_row)(const float* S, float* P, std::int64_t count);
    /// x · y
    float (*dot)(const float* x, const float* y, std::int64_t count);
    /// dP ← P ⊙ (dP − D), which is dS, of one row
    void (*score_gradient_row)(const float* P, float* dP, float D, std::int64_t count);
    /// Before, after and for each tile of a query block.
    void (*flash_begin)(const FlashTile& tile);
    void (*flash_forward)(const FlashTile& tile);
    void (*flash_end)(const FlashTile& tile);
    void (*flash_backward)(const FlashTile& tile);
};

/// For the best instruction set that this machine has.
const EigenFunctions& eigen_functions();

}  // namespace tilewalk::cpu

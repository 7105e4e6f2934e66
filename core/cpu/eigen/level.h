// One of the instruction sets that this folder is compiled for: TILEWALK_LEVEL names it and the namespace,
// and Eigen is a macro for an Eigen of its own (core/CMakeLists.txt).
#pragma once

#include "core/cpu/eigen/functions.h"

#include <Eigen/Core>

namespace tilewalk::cpu::TILEWALK_LEVEL {

void multiply(const Product& product);
float softmax_row(const float* S, float* P, std::int64_t count);
float dot(const float* x, const float* y, std::int64_t count);
void score_gradient_row(const float* P, float* dP, float D, std::int64_t count);
void flash_begin(const FlashTile& tile);
void flash_forward(const FlashTile& tile);
void flash_end(const FlashTile& tile);
void flash_backward(const FlashTile& tile);

}  // namespace tilewalk::cpu::TILEWALK_LEVEL

// The product of standard attention: OpenBLAS where the system has it, otherwise Eigen.
#pragma once

#include "core/cpu/eigen/functions.h"

namespace tilewalk::cpu {

/// C ← factor · A B, or C ← C + factor · A B. Any number of threads may call it at once, each with a C of its
/// own; it uses the calling thread alone.
void multiply(const Product& product);

}  // namespace tilewalk::cpu

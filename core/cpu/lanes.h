// The instruction sets that the kernels are compiled for. The best one that the machine has is chosen at run
// time, so that one program is fast on all of them.
#pragma once

// Before Highway, which reads it. SSSE3 is on no machine where speed matters, AVX3_DL adds nothing for
// floats, and vectors whose length only the running machine knows (SVE, RVV) cannot stand in arrays of
// registers; Arm runs NEON instead.
#define HWY_DISABLED_TARGETS                                                                                 \
    (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

#include <cstdint>
#include <string>
#include <vector>

namespace tilewalk::cpu {

/// Those that this program holds and this machine runs, best first: "AVX-512", "AVX2", "SSE4", "NEON",
/// "no vectors".
std::vector<std::string> instruction_sets();
/// From now on this one instead of the best; an empty name: the best again. For tests and comparisons, while
/// no kernel exists: a kernel lays out its memory for the instruction set it was made under.
void use_instruction_set(const std::string& name);

/// Lanes of one panel of the kernels: two vectors of the instruction set in use.
std::int64_t panel_width();
/// y[k] = 2^x[k], for the tests of exp2() of lanes-inl.h.
void exp2_of(const float* x, float* y, std::int64_t count);

}  // namespace tilewalk::cpu

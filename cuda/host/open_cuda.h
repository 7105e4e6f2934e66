// The GPU as a device.
#pragma once

#include "cuda/host/backend.h"

namespace tilewalk::gpu {

/// The lowest architecture that kernels were compiled for, and the lowest from 8.0 on; 1000: none.
struct CompiledFor {
    int least = 75, least_from_ampere = 80;
};
/// As refuse_capability(). A driver would run code for 7.5 on a later GPU, too, but that is compiled without
/// what the host thinks is there.
std::string refuse_code(int capability, CompiledFor code);

/// The first GPU; null, and the reason as a phrase, where there is none.
std::unique_ptr<Device> open_cuda(std::string& why_not);

/// The rungs as they are compiled for a GPU; empty without CUDA.
const std::vector<const Rung*>& cuda_ladder();
/// cuda/kernels/intrinsics.cu, for tests; null without CUDA.
const Rung* cuda_intrinsics();

}  // namespace tilewalk::gpu

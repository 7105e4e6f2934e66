// The GPU as a device.
#pragma once

#include "cuda/host/backend.h"

namespace tilewalk::gpu {

/// The first GPU; null, and the reason as a phrase, where there is none.
std::unique_ptr<Device> open_cuda(std::string& why_not);

/// The rungs as they are compiled for a GPU; empty without CUDA.
const std::vector<const Rung*>& cuda_ladder();
/// cuda/kernels/intrinsics.cu, for tests; null without CUDA.
const Rung* cuda_intrinsics();

}  // namespace tilewalk::gpu

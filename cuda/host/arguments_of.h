// A workload as the kernels see it.
#pragma once

#include "core/engine/engine.h"
#include "cuda/launch/arguments.h"

namespace tilewalk::gpu {

/// Where the dense tensors of a workload lie on a device; null: not there.
struct DeviceTensors {
    void *Q = nullptr, *K = nullptr, *V = nullptr, *O = nullptr;
    void *dO = nullptr, *dQ = nullptr, *dK = nullptr, *dV = nullptr;
    float* L = nullptr;
};

Arguments arguments_of(const Workload& workload, const DeviceTensors& tensors);

/// Why no kernel takes these sizes, as a phrase or a sentence, if that is so: they do not fit together, or
/// the grid of a launch does not hold them.
std::optional<std::string> refuse_sizes(const Workload& workload);

}  // namespace tilewalk::gpu

// A workload as the kernels see it, and the rungs of a device that take it.
#pragma once

#include "core/engine/engine.h"
#include "cuda/host/backend.h"
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

/// Null if the device has none of that name.
const Rung* find_rung(const Device& device, const std::string& name);
/// What gives the backward pass its O and L: the last forward rung of the ladder that takes these sizes and
/// holds no N × N matrix; null if there is none.
const Rung* forward_rung(const Device& device, const Arguments& sizes, DType type);

}  // namespace tilewalk::gpu

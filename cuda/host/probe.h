// What is known of the NVIDIA GPUs of this machine. C++17, for nvcc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewalk::gpu {

struct GpuInfo {
    std::string name;
    int major = 0, minor = 0;  ///< compute capability
    int multiprocessors = 0;
    std::int64_t memory_total = 0;  ///< bytes
    /// How many of them are free, as the driver's own tools know it; −1 where they are not there. To ask CUDA
    /// would make a context on every GPU, some hundred MB each.
    std::int64_t memory_free = -1;
    bool watched = false;  ///< it drives a display, and the driver ends what runs there for some seconds
};

/// Why kernels that were compiled for `least` and later do not run on a GPU of this compute capability (10 ·
/// major + minor), as a phrase; empty if they do.
std::string refuse_capability(int capability, int least);

/// What was found. Versions are "13.0", or empty where there is none.
struct Probe {
    std::vector<GpuInfo> devices;
    std::string why_none;  ///< the reason, as a phrase, when `devices` is empty
    std::string driver_version, runtime_version;
};

/// Asks the driver; never fails, takes some 100 ms on a machine with a GPU.
Probe probe();

}  // namespace tilewalk::gpu

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
    std::int64_t memory_total = 0, memory_free = 0;  ///< bytes
};

/// What was found. Versions are "13.0", or empty where there is none.
struct Probe {
    std::vector<GpuInfo> devices;
    std::string why_none;  ///< the reason, as a phrase, when `devices` is empty
    std::string driver_version, runtime_version;
};

/// Asks the driver; never fails, takes some 100 ms on a machine with a GPU.
Probe probe();

}  // namespace tilewalk::gpu

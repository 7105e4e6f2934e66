#include "cuda/host/probe.h"

#include <cuda_runtime.h>

namespace tilewalk::gpu {
namespace {

// CUDA writes 13.0 as 13000 and 12.4 as 12040.
std::string version(int number) {
    if (number <= 0) return "";
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string reason(cudaError_t error, const Probe& found) {
    if (found.driver_version.empty()) return "no NVIDIA driver";
    if (error == cudaErrorInsufficientDriver)
        return "the NVIDIA driver knows CUDA " + found.driver_version + ", this program needs " +
               found.runtime_version;
    if (error == cudaSuccess || error == cudaErrorNoDevice) return "no NVIDIA GPU";
    return std::string(cudaGetErrorString(error)) + " (" + cudaGetErrorName(error) + ")";
}

cudaError_t describe(int index, GpuInfo& device) {
    cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, index);
    if (error != cudaSuccess) return error;
    device.name = properties.name;
    device.major = properties.major;
    device.minor = properties.minor;
    device.multiprocessors = properties.multiProcessorCount;
    device.memory_total = static_cast<std::int64_t>(properties.totalGlobalMem);

    // Free memory needs a context on that device.
    std::size_t free = 0, total = 0;
    error = cudaSetDevice(index);
    if (error == cudaSuccess) error = cudaMemGetInfo(&free, &total);
    device.memory_free = static_cast<std::int64_t>(free);
    return error;
}

}  // namespace

Probe probe() {
    Probe found;
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    found.driver_version = version(driver);
    found.runtime_version = version(runtime);

    int current = 0, count = 0;
    cudaGetDevice(&current);
    cudaError_t error = cudaGetDeviceCount(&count);
    for (int index = 0; error == cudaSuccess && index < count; ++index) {
        GpuInfo device;
        error = describe(index, device);
        if (error == cudaSuccess) found.devices.push_back(device);
    }
    if (!found.devices.empty()) cudaSetDevice(current);  // describe() has changed it
    if (found.devices.empty()) found.why_none = reason(error, found);
    cudaGetLastError();  // leaves no sticky error for the next caller
    return found;
}

}  // namespace tilewalk::gpu

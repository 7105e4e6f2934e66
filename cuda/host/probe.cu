#include "cuda/host/probe.h"

#include <cuda_runtime.h>

#include <dlfcn.h>

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

/// The driver's library for its own tools (NVML), which needs no context to say how much memory is free.
class Management {
public:
    Management() : library(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
        int (*const begin)() = find<int (*)()>("nvmlInit_v2");
        by_place = find<decltype(by_place)>("nvmlDeviceGetHandleByPciBusId_v2");
        memory_of = find<decltype(memory_of)>("nvmlDeviceGetMemoryInfo");
        ready = begin && by_place && memory_of && begin() == 0;
    }
    /// −1: not known
    std::int64_t free_bytes(const char* place) const {
        void* device = nullptr;
        Memory memory{};
        if (!ready || by_place(place, &device) != 0 || memory_of(device, &memory) != 0) return -1;
        return static_cast<std::int64_t>(memory.free);
    }

private:
    struct Memory {
        unsigned long long total, free, used;
    };
    template <class F> F find(const char* name) const {
        return library ? reinterpret_cast<F>(dlsym(library, name)) : nullptr;
    }
    void* library;
    int (*by_place)(const char*, void**) = nullptr;
    int (*memory_of)(void*, Memory*) = nullptr;
    bool ready = false;
};

cudaError_t describe(int index, GpuInfo& device) {
    cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, index);
    if (error != cudaSuccess) return error;
    device.name = properties.name;
    device.major = properties.major;
    device.minor = properties.minor;
    device.multiprocessors = properties.multiProcessorCount;
    device.memory_total = static_cast<std::int64_t>(properties.totalGlobalMem);
    int watched = 0;
    cudaDeviceGetAttribute(&watched, cudaDevAttrKernelExecTimeout, index);
    device.watched = watched != 0;
    char place[32] = "";
    cudaDeviceGetPCIBusId(place, sizeof place, index);
    static const Management management;
    device.memory_free = management.free_bytes(place);
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

    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    for (int index = 0; error == cudaSuccess && index < count; ++index) {
        GpuInfo device;
        error = describe(index, device);
        if (error == cudaSuccess) found.devices.push_back(device);
    }
    if (found.devices.empty()) found.why_none = reason(error, found);
    cudaGetLastError();  // leaves no sticky error for the next caller
    return found;
}

}  // namespace tilewalk::gpu

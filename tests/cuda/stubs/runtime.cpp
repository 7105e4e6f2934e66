// The functions of the CUDA runtime that the project calls, but for those that launch
// (tests/cuda/ptx/runtime.cpp), in a GPU that is not there. Each says what gpu.h told it to say.
#include "tests/cuda/ptx/launches.h"
#include "tests/cuda/stubs/device.h"
#include "tests/cuda/stubs/errors.h"

#include <chrono>
#include <cstdio>
#include <cstring>

namespace {

using tilewalk::stubs::Gpu;
using tilewalk::stubs::gpu;
using Clock = std::chrono::steady_clock;

template <class F> cudaError_t answer(const char* function, const F& body) {
    const std::lock_guard lock(gpu().mutex);
    int error = tilewalk::ptx::refusal(function);
    if (error == cudaSuccess) error = body(gpu());
    if (error != cudaSuccess) tilewalk::ptx::last_error() = error;  // until somebody asks for it
    return static_cast<cudaError_t>(error);
}

unsigned char* bytes_at(Gpu& g, const void* address, std::size_t bytes) {
    return g.machine.memory.find(reinterpret_cast<std::uintptr_t>(address), bytes);
}

cudaError_t fill(Gpu& g, void* memory, int value, std::size_t bytes) {
    unsigned char* const to = bytes_at(g, memory, bytes);
    if (!to) return cudaErrorInvalidValue;
    std::memset(to, value, bytes);
    return cudaSuccess;
}

// What the programming guide says of every compute capability, and what was asked for.
cudaError_t attribute(const Gpu& g, int* value, cudaDeviceAttr which) {
    switch (which) {
    case cudaDevAttrComputeCapabilityMajor: *value = g.capability / 10; break;
    case cudaDevAttrComputeCapabilityMinor: *value = g.capability % 10; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = tilewalk::ptx::shared_of_block(); break;
    case cudaDevAttrMultiProcessorCount: *value = 4; break;
    case cudaDevAttrKernelExecTimeout: *value = g.watched; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

const tilewalk::stubs::ErrorInfo* find(cudaError_t error) {
    for (const auto& info : tilewalk::stubs::all_errors)
        if (info.error == error) return &info;
    return nullptr;
}

struct Event {
    Clock::time_point when;
};

}  // namespace

extern "C" {

// ---- Of what there is

cudaError_t cudaDriverGetVersion(int* version) {
    *version = gpu().driver;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
const char* cudaGetErrorName(cudaError_t error) {
    const auto* const info = find(error);
    return info ? info->name : "an error of no name";
}
const char* cudaGetErrorString(cudaError_t error) {
    const auto* const info = find(error);
    return info ? info->text : "an error of no name";
}
cudaError_t cudaGetDeviceCount(int* count) {
    return answer("cudaGetDeviceCount", [&](Gpu& g) { return *count = g.devices, cudaSuccess; });
}
cudaError_t cudaSetDevice(int) {
    return answer("cudaSetDevice", [](Gpu&) { return cudaSuccess; });
}
cudaError_t cudaGetDevice(int* device) {
    return answer("cudaGetDevice", [&](Gpu&) { return *device = 0, cudaSuccess; });
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
    return answer("cudaGetDeviceProperties", [&](Gpu& g) {
        *properties = {};
        std::snprintf(properties->name, sizeof properties->name, "stand-in for a GPU");
        properties->major = g.capability / 10, properties->minor = g.capability % 10;
        properties->multiProcessorCount = 4;
        properties->totalGlobalMem = static_cast<std::size_t>(g.memory);
        properties->sharedMemPerBlockOptin = static_cast<std::size_t>(tilewalk::ptx::shared_of_block());
        properties->l2CacheSize = 1 << 20;
        properties->maxThreadsPerBlock = 1024;
        properties->maxGridSize[0] = 2147483647;
        properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
        return cudaSuccess;
    });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
    return answer("cudaDeviceGetAttribute", [&](Gpu& g) { return attribute(g, value, which); });
}
cudaError_t cudaDeviceGetPCIBusId(char* place, int size, int) {
    return answer("cudaDeviceGetPCIBusId", [&](Gpu&) {
        std::snprintf(place, static_cast<std::size_t>(size), "0000:00:00.0");
        return cudaSuccess;
    });
}

// ---- Memory

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
    return answer("cudaMalloc", [&](Gpu& g) {
        if (g.live.bytes + static_cast<std::int64_t>(bytes) > g.memory) return cudaErrorMemoryAllocation;
        const std::uint64_t address = g.machine.memory.allocate(bytes);
        g.pieces[address] = static_cast<std::int64_t>(bytes);
        ++g.live.pieces, g.live.bytes += static_cast<std::int64_t>(bytes);
        // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the device, no object of the host
        *memory = reinterpret_cast<void*>(address);
        return cudaSuccess;
    });
}
// A lost device gives nothing back, and what was taken of it is gone.
cudaError_t cudaFree(void* memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const std::lock_guard lock(gpu().mutex);
    if (!memory) return cudaSuccess;
    const auto piece = gpu().pieces.find(address);
    if (piece == gpu().pieces.end()) return cudaErrorInvalidValue;
    gpu().machine.memory.release(address);
    --gpu().live.pieces, gpu().live.bytes -= piece->second;
    gpu().pieces.erase(piece);
    return static_cast<cudaError_t>(tilewalk::ptx::refusal("cudaFree"));
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    return answer("cudaMemGetInfo", [&](Gpu& g) {
        *total = static_cast<std::size_t>(g.memory);
        *free = static_cast<std::size_t>(g.memory - g.live.bytes);
        return cudaSuccess;
    });
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
    return answer("cudaMemset", [&](Gpu& g) { return fill(g, memory, value, bytes); });
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t) {
    return answer("cudaMemsetAsync", [&](Gpu& g) { return fill(g, memory, value, bytes); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
    return answer("cudaMemcpyAsync", [&](Gpu& g) {
        const bool up = kind == cudaMemcpyHostToDevice;
        unsigned char* const far = bytes_at(g, up ? to : from, bytes);
        if (!far || (!up && kind != cudaMemcpyDeviceToHost)) return cudaErrorInvalidValue;
        std::memcpy(up ? far : to, up ? from : far, bytes);
        return cudaSuccess;
    });
}

// ---- Order and time: all has happened when a call returns

cudaError_t cudaDeviceSynchronize() {
    return answer("cudaDeviceSynchronize", [](Gpu&) { return cudaSuccess; });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    return answer("cudaStreamCreateWithFlags", [&](Gpu& g) {
        ++g.live.streams;
        *stream = reinterpret_cast<cudaStream_t>(new Event);
        return cudaSuccess;
    });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    delete reinterpret_cast<Event*>(stream);
    --gpu().live.streams;
    return static_cast<cudaError_t>(tilewalk::ptx::refusal("cudaStreamDestroy"));
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
    return answer("cudaStreamSynchronize", [](Gpu&) { return cudaSuccess; });
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return answer("cudaEventCreate", [&](Gpu& g) {
        ++g.live.events;
        *event = reinterpret_cast<cudaEvent_t>(new Event);
        return cudaSuccess;
    });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete reinterpret_cast<Event*>(event);
    --gpu().live.events;
    return static_cast<cudaError_t>(tilewalk::ptx::refusal("cudaEventDestroy"));
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
    return answer("cudaEventRecord", [&](Gpu&) {
        reinterpret_cast<Event*>(event)->when = Clock::now();
        return cudaSuccess;
    });
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
    return answer("cudaEventSynchronize", [](Gpu&) { return cudaSuccess; });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    return answer("cudaEventElapsedTime", [&](Gpu&) {
        const auto *from = reinterpret_cast<Event*>(begin), *to = reinterpret_cast<Event*>(end);
        *milliseconds = std::chrono::duration<float, std::milli>(to->when - from->when).count();
        return cudaSuccess;
    });
}

}  // extern "C"

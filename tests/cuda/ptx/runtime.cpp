// The functions of the CUDA runtime that nvcc's code for the host calls, as far as launching kernels goes,
// and what they need beside it.
#include "tests/cuda/ptx/launches.h"

#include <cuda_runtime_api.h>

#include <unordered_map>
#include <utility>
#include <vector>

namespace {

struct HostKernel {
    std::string name;                    ///< mangled, as the module has it
    std::size_t most_shared = 48 << 10;  ///< bytes that a launch may ask for, unless it is told otherwise
};
// Filled before main() begins
std::unordered_map<const void*, HostKernel>& kernels() {
    static std::unordered_map<const void*, HostKernel> all;
    return all;
}
struct Configuration {
    dim3 blocks, threads;
    std::size_t shared;
    void* stream;
};
std::vector<Configuration> configurations;

cudaError_t failed(int error) {
    tilewalk::ptx::last_error() = error;
    return static_cast<cudaError_t>(error);
}

cudaError_t launch(const void* of, dim3 blocks, dim3 threads, void** arguments, std::size_t shared) {
    using namespace tilewalk::ptx;
    if (const int error = refusal("cudaLaunchKernel")) return failed(error);
    const HostKernel& kernel = kernels().at(of);
    if (shared > kernel.most_shared || blocks.y > 65535 || blocks.z > 65535 || threads.x > 1024 ||
        threads.y * threads.z != 1)
        return failed(cudaErrorInvalidValue);
    try {
        const Launch shape{
            {static_cast<int>(blocks.x), static_cast<int>(blocks.y), static_cast<int>(blocks.z)},
            static_cast<int>(threads.x),
            shared};
        current_machine()->launch(find_kernel(kernel.name), shape, arguments);
    } catch (const Error& error) {
        return failed(note_failure(error.what()));
    }
    return cudaSuccess;
}

}  // namespace

int& tilewalk::ptx::last_error() {
    static int one = cudaSuccess;
    return one;
}

// NVIDIA gave them their names.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {

void** __cudaRegisterFatBinary(void*) {
    static void* handle = nullptr;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {
    kernels()[host].name = name;
}

unsigned __cudaPushCallConfiguration(dim3 blocks, dim3 threads, std::size_t shared, CUstream_st* stream) {
    configurations.push_back({blocks, threads, shared, stream});
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* blocks, dim3* threads, std::size_t* shared, void* stream) {
    const Configuration last = configurations.back();
    configurations.pop_back();
    *blocks = last.blocks, *threads = last.threads, *shared = last.shared;
    *static_cast<void**>(stream) = last.stream;
    return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* kernel, dim3 blocks, dim3 threads, void** arguments,
                             std::size_t shared, cudaStream_t) {
    return launch(kernel, blocks, threads, arguments, shared);
}
// From CUDA 13 on the launch goes by a handle
cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* kernel) {
    *handle = static_cast<cudaKernel_t>(const_cast<void*>(kernel));
    return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 blocks, dim3 threads, void** arguments,
                               std::size_t shared, cudaStream_t) {
    return launch(kernel, blocks, threads, arguments, shared);
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
    using namespace tilewalk::ptx;
    if (const int error = refusal("cudaFuncSetAttribute")) return failed(error);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value > shared_of_block())
        return failed(cudaErrorInvalidValue);
    kernels().at(kernel).most_shared = static_cast<std::size_t>(value);
    return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
    if (const int error = tilewalk::ptx::refusal("cudaGetDriverEntryPointByVersion")) return failed(error);
    *function = tilewalk::ptx::driver_function(name);
    *found = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}
cudaError_t cudaGetLastError() {
    if (const int error = tilewalk::ptx::refusal("cudaGetLastError")) return static_cast<cudaError_t>(error);
    return static_cast<cudaError_t>(std::exchange(tilewalk::ptx::last_error(), 0));
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)

#include "cuda/torch/tilewalk_kernels.h"

#include "cuda/device/not_tried.h"
#include "cuda/kernels/ladder.h"

#include <cstdio>
#include <map>

namespace tilewalk::gpu {

namespace {

const Rung& rung(std::int32_t kernel) { return *on_cuda::ladder().at(static_cast<std::size_t>(kernel)); }

Tensor tensor(const tilewalk_tensor& t) { return {t.data, t.batch, t.head, t.row}; }

Arguments arguments(const tilewalk_arguments& from) {
    Arguments a;
    a.Q = tensor(from.Q), a.K = tensor(from.K), a.V = tensor(from.V), a.O = tensor(from.O);
    a.dO = tensor(from.dO), a.dQ = tensor(from.dQ), a.dK = tensor(from.dK), a.dV = tensor(from.dV);
    a.L = from.L;
    a.batch = from.batch, a.heads = from.heads, a.kv_heads = from.kv_heads;
    a.N_q = from.N_q, a.N_kv = from.N_kv, a.d = from.d;
    a.scale = from.scale, a.before = from.before, a.after = from.after;
    a.workspace = from.workspace;
    return a;
}

Chip this_chip() {
    int device = 0, value = 0;
    Chip chip;
    cudaGetDevice(&device);
    const auto ask = [&](cudaDeviceAttr what) {
        cudaDeviceGetAttribute(&value, what, device);
        return value;
    };
    chip.capability = 10 * ask(cudaDevAttrComputeCapabilityMajor) + ask(cudaDevAttrComputeCapabilityMinor);
    chip.shared_per_block = ask(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    chip.multiprocessors = ask(cudaDevAttrMultiProcessorCount);
    return chip;
}

// One for each stream of the caller's: cuBLAS begins once.
CudaStream& stream_of(void* handle) {
    static std::map<void*, CudaStream> streams;
    CudaStream& stream = streams[handle];
    stream.handle = static_cast<cudaStream_t>(handle);
    stream.chip = this_chip();
    stream.error = cudaSuccess;
    stream.where.clear();
    return stream;
}

std::int32_t say(const std::string& text, char* reason, std::int32_t size) {
    std::snprintf(reason, static_cast<std::size_t>(size), "%s", text.c_str());
    return text.empty() ? 0 : 1;
}

using Step = void (*)(const Arguments&, DType, Stream&);

std::int32_t queue(Step step, const tilewalk_arguments& a, std::int32_t type, void* handle, char* reason,
                   std::int32_t size) {
    CudaStream& stream = stream_of(handle);
    step(arguments(a), static_cast<DType>(type), stream);
    if (stream.error == cudaSuccess) return say("", reason, size);
    if (was_not_tried(stream)) return say(stream.where, reason, size);
    return say(stream.where + (stream.where.empty() ? "" : ": ") + cudaGetErrorString(stream.error), reason,
               size);
}

}  // namespace

}  // namespace tilewalk::gpu

using namespace tilewalk::gpu;

extern "C" {

int32_t tilewalk_kernel_count() { return static_cast<int32_t>(on_cuda::ladder().size()); }
const char* tilewalk_kernel_name(int32_t kernel) { return rung(kernel).name; }
int32_t tilewalk_kernel_is_backward(int32_t kernel) {
    return rung(kernel).direction == tilewalk::Direction::backward ? 1 : 0;
}
int32_t tilewalk_refuse(int32_t kernel, const tilewalk_arguments* a, int32_t type, char* reason,
                        int32_t size) {
    return say(rung(kernel).refuse(arguments(*a), static_cast<tilewalk::DType>(type), this_chip()), reason,
               size);
}
int64_t tilewalk_workspace_bytes(int32_t kernel, const tilewalk_arguments* a, int32_t type) {
    return rung(kernel).workspace(arguments(*a), static_cast<tilewalk::DType>(type));
}
int32_t tilewalk_prepare(int32_t kernel, const tilewalk_arguments* a, int32_t type, void* stream,
                         char* reason, int32_t size) {
    const Step step = rung(kernel).prepare;
    return step ? queue(step, *a, type, stream, reason, size) : say("", reason, size);
}
int32_t tilewalk_launch(int32_t kernel, const tilewalk_arguments* a, int32_t type, void* stream, char* reason,
                        int32_t size) {
    if (tilewalk_refuse(kernel, a, type, reason, size)) return 1;
    return queue(rung(kernel).launch, *a, type, stream, reason, size);
}

}  // extern "C"

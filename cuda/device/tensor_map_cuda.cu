// The driver describes a tensor for TMA. The program does not link the driver, which may not be there: the
// runtime finds the function.
#include "cuda/device/device.h"

namespace tilewalk::gpu::on_cuda {

namespace {

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                            const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                            CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/// Null where the driver does not have it: one for CUDA 12 does.
Encode find_encode(cudaError_t& error) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                             &found);
#else
    error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
    const bool there = error == cudaSuccess && found == cudaDriverEntryPointSuccess;
    return there ? reinterpret_cast<Encode>(function) : nullptr;
}

}  // namespace

TensorMap tensor_map(CudaStream& stream, const Tensor& t, CUtensorMapDataType type, int d, int N, int heads,
                     int batch, int rows) {
    TensorMap map{};
    if (stream.error != cudaSuccess) return map;
    const Encode encode = find_encode(stream.error);
    if (!encode) {
        if (stream.error == cudaSuccess) stream.error = cudaErrorNotSupported;
        stream.where = "looking for the driver's cuTensorMapEncodeTiled";
        return map;
    }
    // Where there is one row, head or batch, nobody steps to the next: any stride would do.
    const auto bytes = [](std::int64_t elements, int count) {
        return static_cast<cuuint64_t>(2 * (count > 1 ? elements : 64));
    };
    const auto size = [](int n) { return static_cast<cuuint64_t>(n); };
    const cuuint64_t sizes[] = {size(d), size(N), size(heads), size(batch)};
    const cuuint64_t strides[] = {bytes(t.row, N), bytes(t.head, heads), bytes(t.batch, batch)};
    const cuuint32_t box[] = {64, static_cast<cuuint32_t>(rows), 1, 1}, steps[] = {1, 1, 1, 1};
    const CUresult result = encode(&map, type, 4, t.data, sizes, strides, box, steps,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result == CUDA_SUCCESS) return map;
    stream.error = cudaErrorInvalidValue;
    stream.where = "describing a tensor for TMA, error " + std::to_string(result) + " of the driver";
    return map;
}

}  // namespace tilewalk::gpu::on_cuda

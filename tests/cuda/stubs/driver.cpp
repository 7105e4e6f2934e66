// The one function of the driver that the project asks for, found by its name as the runtime finds it.
#include "tests/cuda/ptx/launches.h"
#include "tests/cuda/stubs/tensor_maps.h"

#include <cuda.h>

#include <cstring>

namespace {

using tilewalk::stubs::EncodedMap;

// What the manual asks for (CUDA driver API, "Tensor Map Object Management"); of all that it allows the
// project uses this.
bool is_allowed(const void* map, cuuint32_t rank, const void* data, const EncodedMap& m,
                const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                CUtensorMapFloatOOBfill fill) {
    const auto aligned = [](const void* p, std::uintptr_t to) {
        return reinterpret_cast<std::uintptr_t>(p) % to == 0;
    };
    bool allowed = rank == 4 && aligned(map, 64) && aligned(data, 16) &&
                   interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && swizzle == CU_TENSOR_MAP_SWIZZLE_128B &&
                   fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && 2 * m.box[0] <= 128 && 2 * m.box[0] % 16 == 0;
    for (const std::uint64_t size : m.sizes) allowed &= size >= 1 && size <= std::uint64_t(1) << 32;
    for (const std::uint64_t stride : m.strides)
        allowed &= stride % 16 == 0 && stride < std::uint64_t(1) << 40;
    for (std::size_t n = 0; n < 4; ++n) allowed &= m.box[n] >= 1 && m.box[n] <= 256 && steps[n] == 1;
    return allowed;
}

CUresult encode_tiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* data,
                      const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                      const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                      CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
    if (const int error = tilewalk::ptx::refusal("cuTensorMapEncodeTiled"))
        return static_cast<CUresult>(error);
    EncodedMap m{reinterpret_cast<std::uintptr_t>(data), {}, {}, {}, static_cast<std::int32_t>(type)};
    for (std::size_t n = 0; n < 4; ++n) m.sizes[n] = sizes[n], m.box[n] = box[n];
    for (std::size_t n = 0; n < 3; ++n) m.strides[n] = strides[n];
    if (!is_allowed(map, rank, data, m, steps, interleave, swizzle, fill)) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(map, &m, sizeof m);
    return CUDA_SUCCESS;
}

}  // namespace

void* tilewalk::ptx::driver_function(const char* name) {
    return std::strcmp(name, "cuTensorMapEncodeTiled") == 0 ? reinterpret_cast<void*>(encode_tiled) : nullptr;
}

// Why a launch was not even tried: no error of CUDA's, and the device is as it was. For .cu files.
#pragma once

#include "cuda/device/stream_cuda.h"

namespace tilewalk::gpu {

/// What a stream has for its error where cuBLAS is not there.
constexpr cudaError_t no_cublas = cudaErrorSharedObjectSymbolNotFound;

/// Then stream.where is the whole reason: a launch that was refused, or a library that is missing.
inline bool was_not_tried(const CudaStream& stream) {
    return stream.error == cudaErrorInvalidConfiguration || stream.error == no_cublas;
}

}  // namespace tilewalk::gpu

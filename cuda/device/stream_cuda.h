// Launches on a GPU. For .cu files.
#pragma once

#include "cuda/launch/arguments.h"

#include <cuda_runtime.h>

#include <string>

namespace tilewalk::gpu {

class CudaStream : public Stream {
public:
    cudaStream_t handle = nullptr;
    cudaError_t error = cudaSuccess;  ///< the first; nothing is launched after it
    std::string where;                ///< what failed, as a phrase: "starting cuBLAS"
    void* cublas = nullptr;           ///< handle, made when it is first needed
    void* product_memory = nullptr;   ///< for cuBLAS to work in; null: it takes its own
    std::size_t product_bytes = 0;
};

}  // namespace tilewalk::gpu

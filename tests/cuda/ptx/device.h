// The machine in place of a GPU: the host's code, as nvcc compiled it, launches its kernels here.
//
// The program that links this gets open_cuda() and the functions of the CUDA runtime from here (device.cpp,
// runtime.cpp) instead of from cuda/host and NVIDIA's library. So everything over the "GPU" goes to the
// machine: make_engine(), trace_kernel() and the ladder.
#pragma once

#include "cuda/host/backend.h"
#include "tests/cuda/ptx/machine.h"

#include <string>

namespace tilewalk::ptx {

/// What the next device is like.
struct Setup {
    std::string folder;  ///< with NAME.PTX for each source of kernels, in a folder for each architecture:
                         ///< 80/f5_flash2.ptx
    int capability = 80;
    Schedule schedule;
    Fault fault = Fault::none;
    bool plain_arithmetic = false;  ///< Machine::plain_arithmetic
};
Setup& setup();

/// What a rung is told of a chip of that compute capability, 10 · major + minor.
gpu::Chip chip_of(int capability);

/// Instructions of warps since the program began.
std::int64_t executed();

}  // namespace tilewalk::ptx

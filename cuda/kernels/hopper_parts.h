// What f7 and b4 have in common: who works in a block, in which buffer a tile lies, and which chips they
// take.
#pragma once

#include "cuda/kernels/panels.h"
#include "cuda/kernels/rung_parts.h"

namespace tilewalk::gpu::BACKEND {

/// Four warps of which one fetches, and two groups of four that compute; tiles that pass by have two buffers.
constexpr int group_threads = 128, consumers = 2, stages = 2;
constexpr int consumer_threads = consumers * group_threads;
/// Of 65,536 registers 384 threads get 168 each; who only fetches gives most of them to those who compute.
constexpr int producer_registers = 24, consumer_registers = 240;

/// Which buffer tile n lies in, and in which phase of its barriers: every second use has the same parity.
struct Turn {
    int stage, parity;
    DEVICE explicit Turn(int n) : stage(n % stages), parity(n / stages % 2) {}
};

/// sm_90a: code for it runs on compute capability 9.0 and nowhere else.
inline std::string refuse_all_but_hopper(const Chip& chip) {
#if defined(TILEWALK_WITHOUT_HOPPER)
    return "wgmma, which the nvcc of this build does not know (CUDA 12.0 does)";
#endif
    if (chip.capability == 90) return "";
    return "compute capability " + std::to_string(chip.capability / 10) + "." +
           std::to_string(chip.capability % 10) + " (wgmma is there on 9.0, before and after it not)";
}

}  // namespace tilewalk::gpu::BACKEND

// The emulator as a device.
#pragma once

#include "cuda/emulator/block.h"
#include "cuda/host/backend.h"

namespace tilewalk::gpu {

/// `chip` says which device it pretends to be: capability and shared memory, for what rungs refuse.
std::unique_ptr<Device> open_emulator(const emulator::Options& options = {}, const Chip& chip = {});
/// cuda/kernels/intrinsics.cu, for tests.
const Rung& emulated_intrinsics();

}  // namespace tilewalk::gpu

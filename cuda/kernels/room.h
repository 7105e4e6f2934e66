// Which sizes are compiled at all.
#pragma once

#include "cuda/device/device.h"

namespace tilewalk::gpu::BACKEND {

/// Whether a chip that is compiled for can have a block of so many bytes of shared memory. Turing has 64 KiB
/// for one. Larger sizes are refused there on the host, and their code would only cost time to compile.
template <std::int64_t bytes> constexpr bool has_room = architecture != 75 || bytes <= 64 << 10;

}  // namespace tilewalk::gpu::BACKEND

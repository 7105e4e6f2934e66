// A tensor map as the host's code asks the driver for it; the stand-in's cuTensorMapEncodeTiled (driver.cpp)
// holds what it was asked against the driver's manual and writes it down in the map.
#pragma once

#include "cuda/launch/arguments.h"

#include <array>
#include <cstdint>
#include <string>

namespace tilewalk::stubs {

/// What the 128 bytes of a map hold, as the stand-in writes them.
struct EncodedMap {
    std::uint64_t data;
    std::array<std::uint64_t, 4> sizes;
    std::array<std::uint64_t, 3> strides;  ///< bytes
    std::array<std::uint32_t, 4> box;
    std::int32_t type;
};
static_assert(sizeof(EncodedMap) <= 128);

struct AskedMap {
    EncodedMap map{};
    int error = 0;
    std::string where;
};
AskedMap ask_for_map(const gpu::Tensor& t, DType type, int d, int N, int heads, int batch, int rows);

}  // namespace tilewalk::stubs

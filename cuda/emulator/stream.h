// Launches on the emulator.
#pragma once

#include "cuda/emulator/block.h"
#include "cuda/launch/arguments.h"

#include <atomic>

namespace tilewalk::gpu {

class EmulatedStream : public Stream {
public:
    emulator::Options options;
    std::string failure;  ///< a sentence; nothing is launched after it
    std::int64_t launches = 0;
    std::int64_t most_shared = 0;                  ///< bytes that a block was launched with
    const std::atomic<bool>* cancelled = nullptr;  ///< between blocks

    /// Every block of the grid, in an order by chance.
    void run(int x, int y, int z, int threads, std::int64_t shared_bytes, const std::function<void()>& body);
};

/// The map of 16-bit elements whose boxes have so many rows. What the driver would refuse (CUDA driver API,
/// cuTensorMapEncodeTiled) becomes the stream's failure.
namespace emulator {
TensorMap tensor_map(EmulatedStream& stream, const Tensor& t, int d, int N, int heads, int batch, int rows);
}

}  // namespace tilewalk::gpu

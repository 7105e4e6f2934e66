// A device as the host's code sees it: memory, launches, the ladder of its kernels. Two of them: a GPU and
// the emulator. C++17, for nvcc's sake.
#pragma once

#include "cuda/launch/arguments.h"

#include <memory>
#include <string>
#include <vector>

namespace tilewalk::gpu {

class Device {
public:
    virtual ~Device() = default;
    Chip chip;

    virtual const std::vector<const Rung*>& ladder() const = 0;
    /// Null when there is not so much, or after a failure.
    virtual void* allocate(std::int64_t bytes) = 0;
    virtual void release(void* memory) noexcept = 0;
    virtual std::int64_t free_bytes() = 0;
    virtual void upload(void* to, const void* from, std::int64_t bytes) = 0;
    virtual void download(void* to, const void* from, std::int64_t bytes) = 0;
    virtual void fill(void* memory, unsigned char byte, std::int64_t bytes) = 0;
    /// Launches the rung and waits until it has ended; seconds between two events around it (the emulator:
    /// of the wall, which say nothing of a GPU).
    virtual double run(const Rung& rung, const Arguments& arguments, DType type) = 0;
    /// What the forward pass leaves for a backward rung, if the rung has such a step.
    virtual void prepare(const Rung& rung, const Arguments& arguments, DType type) = 0;
    /// Overwrites what caches hold, so that the next run finds them cold.
    virtual void flush_caches() = 0;
    /// The rate of a large product of matrices by the device's library, FLOP/s; 0: not known.
    virtual double product_rate(DType) { return 0; }
    /// A sentence, from the first failure on; empty: all is well. A GPU that has failed stays so until the
    /// program ends.
    virtual std::string failure() const = 0;
    /// Forgets a failure that did not hurt the device (a library that is missing, a launch that was refused);
    /// false: it is one that stays.
    virtual bool recover() { return false; }
    /// Whether the failure is that a library is not there: nothing is wrong with the kernel that needs it.
    virtual bool lacks_library() const { return false; }
};

}  // namespace tilewalk::gpu

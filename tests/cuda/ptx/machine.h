// Runs kernels: block after block, and in a block the warps in turns that a schedule gives.
#pragma once

#include "tests/cuda/ptx/faults.h"
#include "tests/cuda/ptx/memory.h"
#include "tests/cuda/ptx/program.h"

namespace tilewalk::ptx {

/// In which order things happen where PTX leaves it open. No result may depend on it.
struct Schedule {
    enum class Warps {
        in_turns,     ///< a few instructions of each
        first_ahead,  ///< each as far as it gets, the first one first
        last_ahead    ///< the last one first
    };
    Warps warps = Warps::in_turns;
    /// When the bytes of an asynchronous copy are read and written: as late as its wait allows, or at once.
    bool late_copies = true;
    bool blocks_backwards = false;
};

struct Launch {
    std::array<int, 3> blocks{1, 1, 1};
    int threads = 32;
    std::uint64_t shared_bytes = 0;
};

class Machine {
public:
    GlobalMemory memory;
    Schedule schedule;
    Fault fault = Fault::none;
    /// As a compiler without such instructions has it: fma is a product and a sum, and mma adds its products
    /// one after the other. PTX allows the latter, not the former.
    bool plain_arithmetic = false;
    bool find_races = true;     ///< between warps, in shared memory
    std::int64_t executed = 0;  ///< instructions of warps
    /// How many of them a launch may take: a kernel that would never end is an error. The longest launch of
    /// check_ptx takes 9 million.
    std::int64_t budget = 100'000'000;
    std::int64_t budget_ends = 0;  ///< of the launch at hand, in `executed`

    /// `arguments`: one pointer for each parameter, as cudaLaunchKernel has them. Throws Error.
    void launch(const Kernel& kernel, const Launch& launch, const void* const* arguments);
};

}  // namespace tilewalk::ptx

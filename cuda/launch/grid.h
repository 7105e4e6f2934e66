// What a launch may ask for. C++17, for nvcc.
#pragma once

#include "cuda/launch/arguments.h"

#include <string>

namespace tilewalk::gpu {

/// The shape of a launch.
struct Grid {
    int x = 1, y = 1, z = 1, threads = 32;
    std::int64_t shared_bytes = 0;
};

/// Why a chip does not take it, as a phrase; empty if it does. Threads and blocks are limited alike for every
/// compute capability that the kernels run on (CUDA programming guide, technical specifications).
inline std::string refuse_launch(const Grid& grid, const Chip& chip) {
    constexpr int most_threads = 1024, most_blocks = 65535;  // of a block, and of a grid in y and in z
    if (grid.shared_bytes > chip.shared_per_block)
        return "a block asked for " + std::to_string(grid.shared_bytes) + " bytes of shared memory, and " +
               std::to_string(chip.shared_per_block) + " are there";
    if (grid.threads < 1 || grid.threads > most_threads)
        return "a block of " + std::to_string(grid.threads) + " threads, and 1 to 1024 are possible";
    if (grid.x < 1 || grid.y < 1 || grid.z < 1 || grid.y > most_blocks || grid.z > most_blocks)
        return "a grid of " + std::to_string(grid.x) + " × " + std::to_string(grid.y) + " × " +
               std::to_string(grid.z) + " blocks, and y and z may have 65,535 each";
    return "";
}

}  // namespace tilewalk::gpu

// What a run of a kernel goes without, and in which order it ran. The kernel's source stays as it is: the
// recording device (cuda/record) leaves the step out, or does it differently.
#pragma once

#include <cstdint>
#include <string>

namespace tilewalk::inside {

enum class FaultKind : std::uint8_t {
    barrier,    ///< sync_block or sync_warp at one place of the source
    wait,       ///< wait_copies at one place
    swizzle,    ///< rows of shared memory with their chunks in order
    guard,      ///< the last tile of keys counts as full
    swapped_A,  ///< a[1] and a[2] of every product
    swapped_B,  ///< b0 and b1 of every product
    count
};

struct Fault {
    FaultKind kind = FaultKind::barrier;
    std::string file{};  ///< of a barrier or a wait: "cuda/kernels/f5_flash2.cu"
    int line = 0;
    bool operator==(const Fault&) const = default;
};

/// Which of the orders that a GPU may take: when copies arrive, and whether single warps stand still for a
/// while, so that others come before them.
struct Schedule {
    bool early = false;   ///< copies arrive as they are issued; else when they are waited for, NaN until then
    bool stalls = false;  ///< by chance a warp stands still, for a round or for many
    std::uint64_t seed = 1;
};
/// "copies arrive late, warps in turn"
std::string schedule_text(const Schedule& schedule);

}  // namespace tilewalk::inside

#include "tests/cuda/ptx/machine.h"

#include "tests/cuda/ptx/warp.h"

#include <algorithm>
#include <limits>

namespace tilewalk::ptx {

namespace {

// All warps of a block until they have left.
void run_block(std::vector<Warp>& warps, BlockState& block, Schedule::Warps order) {
    block.shared.resize(block.launch.shared_bytes);
    for (Warp& warp : warps) warp.begin();
    constexpr int turn = 7, far = std::numeric_limits<int>::max();
    while (true) {
        bool ran = false;
        for (std::size_t n = 0; n < warps.size(); ++n) {
            Warp& warp = warps[order == Schedule::Warps::last_ahead ? warps.size() - 1 - n : n];
            if (warp.state != Warp::State::running) continue;
            ran = true;
            warp.run(order == Schedule::Warps::in_turns ? turn : far);
        }
        if (ran) continue;
        // Those that have left are not waited for: CUDA programming guide, __syncthreads() from compute
        // capability 7.0 on
        bool met = false;
        for (Warp& warp : warps) met = met || warp.state == Warp::State::at_barrier;
        if (!met) return;
        for (Warp& warp : warps) warp.pass_barrier();
        block.shared.barrier();
    }
}

}  // namespace

void Machine::launch(const Kernel& kernel, const Launch& launch, const void* const* arguments) {
    if (kernel.most_threads > 0 && launch.threads > kernel.most_threads)
        throw Error(plain_name(kernel.name) + " is launched with " + std::to_string(launch.threads) +
                    " threads, and takes " + std::to_string(kernel.most_threads));
    budget_ends = executed + budget;
    BlockState block{*this, kernel, launch, {}, {}, {}};
    for (std::size_t n = 0; n < kernel.parameter_bytes.size(); ++n) {
        const auto begin = static_cast<std::size_t>(kernel.parameter_offsets[n]);
        const auto size = static_cast<std::size_t>(kernel.parameter_bytes[n]);
        block.parameters.resize(begin + size, 0xFF);
        std::memcpy(block.parameters.data() + begin, arguments[n], size);
    }
    std::vector<Warp> warps;
    for (int n = 0; n * lanes < launch.threads; ++n) warps.emplace_back(block, n);
    const std::int64_t count = std::int64_t(launch.blocks[0]) * launch.blocks[1] * launch.blocks[2];
    for (std::int64_t n = 0; n < count; ++n) {
        const std::int64_t at = schedule.blocks_backwards ? count - 1 - n : n;
        block.index = {static_cast<int>(at % launch.blocks[0]),
                       static_cast<int>(at / launch.blocks[0] % launch.blocks[1]),
                       static_cast<int>(at / launch.blocks[0] / launch.blocks[1])};
        run_block(warps, block, schedule.warps);
    }
}

}  // namespace tilewalk::ptx

#include "cuda/emulator/stream.h"

#include "core/base/platform.h"
#include "cuda/launch/grid.h"

#include <mutex>
#include <numeric>
#include <thread>

namespace tilewalk::gpu {

void EmulatedStream::run(int gx, int gy, int gz, int threads, std::int64_t shared_bytes,
                         const std::function<void()>& body) {
    if (!failure.empty()) return;
    ++launches;
    most_shared = std::max(most_shared, shared_bytes);
    const std::string refused = refuse_launch({gx, gy, gz, threads, shared_bytes}, chip);
    if (!refused.empty()) {
        failure = "A launch was refused: " + refused + ".";
        return;
    }
    std::vector<std::int64_t> order(static_cast<std::size_t>(std::int64_t(gx) * gy * gz));
    std::iota(order.begin(), order.end(), 0);
    std::mt19937_64 random(options.seed + static_cast<std::uint64_t>(launches));
    std::shuffle(order.begin(), order.end(), random);

    std::atomic<std::size_t> next = 0;
    std::atomic<bool> failed = false;
    std::mutex mutex;
    const auto work = [&](std::uint64_t worker) {
        emulator::Options mine = options;
        mine.seed += 1000 * worker + static_cast<std::uint64_t>(launches);
        emulator::Block block(threads, shared_bytes, mine);
        while (!failed && !(cancelled && *cancelled)) {
            const std::size_t task = next++;
            if (task >= order.size()) return;
            const std::int64_t b = order[task];
            const std::string wrong = block.run(static_cast<int>(b % gx), static_cast<int>(b / gx % gy),
                                                static_cast<int>(b / gx / gy), body);
            if (wrong.empty()) continue;
            const std::lock_guard lock(mutex);
            if (failure.empty()) failure = wrong;
            failed = true;
        }
    };
    const std::size_t cores = options.threads > 0 ? static_cast<std::size_t>(options.threads)
                                                  : std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::jthread> helpers;
    if constexpr (!in_browser)
        for (std::size_t t = 1; t < std::min(cores, order.size()); ++t)
            helpers.emplace_back([&work, t] { work(t); });
    work(0);
}

}  // namespace tilewalk::gpu

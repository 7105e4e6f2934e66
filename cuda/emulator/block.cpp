#include "cuda/emulator/block.h"

#ifdef __EMSCRIPTEN__
#include "cuda/emulator/fiber_asyncify.h"
#else
#include "cuda/emulator/fiber_boost.h"
#endif

#include <algorithm>

namespace tilewalk::gpu::emulator {

#ifdef __EMSCRIPTEN__
class Fiber : public AsyncifyFiber {};
#else
class Fiber : public BoostFiber {};
#endif

namespace {

constexpr std::size_t guard_bytes = 256;
constexpr unsigned char poison = 0xFF;  ///< NaN as float, half and bfloat16
constexpr unsigned char guard = 0xA5;
constexpr int longest_stall = 512;  ///< rounds: more than a warp needs for its products of one tile

}  // namespace

Block::Block(int thread_count, std::int64_t bytes, const Options& with)
    : size(thread_count), options(with), shared_bytes(bytes), random(with.seed) {
    memory.resize(static_cast<std::size_t>(bytes) + 2 * guard_bytes + 1024);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data()) + guard_bytes;
    shared_begin = memory.data() + guard_bytes + (1024 - begin % 1024) % 1024 + options.skew;
    for (int t = 0; t < thread_count; ++t) {
        stacks.emplace_back(new unsigned char[stack_bytes]);
        threads.push_back(std::make_unique<Thread>());
    }
}

Block::~Block() = default;

void Block::start(Thread& thread, const std::function<void()>& body) {
    thread.fiber = std::make_shared<Fiber>();
    thread.fiber->begin(stacks[static_cast<std::size_t>(thread.index)].get(), [&thread, &body] {
        body();
        thread.ended = true;
    });
}

void Block::resume(Thread& thread) {
    running = &thread;
    thread.fiber->resume();
    running = nullptr;
}

void Block::suspend() { running->fiber->suspend(); }

std::string Block::run(int at_x, int at_y, int at_z, const std::function<void()>& body) {
    x = at_x, y = at_y, z = at_z;
    failure.clear();
    std::fill(memory.begin(), memory.end(), guard);
    std::memset(shared_begin, poison, static_cast<std::size_t>(shared_bytes));
    everyone = Barrier{size};
    warps.assign(static_cast<std::size_t>((size + 31) / 32), Warp{});
    if (size % 32 != 0) warps.back().barrier.needed = size % 32;
    for (int t = 0; t < size; ++t) {
        Thread& thread = *threads[static_cast<std::size_t>(t)];
        thread = Thread{};
        thread.index = t;
        start(thread, body);
    }

    hopper.begin(size, options.copies == Options::Copies::late, options.forgives);

    Block* const before = block;
    block = this;
    int stalled = -1, rounds = 0;
    const auto has_ended = [](const auto& thread) { return thread->ended; };
    while (failure.empty() && !std::all_of(threads.begin(), threads.end(), has_ended)) {
        if (options.stall_warps && rounds-- == 0) {
            stalled = static_cast<int>(random() % warps.size());
            rounds = random() % 4 == 0 ? static_cast<int>(random() % longest_stall) : 0;
        }
        // Once without the stalled warp; with it only if nobody else could move, and a tile only then.
        if (!round(stalled) && !round(-1) && !hopper.deliver(random)) failure = report_deadlock();
    }
    // Fibers that have not ended are unwound here, while their block still stands.
    for (const auto& thread : threads) {
        running = thread.get();
        thread->fiber->drop();
    }
    running = nullptr;
    block = before;
    if (failure.empty()) failure = check_end();
    return failure;
}

/// Every thread that can goes on, but those of one warp; whether any could.
bool Block::round(int stalled) {
    bool moved = false;
    const bool backwards = random() % 2 == 0;  // no lane comes before another one by right
    for (std::size_t n = 0; n < threads.size() && failure.empty(); ++n) {
        Thread& thread = *threads[backwards ? threads.size() - 1 - n : n];
        if (thread.ended || thread.index / 32 == stalled || thread.waits()) continue;
        moved = true;
        resume(thread);
    }
    return moved;
}

std::string Block::check_end() const {
    const std::string who =
        "Block " + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + " ";
    if (const std::string wrong = hopper.unfinished(); !wrong.empty()) return who + wrong + ".";
    const unsigned char* const end = shared_begin + shared_bytes;
    if (std::count(shared_begin - guard_bytes, shared_begin, guard) == guard_bytes &&
        std::count(end, end + guard_bytes, guard) == guard_bytes)
        return "";
    return who + "wrote outside of its " + std::to_string(shared_bytes) + " bytes of shared memory.";
}

std::string Block::report_deadlock() const {
    std::string text =
        "Deadlock in block " + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ":";
    for (std::size_t w = 0; w < warps.size(); ++w) {
        int ended = 0;
        std::string waits;
        for (const auto& thread : threads)
            if (static_cast<std::size_t>(thread->index / 32) == w) {
                if (thread->ended) ++ended;
                if (thread->at) waits = thread->at->what;
                if (thread->ready) waits = thread->what;
            }
        text += std::string(w ? ";" : "") + " warp " + std::to_string(w);
        if (waits.empty()) text += " has ended";
        if (!waits.empty()) text += " waits at " + waits;
        if (!waits.empty() && ended > 0) text += ", " + std::to_string(ended) + " of its lanes have ended";
    }
    return text + ".";
}

void Block::wait_until(const char* what, std::function<bool()> ready) {
    if (ready()) return;
    running->ready = std::move(ready), running->what = what;
    suspend();
    running->ready = nullptr;
}

void Block::fail(std::string sentence) {
    failure = std::move(sentence);
    give_up(*running->fiber, failure);
}

void Block::differ(const Barrier& barrier, const char* what) {
    fail("Block " + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ": thread " +
         std::to_string(running->index) + " came to " + what + " while others of its warp are at " +
         barrier.what + ".");
}

void Block::expect_aligned(const void* address, const char* what) {
    if ((reinterpret_cast<std::uintptr_t>(address) - static_cast<std::uintptr_t>(options.skew)) % 16 == 0)
        return;
    fail("Thread " + std::to_string(running->index) + " came to " + what +
         " with an address that is no multiple of 16 bytes.");
}

void Block::copy(void* to, const void* from, bool inside) {
    expect_aligned(to, "copy_async");
    expect_aligned(from, "copy_async");
    const Copy copy{to, from, inside};
    if (options.copies == Options::Copies::late) {
        std::memset(to, poison, 16);
        running->open.push_back(copy);
        return;
    }
    if (inside)
        std::memcpy(to, from, 16);
    else
        std::memset(to, 0, 16);
}

void Block::commit() {
    running->groups.push_back(std::move(running->open));
    running->open.clear();
}

void Block::wait(int groups) {
    auto& queue = running->groups;
    for (; static_cast<int>(queue.size()) > groups; queue.pop_front())
        for (const Copy& copy : queue.front()) {
            if (copy.inside)
                std::memcpy(copy.to, copy.from, 16);
            else
                std::memset(copy.to, 0, 16);
        }
}

}  // namespace tilewalk::gpu::emulator

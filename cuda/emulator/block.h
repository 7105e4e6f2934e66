// A block of GPU threads on the CPU. Every thread is a fiber: it runs until it has to wait for others, and
// then the next one runs. What a warp does together (a shuffle, a product of fragments) is done by the lane
// that arrives last, for all.
//
// The order is hostile on purpose: one warp, chosen at random, stands still, for a round or for many, so that
// a missing barrier shows; asynchronous copies complete as late or as early as the rules allow; shared memory
// begins as NaN.
#pragma once

#include "cuda/emulator/hopper.h"

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace tilewalk::gpu::emulator {

struct Options {
    enum class Copies {
        late,  ///< when they are waited for; until then their destination is NaN
        early  ///< at once
    };         ///< and so do the products of Hopper that run on by themselves
    Copies copies = Copies::late;
    bool stall_warps = true;
    std::uint64_t seed = 1;
    int threads = 0;  ///< of this CPU, blocks in parallel; 0: all
    /// What is begun and not waited for does not stop a block: the run goes without a wait
    /// (core/inside/fault.h).
    bool forgives = false;
    int skew = 0;  ///< bytes by which shared memory misses its alignment, for what records (cuda/record)
};

/// Something that a number of threads meet at.
struct Barrier {
    int needed = 0, arrived = 0;
    std::uint64_t generation = 0;
    const char* what = "";  ///< the instruction that the first to arrive has come to
};

struct Copy {
    void* to;
    const void* from;
    bool inside;
};

struct Thread {
    int index = 0;
    bool ended = false;
    Barrier* at = nullptr;         ///< what it waits at …
    std::uint64_t generation = 0;  ///< … which opens when it has left this generation
    std::function<bool()> ready;   ///< or until this holds, …
    const char* what = "";         ///< … which is what it waits for
    std::vector<Copy> open;        ///< copies since the last commit
    std::deque<std::vector<Copy>> groups;
    std::shared_ptr<class Fiber> fiber;  ///< fiber_boost.h, fiber_asyncify.h

    bool waits() const { return (at && at->generation == generation) || (ready && !ready()); }
};

struct Warp {
    Barrier barrier{32};
    void* operands[32];
};

/// Runs the blocks of a launch one after the other; one for each thread of the CPU.
class Block {
public:
    Block(int threads, std::int64_t shared_bytes, const Options& options);
    ~Block();

    /// Runs body() in every thread of block (x, y, z). A sentence if it went wrong: threads that wait for
    /// each other forever, lanes of a warp at different instructions, writes beyond shared memory.
    std::string run(int x, int y, int z, const std::function<void()>& body);

    // For the models of instructions, called by the thread that runs
    Thread& self() { return *running; }
    Warp& warp() { return warps[static_cast<std::size_t>(running->index / 32)]; }
    unsigned char* shared() { return shared_begin; }
    /// Waits until all that belong to the barrier have come; the last one calls last() before they go on.
    template <class F> void meet(Barrier& barrier, const char* what, F&& last);
    void sync() {
        meet(everyone, "sync_block", [] {});
    }
    /// Lets all others go on that can.
    void yield() { suspend(); }
    /// Waits until ready() holds, which is asked whenever others have gone on.
    void wait_until(const char* what, std::function<bool()> ready);
    /// Stops all threads with this sentence.
    void fail(std::string sentence);
    /// Addresses of 16 bytes at once must be multiples of 16: a GPU stops there.
    void expect_aligned(const void* address, const char* what);
    void copy(void* to, const void* from, bool inside);
    void commit();
    void wait(int groups);
    /// One that is on its way, where another order would have it here by now; false: none is.
    bool bring_a_tile() { return hopper.deliver(random); }

    int x = 0, y = 0, z = 0;
    const int size;
    Hopper hopper{*this};

private:
    void start(Thread& thread, const std::function<void()>& body);
    void resume(Thread& thread);
    void suspend();
    bool round(int stalled);
    std::string report_deadlock() const;
    std::string check_end() const;
    void differ(const Barrier& barrier, const char* what);

    Options options;
    std::vector<unsigned char> memory;  ///< shared memory between two guards
    unsigned char* shared_begin = nullptr;
    std::int64_t shared_bytes;
    Barrier everyone;
    std::vector<Warp> warps;
    std::vector<std::unique_ptr<Thread>> threads;
    std::vector<std::unique_ptr<unsigned char[]>> stacks;
    Thread* running = nullptr;
    std::string failure;
    std::mt19937_64 random;
};

/// The block whose thread runs now.
inline thread_local Block* block = nullptr;

template <class F> void Block::meet(Barrier& barrier, const char* what, F&& last) {
    if (barrier.arrived == 0) barrier.what = what;
    if (barrier.what != what && std::strcmp(barrier.what, what) != 0) differ(barrier, what);
    if (++barrier.arrived == barrier.needed) {
        last();
        barrier.arrived = 0;
        ++barrier.generation;
        return;
    }
    running->at = &barrier;
    running->generation = barrier.generation;
    suspend();
    running->at = nullptr;
}

/// What the lanes of a warp do together: each brings an operand, the last one sees all 32.
template <class T, class F> void together(const char* what, T& mine, F&& last) {
    Warp& warp = block->warp();
    warp.operands[block->self().index % 32] = &mine;
    block->meet(warp.barrier, what, [&] { last(reinterpret_cast<T**>(warp.operands)); });
}

}  // namespace tilewalk::gpu::emulator

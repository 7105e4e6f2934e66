// A thread of a block as a fiber of Boost.Context, and a word to AddressSanitizer about which stack is in
// use. Part of block.cpp, so that kernels are compiled without Boost.
#pragma once

#include <boost/context/fiber.hpp>

#include <cstddef>
#include <memory>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define TILEWALK_ASAN 1
#else
#define TILEWALK_ASAN 0
#endif

namespace tilewalk::gpu::emulator {

namespace context = boost::context;

constexpr std::size_t stack_bytes = TILEWALK_ASAN ? 512 << 10 : 128 << 10;

class BoostFiber {
public:
    /// Runs work() on this stack as soon as it is resumed.
    template <class Work> void begin(unsigned char* memory, Work work) {
        stack = memory;
        context::stack_context where;
        where.size = stack_bytes;
        where.sp = stack + stack_bytes;
        const context::preallocated place(where.sp, where.size, where);
        own = context::fiber(std::allocator_arg, place, Lent{}, [this, work](context::fiber&& back) {
            arrived(nullptr);
            scheduler = std::move(back);
            work();
            leave_for(nullptr, scheduler_stack, scheduler_stack_size);
            return std::move(scheduler);
        });
    }
    /// Until it is suspended or has ended.
    void resume() {
        void* fake = nullptr;
        leave_for(&fake, stack, stack_bytes);
        own = std::move(own).resume();
        came_back(fake);
    }
    /// By itself.
    void suspend() {
        leave_for(&fake_stack, scheduler_stack, scheduler_stack_size);
        scheduler = std::move(scheduler).resume();
        arrived(fake_stack);
    }
    /// One that has not ended is unwound here.
    void drop() { own = context::fiber(); }

private:
    /// Gives boost a stack that outlives the fiber.
    struct Lent {
        context::stack_context allocate() { return {}; }
        void deallocate(context::stack_context&) noexcept {}
    };

    static void leave_for([[maybe_unused]] void** fake, [[maybe_unused]] const void* bottom,
                          [[maybe_unused]] std::size_t size) {
#if TILEWALK_ASAN
        __sanitizer_start_switch_fiber(fake, bottom, size);
#endif
    }
    void arrived([[maybe_unused]] void* fake) {
#if TILEWALK_ASAN
        __sanitizer_finish_switch_fiber(fake, &scheduler_stack, &scheduler_stack_size);
#endif
    }
    static void came_back([[maybe_unused]] void* fake) {
#if TILEWALK_ASAN
        __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
    }

    context::fiber own, scheduler;
    unsigned char* stack = nullptr;
    void* fake_stack = nullptr;
    const void* scheduler_stack = nullptr;
    std::size_t scheduler_stack_size = 0;
};

/// A block that has failed: the thread that says so waits, and is not resumed.
inline void give_up(BoostFiber& fiber, const std::string&) { fiber.suspend(); }

}  // namespace tilewalk::gpu::emulator

// A thread of a block as a fiber in WebAssembly, which has no instruction for a change of stacks. Binaryen's
// Asyncify has rewritten the functions that come to suspend(): they return one after the other, each with its
// numbers kept in `kept`, and are called again down to where they were (cuda/browser). Their stack for what
// has an address is the fiber's own. Part of block.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

extern "C" {
// Names that Asyncify gives a meaning to: whoever calls one of them is not rewritten.
[[clang::import_module("asyncify"), clang::import_name("start_unwind")]] void
tilewalk_start_unwind(void* kept);
[[clang::import_module("asyncify"), clang::import_name("stop_unwind")]] void tilewalk_stop_unwind();
[[clang::import_module("asyncify"), clang::import_name("start_rewind")]] void
tilewalk_start_rewind(void* kept);
[[clang::import_module("asyncify"), clang::import_name("stop_rewind")]] void tilewalk_stop_rewind();
// Emscripten's
void* stackSave();
void stackRestore(void* sp);
}

namespace tilewalk::gpu::emulator {

constexpr std::size_t kept_bytes = 8 << 10;
constexpr std::size_t stack_bytes = kept_bytes + (24 << 10);

class AsyncifyFiber {
public:
    void begin(unsigned char* memory, std::function<void()> what) {
        work = std::move(what);
        kept = {memory, memory + kept_bytes};
        sp = memory + stack_bytes - reinterpret_cast<std::uintptr_t>(memory + stack_bytes) % 16;
        state = State::fresh;
    }
    [[gnu::noinline]] void resume() {
        void* const of_scheduler = stackSave();
        stackRestore(sp);
        if (state == State::suspended) {
            state = State::coming_back;
            tilewalk_start_rewind(&kept);
        }
        run();
        if (state == State::suspended) tilewalk_stop_unwind();
        stackRestore(of_scheduler);
    }
    /// Has no frame of its own: the stack is that of its caller, now and when it comes back.
    [[gnu::noinline]] void suspend() {
        if (state == State::coming_back) {
            state = State::runs;
            tilewalk_stop_rewind();
            return;
        }
        state = State::suspended;
        sp = stackSave();
        tilewalk_start_unwind(&kept);
    }
    void drop() { work = nullptr; }

private:
    enum class State { fresh, runs, suspended, coming_back };
    struct Kept {  ///< as Asyncify expects it
        unsigned char *next = nullptr, *end = nullptr;
    };

    [[gnu::noinline]] void run() { work(); }

    State state = State::fresh;
    Kept kept;
    void* sp = nullptr;
    std::function<void()> work;
};

/// Ends the whole run with this sentence; whoever runs this program has to begin it anew.
[[noreturn]] void end_run(const std::string& sentence);
inline void give_up(AsyncifyFiber&, const std::string& sentence) { end_run(sentence); }

}  // namespace tilewalk::gpu::emulator

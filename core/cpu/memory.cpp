#include "core/cpu/memory.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace tilewalk::cpu {

namespace {

constexpr std::align_val_t cache_line{64};
constexpr std::size_t piece = std::size_t{16} << 20;  // some milliseconds of page faults

}  // namespace

void* CountedMemory::take(std::size_t bytes) {
    char* const memory = static_cast<char*>(::operator new(bytes, cache_line));
    // The pages are there before anything is timed.
    for (std::size_t at = 0; at < bytes; at += piece) {
        if (stopped.stop_requested()) {
            ::operator delete(memory, cache_line);
            throw Stopped();
        }
        std::memset(memory + at, 0, std::min(piece, bytes - at));
    }
    const std::int64_t held = now += static_cast<std::int64_t>(bytes);
    std::int64_t before = most;
    while (before < held && !most.compare_exchange_weak(before, held)) {
    }
    return memory;
}

void CountedMemory::give(void* memory, std::size_t bytes) {
    ::operator delete(memory, cache_line);
    now -= static_cast<std::int64_t>(bytes);
}

Buffer::Buffer(CountedMemory& from, std::int64_t size)
    : memory(&from), floats(static_cast<float*>(from.take(static_cast<std::size_t>(size) * sizeof(float)))),
      count(size) {}

Buffer::~Buffer() {
    if (floats) memory->give(floats, static_cast<std::size_t>(count) * sizeof(float));
}

}  // namespace tilewalk::cpu

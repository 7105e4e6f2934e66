#include "core/cpu/memory.h"

#include <algorithm>
#include <cstring>
#include <new>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tilewalk::cpu {

namespace {

constexpr std::align_val_t cache_line{64};
constexpr std::size_t piece = std::size_t{16} << 20;  // some milliseconds of page faults

// Gigabytes in pages of 4 KiB take a second to touch and another to give back. Only advice: it may be
// refused.
void advise_huge_pages([[maybe_unused]] char* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
    constexpr std::size_t huge = std::size_t{2} << 20;
    const std::size_t skip = (huge - reinterpret_cast<std::uintptr_t>(memory) % huge) % huge;
    if (bytes >= 2 * huge + skip) ::madvise(memory + skip, (bytes - skip) / huge * huge, MADV_HUGEPAGE);
#endif
}

}  // namespace

void* CountedMemory::take(std::size_t bytes) {
    char* const memory = static_cast<char*>(::operator new(bytes, cache_line));
    advise_huge_pages(memory, bytes);
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

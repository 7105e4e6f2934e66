// Memory of the machine: every access is held against what was allocated.
#pragma once

#include "tests/cuda/ptx/program.h"

#include <array>
#include <memory>
#include <vector>

namespace tilewalk::ptx {

/// Whether `count` bytes at `at` lie inside of the `size` bytes at `begin`. By differences: a sum may wrap.
inline bool lies_inside(std::uint64_t at, std::uint64_t count, std::uint64_t begin, std::uint64_t size) {
    return at >= begin && at - begin <= size && count <= size - (at - begin);
}

/// What a GPU calls global memory: a table of allocations. Their addresses mean nothing to the host, and
/// between two of them lie more bytes than a kernel could step over by mistake.
class GlobalMemory {
public:
    /// Aligned to 256, as cudaMalloc's are.
    std::uint64_t allocate(std::uint64_t bytes);
    void release(std::uint64_t address);
    /// The bytes at `address`; null, and the reason in `why`, if they do not all lie in one allocation.
    unsigned char* find(std::uint64_t address, std::uint64_t bytes, std::string* why = nullptr);
    /// The same, but null, too, where no access was of late.
    unsigned char* find_again(std::uint64_t address, std::uint64_t bytes) const {
        const Allocation* const found = recent[address >> 32 & (places - 1)];
        return found && found->holds(address, bytes) ? found->data.get() + (address - found->begin) : nullptr;
    }
    /// Throws where find() gives null.
    unsigned char* at(const void* address, std::uint64_t bytes);

private:
    struct Allocation {
        std::uint64_t begin, bytes;
        std::unique_ptr<unsigned char[]> data;
        bool holds(std::uint64_t at, std::uint64_t count) const {
            return lies_inside(at, count, begin, bytes);
        }
    };
    std::map<std::uint64_t, Allocation> table;
    static constexpr std::size_t places = 32;
    std::array<const Allocation*, places> recent{};  ///< the next access is often to the same
    std::uint64_t next = 0x7000000000;
};

/// Shared memory of a block, with who touched which bytes since the last barrier: two warps at the same
/// bytes, one of them writing, is a race whatever order this run had.
class SharedMemory {
public:
    void resize(std::uint64_t bytes);
    std::uint64_t size() const { return bytes.size(); }
    unsigned char* data() { return bytes.data(); }
    /// All warps have met.
    void barrier() { ++epoch; }
    /// The warp that this access collides with; −1: none. Offset and count are even, as no access of PTX here
    /// is of a single byte.
    [[gnu::always_inline]] int touch(std::uint64_t offset, std::uint64_t count, int warp, bool writes) {
        const std::size_t first = offset / 2, marks = count / 2;
        const Mark own = epoch << 8 | static_cast<Mark>(warp);
        Mark* const w = written.data() + first;
        Mark* const r = read.data() + first;
        unsigned collides = 0;
        for (std::size_t n = 0; n < marks; ++n)
            collides |= by_other(w[n], own) | (writes ? by_other(r[n], own) : 0);
        const int with = collides ? other_of(first, marks, own, writes) : -1;
        if (writes)
            for (std::size_t n = 0; n < marks; ++n) w[n] = own;
        else
            for (std::size_t n = 0; n < marks; ++n) r[n] = by_other(r[n], own) ? own | several : own;
        return with;
    }

private:
    /// Who, and in which epoch: (epoch · 256 + warp); 0: nobody. Of warps that read there may be `several`.
    using Mark = std::uint32_t;
    static constexpr std::uint32_t several = 0xFF;
    /// In the epoch of `own`, and not by its warp
    static unsigned by_other(Mark mark, Mark own) {
        return unsigned(mark >= (own & ~several)) & unsigned(mark != own);
    }
    int other_of(std::size_t first, std::size_t marks, Mark own, bool writes) const;
    std::vector<unsigned char> bytes;
    std::vector<Mark> written, read;  ///< of each two bytes
    std::uint32_t epoch = 1;
};

}  // namespace tilewalk::ptx

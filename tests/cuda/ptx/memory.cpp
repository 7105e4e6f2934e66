#include "tests/cuda/ptx/memory.h"

#include <cstring>
#include <sstream>

namespace tilewalk::ptx {

std::uint64_t GlobalMemory::allocate(std::uint64_t bytes) {
    const std::uint64_t begin = next;
    constexpr std::uint64_t gap = std::uint64_t(1) << 32;
    next += (bytes + 255) / 256 * 256 + gap;
    auto data = std::make_unique<unsigned char[]>(bytes);
    std::memset(data.get(), 0xFF, bytes);
    table.emplace(begin, Allocation{begin, bytes, std::move(data)});
    return begin;
}

void GlobalMemory::release(std::uint64_t address) {
    recent.fill(nullptr);
    table.erase(address);
}

unsigned char* GlobalMemory::find(std::uint64_t address, std::uint64_t bytes, std::string* why) {
    auto after = table.upper_bound(address);
    if (after == table.begin()) {
        if (why) *why = "before every allocation";
        return nullptr;
    }
    const Allocation& before = std::prev(after)->second;
    if (before.holds(address, bytes)) {
        recent[address >> 32 & (places - 1)] = &before;
        return before.data.get() + (address - before.begin);
    }
    if (why) {
        std::ostringstream text;
        text << "it ends " << address - before.begin + bytes - before.bytes
             << " bytes behind an allocation of " << before.bytes;
        *why = text.str();
    }
    return nullptr;
}

unsigned char* GlobalMemory::at(const void* address, std::uint64_t bytes) {
    std::string why;
    unsigned char* const found = find(reinterpret_cast<std::uintptr_t>(address), bytes, &why);
    if (!found) throw Error("The host reached into memory of the device that is not there: " + why);
    return found;
}

void SharedMemory::resize(std::uint64_t count) {
    bytes.assign(count, 0xFF);
    written.assign((count + 1) / 2, 0);
    read.assign((count + 1) / 2, 0);
    epoch = 1;
}

int SharedMemory::other_of(std::size_t first, std::size_t marks, Mark own, bool writes) const {
    for (std::size_t n = first; n < first + marks; ++n)
        for (const Mark mark : {written[n], writes ? read[n] : own}) {
            if (!by_other(mark, own)) continue;
            const Mark warp = mark & 0xFF, any = (own & 0xFF) == 0 ? 1 : 0;
            return static_cast<int>(warp != several ? warp : any);
        }
    return -1;
}

}  // namespace tilewalk::ptx

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
    last = nullptr;
    table.erase(address);
}

unsigned char* GlobalMemory::find(std::uint64_t address, std::uint64_t bytes, std::string* why) {
    if (last && last->holds(address, bytes)) return last->data.get() + (address - last->begin);
    auto after = table.upper_bound(address);
    if (after == table.begin()) {
        if (why) *why = "before every allocation";
        return nullptr;
    }
    const Allocation& before = std::prev(after)->second;
    if (before.holds(address, bytes)) {
        last = &before;
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

int SharedMemory::touch(std::uint64_t offset, std::uint64_t count, int warp, bool writes) {
    const std::uint64_t first = offset / 2, end = (offset + count + 1) / 2;
    const Mark own = epoch << 8 | static_cast<Mark>(warp), of_epoch = epoch << 8;
    // In this epoch, and not by this warp
    const auto other = [=](Mark mark) { return mark >= of_epoch && mark != own; };
    bool collides = false;
    for (std::uint64_t n = first; n < end; ++n) collides |= other(written[n]) || (writes && other(read[n]));
    int with = -1;
    for (std::uint64_t n = first; collides && with < 0; ++n) {
        const Mark mark = other(written[n]) ? written[n] : writes ? read[n] : own;
        if (other(mark)) with = (mark & 0xFF) != several ? static_cast<int>(mark & 0xFF) : warp == 0 ? 1 : 0;
    }
    if (writes)
        for (std::uint64_t n = first; n < end; ++n) written[n] = own;
    else
        for (std::uint64_t n = first; n < end; ++n) read[n] = other(read[n]) ? of_epoch | several : own;
    return with;
}

}  // namespace tilewalk::ptx

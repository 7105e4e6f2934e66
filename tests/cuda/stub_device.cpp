#include "tests/cuda/stub_device.h"

#include <algorithm>

namespace tilewalk::test {

void* StubDevice::allocate(std::int64_t bytes) {
    if (!failed.empty() || allocations_left-- <= 0) return nullptr;
    void* const memory = emulator->allocate(bytes);
    live[memory] = bytes;
    std::int64_t held = 0;
    for (const auto& [piece, size] : live) held += size;
    most = std::max(most, held);
    return memory;
}

void StubDevice::release(void* memory) noexcept {
    live.erase(memory);
    emulator->release(memory);
}

double StubDevice::run(const gpu::Rung& rung, const gpu::Arguments& arguments, DType type) {
    runs.emplace_back(rung.name);
    if (!fails.empty()) failed = std::exchange(fails, "");
    if (!failed.empty()) return 0;
    if (!idle) emulator->run(rung, arguments, type);
    if (after_run) after_run(arguments);
    return 1e-3;
}

bool StubDevice::recover() {
    if (recovers) failed.clear();
    return recovers;
}

}  // namespace tilewalk::test

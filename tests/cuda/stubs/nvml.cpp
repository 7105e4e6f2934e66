// The driver's library for its own tools, of one GPU of which 1 GiB is free. TILEWALK_STUB_NVML=busy: it does
// not say so.
#include <cstdlib>

namespace {

struct Memory {
    unsigned long long total, free, used;
};
constexpr unsigned long long gib = 1ull << 30;

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** device) {
    *device = nullptr;
    return 0;
}
int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
    if (std::getenv("TILEWALK_STUB_NVML")) return 1;
    *memory = {2 * gib, gib, gib};
    return 0;
}
}

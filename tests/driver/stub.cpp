// A libcuda.so.1 without a GPU, for LD_LIBRARY_PATH. The environment says how it misbehaves when it is asked
// to begin: TILEWALK_STUB_DRIVER=slow takes three seconds, never does not return, and late returns while the
// program ends, when what its caller needs may be gone.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace {

constexpr int success = 0, no_device = 100, not_found = 500;
constexpr int version = 13000;

std::atomic<bool> closing = false;

void sleep(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

// The program ends: whoever waits in begin() goes on, and has the time to.
struct Closing {
    ~Closing() {
        closing = true;
        sleep(300);
    }
} at_the_end;

int not_there() { return no_device; }

}  // namespace

extern "C" {

int cuInit(unsigned) {
    const char* const word = std::getenv("TILEWALK_STUB_DRIVER");
    const std::string_view how = word ? word : "";
    if (how == "slow") sleep(3000);
    while (how == "never" || (how == "late" && !closing)) sleep(1);
    return no_device;
}

int cuDriverGetVersion(int* number) {
    *number = version;
    return success;
}

int cuGetExportTable(const void**, const void*) { return not_found; }

int cuGetProcAddress_v2(const char* name, void** function, int, unsigned long, int* status) {
    const std::string_view wanted = name;
    *function = wanted == "cuInit"               ? reinterpret_cast<void*>(cuInit)
                : wanted == "cuDriverGetVersion" ? reinterpret_cast<void*>(cuDriverGetVersion)
                : wanted == "cuGetExportTable"   ? reinterpret_cast<void*>(cuGetExportTable)
                : wanted == "cuGetProcAddress"   ? reinterpret_cast<void*>(cuGetProcAddress_v2)
                                                 : reinterpret_cast<void*>(not_there);
    if (status) *status = success;
    return success;
}
}

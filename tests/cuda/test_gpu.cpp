#include "cuda/host/gpu.h"

#include <doctest/doctest.h>

using namespace tilewalk;

TEST_SUITE("gpu") {
    TEST_CASE("a machine either has a GPU or a reason why not") {
        gpu::Probe found = gpu::probe();
        CHECK(found.devices.empty() == !found.why_none.empty());
        for (const gpu::GpuInfo& device : found.devices) {
            CHECK_FALSE(device.name.empty());
            CHECK(device.memory_free <= device.memory_total);
            CHECK(device.major >= 3);
        }
    }

    TEST_CASE("a GPU that the kernels do not run on is refused with the reason") {
        CHECK(gpu::refuse_capability(70, 75) ==
              "the GPU has compute capability 7.0, and the kernels need 7.5");
        CHECK(gpu::refuse_capability(70, 80) == gpu::refuse_capability(70, 75));
        CHECK(gpu::refuse_capability(75, 80) ==
              "the GPU has compute capability 7.5, and this program was compiled for 8.0 and later "
              "(TILEWALK_CUDA_ARCHITECTURES)");
        for (const auto& [capability, least] : {std::pair{75, 75}, {80, 80}, {90, 80}, {120, 90}})
            CHECK(gpu::refuse_capability(capability, least) == "");
    }
}

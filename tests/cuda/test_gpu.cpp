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
}

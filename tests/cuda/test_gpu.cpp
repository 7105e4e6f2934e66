#include "cuda/host/gpu.h"
#include "cuda/host/open_cuda.h"

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

    TEST_CASE(
        "code for 7.5 is not taken for a later GPU, on which it would leave out what it does not have") {
        for (const auto& [capability, code] : {std::pair{75, gpu::CompiledFor{75, 1000}},
                                               {75, {75, 80}},
                                               {86, {75, 80}},
                                               {80, {80, 80}},
                                               {120, {75, 90}}})
            CHECK(gpu::refuse_code(capability, code) == "");
        CHECK(gpu::refuse_code(70, {75, 1000}) == gpu::refuse_capability(70, 75));
        CHECK(gpu::refuse_code(80, {90, 90}) == gpu::refuse_capability(80, 90));
        for (const gpu::CompiledFor code : {gpu::CompiledFor{75, 1000}, {75, 90}})
            CHECK(gpu::refuse_code(86, code) ==
                  "the GPU has compute capability 8.6, and this program was compiled for 7.5 alone of what "
                  "runs "
                  "on it, without bf16 and copies in the background (TILEWALK_CUDA_ARCHITECTURES)");
    }
}

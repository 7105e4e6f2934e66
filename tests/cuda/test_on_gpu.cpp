// Every kernel on the GPU of this machine, over the same cases as on the emulator and by the same rule.
// Without a GPU it is the emulator that plays one: with memory that is not the host's.
#include "cuda/host/emulator.h"
#include "cuda/host/open_cuda.h"
#include "tests/cuda/kernel_cases.h"
#include "tests/part.h"
#include "tests/skip.h"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace tilewalk;

namespace {

/// So many scores at most: the largest shapes are for tests/cuda/check_kernels.cpp. The stand-in for a GPU is
/// slow (tests/cuda/stubs).
std::int64_t on_gpu() {
    const char* const fewer = std::getenv("TILEWALK_GPU_SCORES");
    return fewer ? std::atoll(fewer) : 1024 * 1024;
}
int draws_on_gpu() {
    const char* const all = std::getenv("TILEWALK_KERNELS");
    return std::getenv("TILEWALK_GPU_SCORES") && !(all && all == std::string("all")) ? 1 : 4;
}
constexpr std::int64_t on_emulator = 400;

/// Cases that ran.
int check_all(gpu::Device& device, std::int64_t most_scores, int draws, test::Part part) {
    int cases = 0;
    for (const auto& [kernel, type] : kernels_and_types())
        for (const KernelCase& c : case_matrix(kernel, type, most_scores, draws)) {
            if (refused(c, device.chip) || !part.takes()) continue;
            CAPTURE(c);
            const KernelVerdict verdict = verify_case_on(device, true, c);
            if (device.lacks_library()) {  // cuBLAS is not part of a driver
                device.recover();
                continue;
            }
            CHECK_MESSAGE(verdict.passed, verdict.sentence);
            ++cases;
        }
    return cases;
}

}  // namespace

TEST_SUITE("kernels on a GPU") {
    TEST_CASE("the case matrix") {
        std::string why_not;
        const auto device = gpu::open_cuda(why_not);
        if (!device) return test::skip(why_not);
        CHECK(check_all(*device, on_gpu(), draws_on_gpu(), {"", 1}) > 100);
    }

    TEST_CASE("a device with memory of its own gives the same bits as one without") {
        const auto device = gpu::open_emulator();
        CHECK(check_all(*device, on_emulator, 1, {"TILEWALK_KERNELS", 3}) > 20);
        for (const char* const kernel : {"f5-flash2", "b3-deterministic"}) {
            KernelCase c{kernel, {.heads = 2, .kv_heads = 1, .N_q = 40, .N_kv = 70, .d = 64, .causal = true}};
            c.w.dtype = DType::f16,
            c.w.direction = kernel[0] == 'b' ? Direction::backward : Direction::forward;
            c.layout = Layout::packed;
            const Tensors in = inputs_of(c);
            std::string wrong;
            const Tensors near = run_case(c, in, wrong), far = run_case_on(*device, true, c, in, wrong);
            CHECK(wrong == "");
            CHECK(near.O == far.O);
            CHECK(near.L == far.L);
            CHECK(near.dQ == far.dQ);
            CHECK(near.dK == far.dK);
            CHECK(near.dV == far.dV);
        }
    }
}

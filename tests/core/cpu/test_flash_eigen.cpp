#include "tests/core/cpu/kernels.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

TEST_CASE("flash-eigen holds the same for every length, backward 12 bytes for each query more") {
    Workload w{.N_q = 1024, .N_kv = 1024};
    const std::int64_t forward = cpu::flash_eigen().workspace(w, 1);
    CHECK(forward < 1 << 20);
    w.N_q = w.N_kv = 65536;
    CHECK(cpu::flash_eigen().workspace(w, 1) == forward);
    CHECK(cpu::flash_eigen().workspace(w, 2) == 2 * forward);
    w.direction = Direction::backward;
    const std::int64_t backward = cpu::flash_eigen().workspace(w, 1);
    w.N_q = 2 * 65536;
    CHECK(cpu::flash_eigen().workspace(w, 1) == backward + 12LL * 8 * 65536);
}

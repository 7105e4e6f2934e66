#include "tests/core/cpu/kernels.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

TEST_CASE("standard attention holds 8 bytes for each score of the square, backward also D") {
    Workload w{.heads = 8, .kv_heads = 2, .N_q = 8192, .N_kv = 4096, .causal = true};
    CHECK(cpu::standard().workspace(w, 3) == 8LL * 8 * 8192 * 4096);
    w.direction = Direction::backward;
    CHECK(cpu::standard().workspace(w, 3) == 8LL * 8 * 8192 * 4096 + 4 * 8 * 8192);
}

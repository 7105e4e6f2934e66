#include "tests/core/cpu/kernels.h"

#include <doctest/doctest.h>

using namespace tilewalk;
using namespace tilewalk::test;

TEST_CASE("flash-eigen equals dense attention, forward, on random workloads") {
    std::mt19937 random(11);
    for (unsigned k = 0; k < 40; ++k)
        check_kernel(cpu::flash_eigen(), random_workload(random, Direction::forward), k,
                     1 + static_cast<int>(k % 4));
}

TEST_CASE("flash-eigen equals dense attention, backward, on random workloads") {
    std::mt19937 random(12);
    for (unsigned k = 0; k < 25; ++k)
        check_kernel(cpu::flash_eigen(), random_workload(random, Direction::backward), k,
                     1 + static_cast<int>(k % 4));
}

TEST_CASE("flash-eigen: one query, one key, rows without keys, large logits") {
    check_kernel(cpu::flash_eigen(), {.batch = 16, .heads = 2, .kv_heads = 2, .N_q = 1, .N_kv = 1}, 1, 2);
    // The first 40 queries see nothing.
    const Workload late{.direction = Direction::backward, .N_q = 90, .N_kv = 50, .d = 16, .causal = true};
    check_kernel(cpu::flash_eigen(), late, 2, 2);
    const Workload steep{
        .direction = Direction::backward, .heads = 2, .kv_heads = 1, .N_q = 150, .N_kv = 130};
    check_kernel(cpu::flash_eigen(), steep, 3, 2, 4);
}

TEST_CASE("flash-eigen gives the same bits every time, for any number of threads") {
    check_repetition(cpu::flash_eigen(), {.direction = Direction::backward,
                                          .heads = 4,
                                          .kv_heads = 2,
                                          .N_q = 300,
                                          .N_kv = 333,
                                          .d = 24,
                                          .causal = true});
}

TEST_CASE("flash-eigen can be stopped at any time and runs again afterwards") {
    check_stopping(cpu::flash_eigen());
}

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

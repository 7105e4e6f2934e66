#include "tests/core/cpu/kernels.h"

#include <doctest/doctest.h>

using namespace tilewalk;
using namespace tilewalk::test;

TEST_CASE("standard attention equals dense attention, forward, on random workloads") {
    std::mt19937 random(11);
    for (unsigned k = 0; k < 40; ++k)
        check_kernel(cpu::standard(), random_workload(random, Direction::forward), k,
                     1 + static_cast<int>(k % 4));
}

TEST_CASE("standard attention equals dense attention, backward, on random workloads") {
    std::mt19937 random(12);
    for (unsigned k = 0; k < 25; ++k)
        check_kernel(cpu::standard(), random_workload(random, Direction::backward), k,
                     1 + static_cast<int>(k % 4));
}

TEST_CASE("standard attention: one query, one key, rows without keys, large logits") {
    check_kernel(cpu::standard(), {.batch = 16, .heads = 2, .kv_heads = 2, .N_q = 1, .N_kv = 1}, 1, 2);
    // The first 40 queries see nothing.
    const Workload late{.direction = Direction::backward, .N_q = 90, .N_kv = 50, .d = 16, .causal = true};
    check_kernel(cpu::standard(), late, 2, 2);
    const Workload steep{
        .direction = Direction::backward, .heads = 2, .kv_heads = 1, .N_q = 150, .N_kv = 130};
    check_kernel(cpu::standard(), steep, 3, 2, 4);
}

TEST_CASE("standard attention gives the same bits every time, for any number of threads") {
    check_repetition(cpu::standard(), {.direction = Direction::backward,
                                       .heads = 4,
                                       .kv_heads = 2,
                                       .N_q = 300,
                                       .N_kv = 333,
                                       .d = 24,
                                       .causal = true});
}

TEST_CASE("standard attention can be stopped at any time and runs again afterwards") {
    check_stopping(cpu::standard());
}

TEST_CASE("standard attention holds 8 bytes for each score of the square, backward also D") {
    Workload w{.heads = 8, .kv_heads = 2, .N_q = 8192, .N_kv = 4096, .causal = true};
    CHECK(cpu::standard().workspace(w, 3) == 8LL * 8 * 8192 * 4096);
    w.direction = Direction::backward;
    CHECK(cpu::standard().workspace(w, 3) == 8LL * 8 * 8192 * 4096 + 4 * 8 * 8192);
}

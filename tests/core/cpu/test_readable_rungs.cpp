// What holds for the readable rungs of the ladder alike.
#include "tests/core/cpu/kernels.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

// Runs the test once for each rung, under its name.
const cpu::Rung& readable_rung() {
    const cpu::Rung* rung = &cpu::standard();
    SUBCASE("standard") {}
    SUBCASE("flash-eigen") { rung = &cpu::flash_eigen(); }
    return *rung;
}

}  // namespace

TEST_CASE("a rung equals dense attention, forward, on random workloads") {
    const cpu::Rung& rung = readable_rung();
    std::mt19937 random(11);
    for (unsigned k = 0; k < 40; ++k)
        check_kernel(rung, random_workload(random, Direction::forward), k, 1 + static_cast<int>(k % 4));
}

TEST_CASE("a rung equals dense attention, backward, on random workloads") {
    const cpu::Rung& rung = readable_rung();
    std::mt19937 random(12);
    for (unsigned k = 0; k < 25; ++k)
        check_kernel(rung, random_workload(random, Direction::backward), k, 1 + static_cast<int>(k % 4));
}

TEST_CASE("a rung on one query, one key, rows without keys, large logits") {
    const cpu::Rung& rung = readable_rung();
    check_kernel(rung, {.batch = 16, .heads = 2, .kv_heads = 2, .N_q = 1, .N_kv = 1}, 1, 2);
    // The first 40 queries see nothing.
    const Workload late{.direction = Direction::backward, .N_q = 90, .N_kv = 50, .d = 16, .causal = true};
    check_kernel(rung, late, 2, 2);
    const Workload steep{
        .direction = Direction::backward, .heads = 2, .kv_heads = 1, .N_q = 150, .N_kv = 130};
    check_kernel(rung, steep, 3, 2, 4);
}

TEST_CASE("a rung gives the same bits every time, for any number of threads") {
    const cpu::Rung& rung = readable_rung();
    check_repetition(rung, {.direction = Direction::backward,
                            .heads = 4,
                            .kv_heads = 2,
                            .N_q = 300,
                            .N_kv = 333,
                            .d = 24,
                            .causal = true});
}

TEST_CASE("a rung can be stopped at any time and runs again afterwards") {
    const cpu::Rung& rung = readable_rung();
    check_stopping(rung);
}

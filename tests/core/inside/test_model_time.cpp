// The model of time on blocks that are written down by hand, whose clocks are counted beside them: those of
// an A100.
#include "core/inside/model_time.h"
#include "tests/core/inside/made_run.h"

#include <doctest/doctest.h>

namespace tilewalk::inside {

using test::MadeRun;

namespace {

const Costs& a100() { return costs_of(80); }

// 32 lanes, four bytes each from `first` on: four sectors.
std::uint32_t access(MadeRun& run, Op op, int warp, std::uint32_t first) {
    std::vector<std::vector<std::uint32_t>> lanes;
    for (std::uint32_t lane = 0; lane < 32; ++lane) lanes.push_back({global_base + first + 4 * lane, 0});
    return run.add(op, warp, 2, 4, lanes);
}

}  // namespace

TEST_CASE("model time: a barrier of the block ends for all warps when the last one has come") {
    REQUIRE(a100().special == 8);
    MadeRun run(2, 3);
    for (int n = 0; n < 5; ++n) run.whole(Op::exp2, 0, 1, {0, 0});  // 40 clocks
    const std::uint32_t met[] = {run.whole(Op::sync_block, 0, 2), run.whole(Op::sync_block, 1, 2)};
    const std::uint32_t behind[] = {run.whole(Op::exp2, 0, 3, {0, 0}), run.whole(Op::exp2, 1, 3, {0, 0})};
    const ModelTime time = model_time(run.block(), 2, a100());
    for (const std::uint32_t n : met) CHECK(time.events[n].end == 41);
    for (const std::uint32_t n : behind) {
        CHECK(time.events[n].begin == 41);
        CHECK(time.events[n].end == 49);
    }
    CHECK(time.end == 49);
}

TEST_CASE("model time: a barrier with a number holds those who wait at it, and not who only arrives") {
    MadeRun run(2, 3);
    for (int n = 0; n < 5; ++n) run.whole(Op::exp2, 0, 1, {0, 0});
    run.whole(Op::arrive_named, 0, 2, {1, 64});
    const std::uint32_t goes_on = run.whole(Op::exp2, 0, 3, {0, 0});
    const std::uint32_t waits = run.whole(Op::sync_named, 1, 2, {1, 64}),
                        behind = run.whole(Op::exp2, 1, 3, {0, 0});
    const ModelTime time = model_time(run.block(), 2, a100());
    CHECK(time.events[goes_on].begin == 41);
    CHECK(time.events[waits].end == 41);
    CHECK(time.events[behind].begin == 41);
}

TEST_CASE("model time: HBM serves one after the other; a load is waited for, a store is not") {
    REQUIRE(a100().sector == 2);
    MadeRun run(2, 3);
    const std::uint32_t first = access(run, Op::load, 0, 0), second = access(run, Op::load, 1, 128),
                        stored = access(run, Op::store, 0, 256);
    const ModelTime time = model_time(run.block(), 2, a100());
    CHECK(time.events[first].end == 8);
    CHECK(time.events[second].end == 16);
    CHECK(time.events[stored].begin == 8);
    CHECK(time.events[stored].end == 9);
    CHECK(time.end == 24);  // the store's sectors come last
}

}  // namespace tilewalk::inside

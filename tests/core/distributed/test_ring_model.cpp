#include "core/distributed/ring_model.h"

#include "tests/near.h"
#include <cmath>

#include <doctest/doctest.h>

using namespace tilewalk;
using namespace tilewalk::ring;

namespace {

Problem problem(Shards shards, std::int64_t N, Direction direction = Direction::forward, bool causal = true) {
    Workload w;
    w.direction = direction, w.causal = causal, w.N_q = w.N_kv = N, w.heads = 16, w.kv_heads = 4, w.d = 128;
    return {w, shards};
}

constexpr Rates fast_link = {1e12, 1e15}, slow_link = {1e15, 1e9};

}  // namespace

TEST_CASE("a causal ring: zig-zag and striped shards keep all ranks busy, contiguous ones about half") {
    for (const Direction direction : {Direction::forward, Direction::backward})
        for (const int ranks : {4, 8, 32}) {
            const auto busy = [&](Shards shards) {
                return simulate(problem(shards, 1 << 15, direction), ranks, fast_link, 2).busy();
            };
            CHECK(busy(Shards::zigzag) > .99);
            CHECK(busy(Shards::striped) > .95);
            // Round 0 takes half a block; in every other round somebody has a whole one:
            // R² / 2 blocks of work in R · (R − ½) of time
            CHECK(busy(Shards::contiguous) == doctest::Approx(ranks / 2.0 / (ranks - .5)).epsilon(.01));
        }
}

TEST_CASE("without a mask all shards are as good") {
    for (const Shards shards : {Shards::contiguous, Shards::zigzag, Shards::striped})
        CHECK(simulate(problem(shards, 1 << 14, Direction::forward, false), 8, fast_link, 2).busy() > .999);
}

TEST_CASE("where the link is slow, the ring takes as long as its messages") {
    const Problem forward = problem(Shards::zigzag, 1 << 12),
                  backward = problem(Shards::zigzag, 1 << 12, Direction::backward);
    const double pair = 2.0 * 4 * 128 * 2 * (1 << 12) / 8 / slow_link.link;  // K and V of a shard
    CHECK(simulate(forward, 8, slow_link, 2).seconds == test::near(7 * pair, .01));
    // 8 times dK and dV, in float32
    CHECK(simulate(backward, 8, slow_link, 2).seconds == test::near((7 + 2 * 8) * pair, .01));
}

TEST_CASE("from the length that the closed form names, the schedule takes as long as its computing, and not "
          "before") {
    const Rates rates = {3e14, 25e9}, no_time_to_send = {rates.flops, 1e30};
    for (const Direction direction : {Direction::forward, Direction::backward})
        for (const bool causal : {false, true})
            for (const Shards shards : {Shards::contiguous, Shards::zigzag})
                for (const int ranks : {2, 3, 8, 64}) {
                    Problem one = problem(shards, 1, direction, causal);
                    const std::int64_t whole = 2 * ranks,  // zig-zag: halves of a shard
                        N = (hides_from(one, ranks, rates, 2) + whole - 1) / whole * whole;
                    // What sending adds to computing; dK and dV in float32 go home after the last round.
                    const auto added = [&](std::int64_t length) {
                        one.workload.N_q = one.workload.N_kv = length;
                        const double home = direction == Direction::forward
                                                ? 0
                                                : 2.0 * 4 * 128 * 4 * double(length) / ranks / rates.link;
                        const double alone = simulate(one, ranks, no_time_to_send, 2).seconds;
                        return (simulate(one, ranks, rates, 2).seconds - home) / alone - 1;
                    };
                    CAPTURE(ranks);
                    CAPTURE(N);
                    CAPTURE(causal);
                    CAPTURE(static_cast<int>(shards));
                    CHECK(std::abs(added(N)) < 1e-9);
                    CHECK(added(N - 2 * whole) > 1e-7);
                    CHECK(round_cost(one, ranks, rates, 2).hidden() == false);
                    one.workload.N_q = one.workload.N_kv = N;
                    CHECK(round_cost(one, ranks, rates, 2).hidden());
                }
    CHECK(hides_from(problem(Shards::zigzag, 1), 1, rates, 2) == 0);
}

TEST_CASE("without a mask, with as many key heads as query heads, it is R b F / 2B") {
    Problem one = problem(Shards::contiguous, 1, Direction::forward, false);
    one.workload.kv_heads = one.workload.heads;
    CHECK(hides_from(one, 8, {4e14, 25e9}, 2) == 8 * 2 * 400000 / 50);
}

TEST_CASE("the bytes of the closed form do not depend on how shards are cut") {
    for (const Shards shards : {Shards::contiguous, Shards::zigzag, Shards::striped}) {
        CHECK(bytes_between(problem(shards, 1000), 8) == 7 * 2 * 4 * 128 * 1000 * 4);
        CHECK(bytes_between(problem(shards, 1000, Direction::backward), 8) == 15 * 2 * 4 * 128 * 1000 * 4);
        CHECK(bytes_between(problem(shards, 1000), 8, 2) == 7 * 2 * 4 * 128 * 1000 * 2);
        CHECK(bytes_between(problem(shards, 1000, Direction::backward), 8, 2) ==
              (7 * 2 + 8 * 4) * 2 * 4 * 128 * 1000);  // gradients are float32
        CHECK(bytes_between(problem(shards, 1000), 1) == 0);
    }
}

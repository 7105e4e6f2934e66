// The ring: the results of dense attention for every number of ranks and every kind of shard; what goes
// between ranks, its clock and the share of time that a rank waits, in closed form; what it computes is the
// schedule of core/distributed.
#include "core/distributed/ring.h"
#include "core/lessons/ring/ring.h"
#include "tests/contains.h"
#include "tests/core/lessons/contract.h"
#include "tests/core/lessons/ring_problems.h"
#include "tests/core/steps.h"

#include <cmath>
#include <doctest/doctest.h>
#include <numeric>

using namespace tilewalk::test;

namespace {

// Ticks in which a rank computes, and those of the whole walk in which it does not.
int busy_ticks(const Trace& trace, int rank) {
    int ticks = 0;
    for (int k = 0; k < trace.size(); ++k) {
        const When& when = trace.step(k).when;
        if (when.worker == rank && !when.beneath) ticks += when.end - when.start;
    }
    return ticks;
}

}  // namespace

TEST_SUITE("ring lesson") {

    TEST_CASE(
        "odd shapes, any number of ranks, any shards, with and without masks: dense attention to 1e-12") {
        Random random(61);
        int sinks = 0, zigzag = 0;
        for (int n = 0; n < 400; ++n) {
            Problem p;
            do {
                p = any_problem(random, 13);
                p.options.ranks = pick(random, 1, 4);
                p.options.shards = shard_kinds[pick(random, 0, 2)];
                if (n % 2 == 0) p.logits = any_logits(random);
            } while (validate(p) || refuse(ring_attention, p));
            const auto trace = ring_attention(p);
            CHECK(trace->workers() == p.options.ranks);
            check_walk(*trace);
            check_costs(*trace);
            CHECK(check_results(*trace) == 2);
            if (n % 4 == 0) CHECK(check_explanations(*trace, 12) > 0);
            sinks += p.logits.sink && p.options.ranks > 2;
            zigzag += p.options.shards == ShardKind::zigzag && p.causal;
        }
        CHECK(sinks > 20);
        CHECK(zigzag > 20);
    }

    TEST_CASE("between ranks go (R − 1) rounds of every shard of K and V, whatever the shards and the mask") {
        for (const int rows : {8, 9, 13})
            for (const int ranks : {1, 2, 3, 4})
                for (const ShardKind kind : shard_kinds)
                    for (const bool is_causal : {false, true}) {
                        const Problem p = ring_of(rows, ranks, kind, is_causal);
                        const auto trace = ring_attention(p);
                        const std::int64_t sent = trace->step(trace->size() - 1).traffic.sent;
                        CHECK(sent == (ranks - 1) * 2 * rows * 4 * 4);
                        // The engine of many machines counts the same.
                        ring::Problem engine;
                        engine.workload.N_q = engine.workload.N_kv = rows, engine.workload.d = 4;
                        engine.workload.batch = engine.workload.heads = engine.workload.kv_heads = 1;
                        engine.shards = ring_shards(p);
                        CHECK(sent == ring::bytes_between(engine, ranks));
                    }
    }

    TEST_CASE(
        "in round t a rank has the keys of rank (r − t) mod R, and what it did not begin with was sent") {
        for (const ShardKind kind : shard_kinds) {
            const Problem p = ring_of(12, 4, kind);
            const auto trace = ring_attention(p);
            for (const int k : steps_of(*trace, Op::load_kv)) {
                const Step& step = trace->step(k);
                int round = 0;
                for (int before = 0; before < k; ++before)
                    round += trace->step(before).op == Op::load_kv && trace->step(before).phase == step.phase;
                CHECK(step.j == (step.when.worker - round + 4) % 4);
                const Matrix& K = trace->live(Slot::Kj, k).value->data;
                const auto own = positions_of_rank(p, 12, 4, step.j);
                REQUIRE(K.rows() == std::ssize(own));
                for (std::size_t row = 0; row < own.size(); ++row)
                    CHECK(K.row(static_cast<int>(row)) == p.K.row(own[row]));
                for (const Access& a : trace->reads(k)) {
                    CHECK((a.slot == Slot::K_in || a.slot == Slot::V_in) == (round > 0));
                    if (round == 0) continue;
                    // It is there before it is read.
                    const int sent = trace->live(a.slot, a.tile, k).step;
                    CHECK(trace->step(sent).when.end <= step.when.start);
                    CHECK(trace->step(sent).when.worker == step.when.worker);
                }
            }
        }
    }

    TEST_CASE("a message is said to cost no time where the rank does not wait for it") {
        Random random(64);
        int free = 0, waiting = 0;
        for (int n = 0; n < 60; ++n) {
            Problem p =
                ring_of(pick(random, 6, 12), pick(random, 2, 4), shard_kinds[pick(random, 0, 2)], n % 2 == 0);
            if (refuse(ring_attention, p)) continue;
            const auto trace = ring_attention(p);
            const auto begins_round = [&](int k) {
                const Op op = trace->step(k).op;
                return op == Op::load_kv || op == Op::skip;
            };
            for (const int k : steps_of(*trace, Op::exchange)) {
                int now = k + 1, end = 0;
                while (!begins_round(now)) ++now;
                for (bool first = true; first || !begins_round(now); first = false, ++now)
                    if (!trace->step(now).when.beneath) end = trace->step(now).when.end;
                const int there = trace->step(k).when.end;
                const bool waits = there > end;
                CHECK(trace->step(now).when.start >= std::max(there, end));
                CHECK(contains(explain(*trace, k).why, "waits for it") == waits);
                CHECK(contains(explain(*trace, k).why, "no time is lost") != waits);
                ++(waits ? waiting : free);
            }
        }
        CHECK(free > 0);
        CHECK(waiting > 0);
    }

    TEST_CASE("scores that the mask leaves are those of the engine, and of counting them") {
        for (const ShardKind kind : shard_kinds)
            for (const int rows : {8, 9, 11})
                for (const int ranks : {2, 3, 4}) {
                    const Problem p = ring_of(rows, ranks, kind, true);
                    const Ring ring(p);
                    for (int rank = 0; rank < ranks; ++rank)
                        for (int round = 0; round < ranks; ++round) {
                            int count = 0;
                            for (const int q : positions_of_rank(p, rows, ranks, rank))
                                for (const int key :
                                     positions_of_rank(p, rows, ranks, (rank - round + ranks) % ranks))
                                    count += sees(p, q, key);
                            CHECK(ring.scores(rank, round) == count);
                        }
                }
    }

    TEST_CASE(
        "no two steps of a rank at the same time but a message and its work; messages hide beneath it") {
        for (const ShardKind kind : shard_kinds)
            for (const bool is_causal : {false, true}) {
                const auto trace = ring_attention(ring_of(16, 4, kind, is_causal));
                std::vector<int> free(4);
                bool beneath = false;
                for (int k = 0; k < trace->size(); ++k) {
                    const When& when = trace->step(k).when;
                    REQUIRE(when);
                    CHECK(when.beneath == (trace->step(k).op == Op::exchange));
                    beneath |= when.beneath;
                    if (when.beneath) continue;
                    int& own = free[static_cast<std::size_t>(when.worker)];
                    CHECK(when.start >= own);
                    own = when.end;
                }
                CHECK(beneath);
                // Without a mask sending takes less than computing: no rank ever waits.
                if (is_causal) continue;
                for (int rank = 0; rank < 4; ++rank) CHECK(busy_ticks(*trace, rank) == trace->ticks());
            }
    }

    TEST_CASE("ticks in closed form, where no mask hides a score") {
        for (const int n : {1, 2, 3, 5})
            for (const int ranks : {1, 2, 3, 4}) {
                const auto trace = ring_attention(ring_of(n * ranks, ranks, ShardKind::contiguous));
                // Queries, then in each round the keys, n² scores and n² weights, and from the second on four
                // steps of a merge; at the end two. A message of 2 n ticks is hidden by n ≥ 1 rows.
                const int computing = 1 + 2 * n * n;
                CHECK(trace->ticks() == 1 + ranks * computing + (ranks - 1) * 4 + 2);
            }
    }

    TEST_CASE(
        "with a causal mask contiguous shards let early ranks wait; zig-zag ones share the work evenly") {
        for (const int ranks : {2, 3, 4, 8})
            for (const int n : {2, 4, 6, 64})
                for (const ShardKind kind : shard_kinds) {
                    std::vector<double> scores;
                    const auto shards = static_cast<ring::Shards>(kind);
                    for (int rank = 0; rank < ranks; ++rank) {
                        scores.push_back(0);
                        for (int round = 0; round < ranks; ++round)
                            scores.back() += static_cast<double>(
                                ring::scores_of(shards, n * ranks, ranks, rank, round, true));
                    }
                    const double longest = *std::ranges::max_element(scores);
                    for (int rank = 0; rank < ranks; ++rank)
                        CHECK(ring_idle_share(shards, ranks, n, rank) ==
                              doctest::Approx(1 - scores[static_cast<std::size_t>(rank)] / longest));
                }
        // Two ranks of two rows: 3 of 7 scores; so many of long sequences: a half less 1 ÷ (2 R − 1).
        CHECK(ring_idle_share(ring::Shards::contiguous, 2, 2, 0) == doctest::Approx(4.0 / 7));
        CHECK(ring_idle_share(ring::Shards::contiguous, 8, 1 << 20, 0) ==
              doctest::Approx(7 / 7.5).epsilon(1e-5));

        // And the walk shows it.
        const auto waits = [](ShardKind kind, int rank) {
            const auto trace = ring_attention(ring_of(16, 4, kind, true));
            return 1 - static_cast<double>(busy_ticks(*trace, rank)) / trace->ticks();
        };
        CHECK(waits(ShardKind::contiguous, 0) > .6);
        CHECK(waits(ShardKind::contiguous, 3) == 0);
        for (int rank = 0; rank < 4; ++rank) CHECK(waits(ShardKind::zigzag, rank) < .05);
        for (int rank = 0; rank < 4; ++rank) CHECK(waits(ShardKind::striped, rank) < .3);
    }

    TEST_CASE("the worked example on two ranks") {
        Problem p = worked_example();
        const auto trace = ring_attention(p);
        CHECK(trace->workers() == 2);
        const auto at = [&](Op op, int nth) { return steps_of(*trace, op)[static_cast<std::size_t>(nth)]; };
        const Explanation merged = explain(*trace, at(Op::merge_output, 0), CellRef{Slot::Oi, 0, 0});
        CHECK(plain(merged.formula) == "O  ←  w₀ O₀  +  w₁ O₁");
        CHECK(merged.place == "rank 0, round 1");
        CHECK(trace->result(Slot::O)(0, 0) == doctest::Approx(7.2039).epsilon(1e-4));
        const Explanation sent = explain(*trace, at(Op::exchange, 0));
        CHECK(plain(sent.numbers) == "2 × 2 × 4 × 4");
        CHECK(sent.place == "rank 0, round 0");
        check_contains(sent.why, {"receives those of rank 1"});
    }

    TEST_CASE("where there are too few rows one rank is left; what was asked for and cannot be is refused") {
        Problem p = *random_problem(1, 4, 1);
        CHECK(ring_ranks(p) == 1);
        CHECK_FALSE(refuse(ring_attention, p));
        p.options.ranks = 2;
        check_contains(*refuse(ring_attention, p), {"A ring of 2 ranks needs 2 queries and keys or more"});
        p = *random_problem(5, 4, 1);
        p.options.ranks = 3;
        CHECK_FALSE(refuse(ring_attention, p));
        p.options.shards = ShardKind::zigzag;
        check_contains(*refuse(ring_attention, p), {"3 ranks with zig-zag shards needs 6"});
        p.options.ranks = 17;
        check_contains(*validate(p), {"There are 17 ranks; expected 1 to 16."});
        p.options.ranks = -1;
        check_contains(*validate(p), {"There are -1 ranks"});
    }
}

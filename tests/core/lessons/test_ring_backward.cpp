// The ring backward: the gradients of dense attention and of central differences for every number of ranks
// and every kind of shard; dK and dV that travel and come home; what goes between ranks is what the engine
// counts, and the clock is its schedule.
#include "core/distributed/ring_model.h"
#include "core/lessons/ring/clock.h"
#include "core/lessons/ring/ring.h"
#include "core/walk/compare.h"
#include "tests/contains.h"
#include "tests/core/lessons/contract.h"
#include "tests/core/lessons/dense_checks.h"
#include "tests/core/lessons/ring_problems.h"

#include <cmath>
#include <functional>
#include <set>

using namespace tilewalk::test;

namespace {

// Up to four ranks, as many as have rows.
Problem any_ring(Random& random, const std::function<Problem()>& draw) {
    Problem p;
    do {
        p = draw();
        p.options.ranks = pick(random, 1, 4);
        p.options.shards = shard_kinds[pick(random, 0, 2)];
    } while (refuse(ring_backward, p));
    return p;
}

// The same on the engine of many machines.
ring::Problem on_engine(const Problem& p) {
    ring::Problem out;
    out.workload.direction = Direction::backward;
    out.workload.N_q = out.workload.N_kv = p.N(), out.workload.d = p.d();
    out.workload.batch = out.workload.heads = out.workload.kv_heads = 1;
    out.workload.causal = p.causal;
    out.shards = ring_shards(p);
    return out;
}

// Of a cell of dK or dV: its value at home, and what each rank has added to it on its way, in order.
void check_way(const Trace& trace, Slot part, Slot on_way, Slot home, int key, int owner) {
    const Problem& p = trace.problem();
    const int ranks = trace.workers();
    double sum = 0;
    for (int t = 0; t < ranks; ++t) {
        const int rank = (owner + t) % ranks;
        const CellRef share{part, rank * p.N_kv() + key, 0};
        if (const Held held = holding(trace, share, trace.size())) sum += value_at(*held.value, share);
        for (int k = 0; t > 0 && k < trace.size(); ++k)
            if (trace.step(k).op == Op::add_share && trace.step(k).i == rank && trace.step(k).j == owner)
                CHECK(value_at(*holding(trace, {on_way, key, 0}, k).value, {on_way, key, 0}) == sum);
    }
    CHECK(trace.result(home)(key, 0) == sum);
}

}  // namespace

TEST_SUITE("ring backward") {

    TEST_CASE("odd shapes, any number of ranks, any shards, masks, heads: dense attention to 1e-12") {
        Random random(71);
        int zigzag = 0, several = 0;
        for (int n = 0; n < 500; ++n) {
            const Problem p = any_ring(random, [&] {
                Problem drawn = any_problem(random, 13);
                if (pick(random, 0, 2) > 0) drawn.dO = random_problem(drawn.N(), drawn.d(), random())->dO;
                return drawn;
            });
            const auto trace = ring_backward(p);
            CHECK(trace->workers() == p.options.ranks);
            check_walk(*trace);
            check_costs(*trace);
            CHECK(check_results(*trace) == 1);
            if (n % 4 == 0) CHECK(check_explanations(*trace, 12) > 0);
            zigzag += p.options.shards == ShardKind::zigzag && p.causal;
            several += p.options.ranks > 2;
        }
        CHECK(zigzag > 20);
        CHECK(several > 100);
    }

    TEST_CASE("dQ, dK, dV equal central differences of the loss ⟨dO, O⟩") {
        Random random(72);
        for (int n = 0; n < 500; ++n) {
            const Problem p = any_ring(random, [&] { return gradient_problem(random, 5); });
            const auto trace = ring_backward(p);
            check_differences(p, &Problem::Q, trace->result(Slot::dQ));
            check_differences(p, &Problem::K, trace->result(Slot::dK));
            check_differences(p, &Problem::V, trace->result(Slot::dV));
        }
    }

    TEST_CASE("K, V go to R − 1 ranks, dK, dV to all of them and home: the bytes that the engine counts") {
        for (const int rows : {8, 9, 13})
            for (const int ranks : {1, 2, 3, 4})
                for (const ShardKind kind : shard_kinds)
                    for (const bool is_causal : {false, true})
                        for (const int bytes : {2, 4}) {
                            Problem p = ring_of(rows, ranks, kind, is_causal);
                            p.element_bytes = bytes;
                            const auto trace = ring_backward(p);
                            const std::int64_t sent = trace->step(trace->size() - 1).traffic.sent;
                            CHECK(sent == ring_backward_bytes(p));
                            CHECK(sent == ring::bytes_between(on_engine(p), ranks, bytes));
                            if (ranks > 1)
                                CHECK(sent == (ranks - 1) * 2 * rows * 4 * bytes + ranks * 2 * rows * 4 * 4);
                        }
    }

    TEST_CASE("each rank adds its share to the sum that visits it, and the last one is at home") {
        Random random(73);
        for (const ShardKind kind : shard_kinds)
            for (const int ranks : {2, 3, 4})
                for (const bool is_causal : {false, true}) {
                    const Problem p = ring_of(11, ranks, kind, is_causal);
                    const auto trace = ring_backward(p);
                    for (int owner = 0; owner < ranks; ++owner)
                        for (const int key : positions_of_rank(p, 11, ranks, owner)) {
                            check_way(*trace, Slot::dK_part, Slot::dK_in, Slot::dK, key, owner);
                            check_way(*trace, Slot::dV_part, Slot::dV_in, Slot::dV, key, owner);
                        }
                }
    }

    TEST_CASE(
        "what a step reads is there by then, a sum goes on when it is whole, and no rank does two things "
        "at once") {
        for (const ShardKind kind : shard_kinds)
            for (const int ranks : {2, 3, 5})
                for (const bool is_causal : {false, true}) {
                    const auto trace = ring_backward(ring_of(15, ranks, kind, is_causal));
                    std::vector<std::set<int>> busy(static_cast<std::size_t>(ranks));
                    for (int k = 0; k < trace->size(); ++k) {
                        const When& when = trace->step(k).when;
                        REQUIRE(when);
                        const Op op = trace->step(k).op;
                        CHECK(when.beneath == (op == Op::exchange || op == Op::exchange_gradients));
                        for (int tick = when.start; tick < when.end && !when.beneath; ++tick)
                            CHECK(busy[static_cast<std::size_t>(when.worker)].insert(tick).second);
                        for (const Access& a : trace->reads(k)) {
                            const Held held = trace->live(a.slot, a.tile, k - 1);
                            if (held && held.step >= 0) CHECK(trace->step(held.step).when.end <= when.start);
                        }
                    }
                }
    }

    TEST_CASE("the clock is the schedule of the engine: without a mask, causal, for all shards") {
        for (const ShardKind kind : shard_kinds)
            for (const bool is_causal : {false, true}) {
                const Problem p = ring_of(256, 4, kind, is_causal);
                const Ring held(p);
                const RingClock clock(held, RingPass::backward);
                int end = 0;
                for (int rank = 0; rank < 4; ++rank) end = std::max(end, clock.begin(rank, 4));
                // Five ticks for a score, and messages that take no time
                const ring::Rates rates{2.0 * p.d(), 1e30};
                const ring::Simulated engine = ring::simulate(on_engine(p), 4, rates, 4);
                CHECK(end == doctest::Approx(engine.seconds).epsilon(.01));
            }
    }

    TEST_CASE("one round more than forward: with two ranks the gradients come home while dQ is stored") {
        const auto trace = ring_backward(ring_of(4, 2, ShardKind::contiguous));
        CHECK(steps_of(*trace, Op::exchange).size() == 2);
        CHECK(steps_of(*trace, Op::exchange_gradients).size() == 4);
        CHECK(steps_of(*trace, Op::add_share).size() == 2);
        int home = 0;
        for (const int k : steps_of(*trace, Op::exchange_gradients)) {
            if (trace->step(k).i != trace->step(k).j) continue;
            ++home;
            CHECK(trace->step(k).when.end == trace->ticks());
            CHECK(trace->writes(k).front().slot == Slot::dK);
        }
        CHECK(home == 2);
    }

    TEST_CASE("the worked example on two ranks") {
        Problem p = tutorial_backward();
        const auto trace = ring_backward(p);
        CHECK(trace->workers() == 2);
        const auto at = [&](Op op, int nth) { return steps_of(*trace, op)[static_cast<std::size_t>(nth)]; };
        const Explanation added = explain(*trace, at(Op::add_share, 0));
        CHECK(plain(added.formula) == "dK₀  ←  dK₀  +  ΔK₀");
        CHECK(added.place == "rank 1, round 1");
        const Explanation home = explain(*trace, at(Op::exchange_gradients, 1));
        CHECK(home.place == "rank 0, home");
        CHECK(plain(home.numbers) == "2 × 2 × 4 × 4");
        check_contains(home.why, {"one more hand-over"});
        const Explanation weight = explain(*trace, at(Op::recompute, 1), CellRef{Slot::Prob, 0, 0});
        CHECK(plain(weight.numbers) == "exp(2 − 2.494)");
        CHECK(close_to(trace->result(Slot::dQ), dense_gradients(p, *p.dO).dQ, Dense::Table::Ones(4, 4), 0));
    }

    TEST_CASE(
        "a sink: its gradient is a sum over the ranks, that of dense attention and of central differences") {
        Random random(74);
        int several = 0;
        for (int n = 0; n < 500; ++n) {
            const Problem p = any_ring(random, [&] {
                Problem drawn = any_problem(random, 11);
                drawn.dO = random_problem(drawn.N(), drawn.d(), random())->dO;
                drawn.logits = any_logits(random);
                drawn.logits.sink = choose(random, {0, 1, -2.5, 0.3, 6});
                return drawn;
            });
            const auto trace = ring_backward(p);
            check_walk(*trace);
            check_costs(*trace);
            CHECK(check_results(*trace) == 1);
            if (n % 4 == 0) CHECK(check_explanations(*trace, 12) > 0);
            several += p.options.ranks > 2;
        }
        CHECK(several > 100);
        for (int n = 0; n < 500; ++n) {
            const Problem p = any_ring(random, [&] {
                Problem drawn = gradient_problem(random, 5);
                drawn.logits.sink = choose(random, {0, 1, -1, 0.3});
                return drawn;
            });
            const auto trace = ring_backward(p);
            check_differences(p, &Problem::Q, trace->result(Slot::dQ));
            const double h = 1e-5, d = trace->result(Slot::dsink)(0, 0);
            const auto loss = [&](double by) {
                Problem moved = p;
                *moved.logits.sink += by;
                const Dense dense = dense_attention(moved);
                return static_cast<double>(
                    (dense.O.array() * output_gradient(p).cast<long double>().array()).sum());
            };
            const double slope = (loss(h) - loss(-h)) / (2 * h);
            CHECK(std::abs(slope - d) <= 1e-6 * (1 + std::abs(slope)));
        }
    }

    TEST_CASE("the gradient of the sink goes from rank to rank, four bytes each time") {
        for (const int ranks : {1, 2, 3, 4}) {
            Problem p = ring_of(12, ranks, ShardKind::zigzag, true);
            const std::int64_t without = ring_backward_bytes(p);
            p.logits.sink = 0.5;
            const auto trace = ring_backward(p);
            CHECK(trace->step(trace->size() - 1).traffic.sent == without + 4 * (ranks - 1));
            const std::vector<int> shares = steps_of(*trace, Op::sink_gradient);
            REQUIRE(static_cast<int>(shares.size()) == ranks);
            const DenseGradients g = dense_gradients(p, output_gradient(p));
            CHECK(trace->result(Slot::dsink)(0, 0) == doctest::Approx(static_cast<double>(g.dsink)));
            for (int rank = 0; rank < ranks; ++rank) {
                const Step& step = trace->step(shares[static_cast<std::size_t>(rank)]);
                CHECK(step.when.worker == rank);
                if (rank > 0)
                    CHECK(step.when.start >
                          trace->step(shares[static_cast<std::size_t>(rank) - 1]).when.start);
            }
        }
    }

    TEST_CASE("without the own share dK and dV are those of one rank alone") {
        Problem p = ring_of(8, 2, ShardKind::contiguous);
        p.switches.no_share = true;
        const auto broken = ring_backward(p), truth = ring_backward(without_faults(p));
        CHECK(broken->result(Slot::dQ) == truth->result(Slot::dQ));
        for (const auto& [part, home] : {std::pair(Slot::dK_part, Slot::dK), {Slot::dV_part, Slot::dV}})
            for (int rank = 0; rank < 2; ++rank)
                for (const int key : positions_of_rank(p, 8, 2, rank)) {
                    const CellRef share{part, rank * 8 + key, 0};
                    CHECK(broken->result(home)(key, 0) ==
                          value_at(*holding(*truth, share, truth->size()).value, share));
                    CHECK(broken->result(home)(key, 0) != truth->result(home)(key, 0));
                }
        CHECK(compare(*truth, *broken).sentence.starts_with("From step "));
    }

    TEST_CASE("one rank is a ring that sends nothing") {
        const auto trace = ring_backward(ring_of(6, 1, ShardKind::zigzag, true));
        CHECK(trace->step(trace->size() - 1).traffic.sent == 0);
        CHECK(trace->tiles(Slot::dK_part) == 0);
        CHECK(check_results(*trace) == 1);
    }
}

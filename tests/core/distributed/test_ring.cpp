#include "core/bench/verify.h"
#include "tests/core/distributed/ring_of_threads.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tilewalk;
using ring::Shards;

namespace {

Workload workload(Direction direction, std::int64_t N, bool causal) {
    Workload w;
    w.direction = direction, w.batch = 2, w.heads = 4, w.kv_heads = 2, w.N_q = w.N_kv = N, w.d = 20;
    w.causal = causal;
    return w;
}

// What all elements of all outputs are, by the rule that every kernel is held against
void check_ring(const ring::Problem& problem, int ranks, float spread = 1) {
    const Workload& w = problem.workload;
    CAPTURE(describe(w));
    CAPTURE(w.N_q);
    CAPTURE(ranks);
    CAPTURE(ring::name_of(problem.shards));
    const Tensors inputs = make_inputs(w, 7, spread);
    const test::RingOutcome ring = test::run_ring(problem, ranks, inputs);
    const KernelVerdict verdict = verify_outputs(ring.out, w, inputs);
    CHECK_MESSAGE(verdict.passed, verdict.sentence);
    CHECK(ring.sent == ring::bytes_between(problem, ranks));
    for (int rank = 0; rank < ranks; ++rank)
        CHECK(ring.memory[static_cast<std::size_t>(rank)] == ring::bytes_of_rank(problem, ranks, rank, 2));
}

}  // namespace

TEST_CASE("a ring gives what dense attention gives, and sends and holds what the closed forms say") {
    for (const Direction direction : {Direction::forward, Direction::backward})
        for (const bool causal : {false, true})
            for (const Shards shards : {Shards::contiguous, Shards::zigzag, Shards::striped}) {
                check_ring({workload(direction, 96, causal), shards}, 4);
                check_ring({workload(direction, 61, causal), shards}, 3);  // odd shards
                check_ring({workload(direction, 16, causal), shards}, 8);  // a row or two for each rank
                check_ring({workload(direction, 40, causal), shards}, 1);
                check_ring({workload(direction, 300, causal), shards}, 2);  // several blocks for each rank
            }
}

// A meeting is a mark from each rank but 0 to rank 0, and one back; in turn all meet after each turn of each
// round.
TEST_CASE("ranks that compute in turn meet after each turn, and give the same bits as those that compute "
          "together") {
    using Pace = ring::Rank::Pace;
    for (const int ranks : {1, 2, 3, 4}) {
        CAPTURE(ranks);
        const ring::Problem problem{workload(Direction::forward, 61, true), Shards::zigzag};
        const Tensors inputs = make_inputs(problem.workload, 7, 1);
        const auto go = [&](Pace pace) { return test::run_ring(problem, ranks, inputs, {}, 60, pace); };
        const test::RingOutcome together = go(Pace::together), in_turn = go(Pace::in_turn);
        CHECK(together.agreements == 0);
        CHECK(in_turn.agreements == ranks * ranks * 2 * (ranks - 1));
        CHECK(in_turn.sent == together.sent);
        CHECK(in_turn.out.O == together.out.O);
        CHECK(in_turn.out.L == together.out.L);
    }
}

TEST_CASE("a ring merges large scores as well as small ones") {
    for (const Direction direction : {Direction::forward, Direction::backward})
        check_ring({workload(direction, 97, true), Shards::zigzag}, 4, 4);
}

// Counted by hand, in rows of K and V: its own, and of others one in use and one on its way.
TEST_CASE("no rank holds K and V of more than three shards, so from four ranks on never all of K") {
    Workload w = workload(Direction::forward, 1 << 12, true);
    w.d = 64;
    const std::int64_t row = 2 * w.batch * w.kv_heads * w.d * 4, query = 2 * w.batch * w.heads * w.d * 4,
                       numbers = 3 * w.batch * w.heads * 4;  // K, V; Q, O; L, m, ℓ
    for (const int ranks : {1, 2, 3, 4, 8, 16}) {
        const ring::Problem problem{w, Shards::contiguous};
        cpu::ThreadPool pool(1);
        cpu::CountedMemory memory;
        const auto transports = ring::thread_transports(ranks);
        const ring::Rank rank(problem, *transports.front(), pool, memory);
        const std::int64_t n = rank.rows(), largest = (w.N_q + ranks - 1) / ranks,
                           others = ranks == 1   ? 0
                                    : ranks == 2 ? 1
                                                 : 2;
        const std::int64_t scratch = ring::ShardAttention::model_bytes(w, n, 1),
                           of_keys = memory.peak() - scratch - n * (query + numbers);
        CAPTURE(ranks);
        CHECK(of_keys == row * (n + others * largest));
        CHECK((of_keys < row * w.N_kv) == (ranks > 3));
    }
}

TEST_CASE("a message that came cut ends every rank with a sentence") {
    const ring::Problem problem{workload(Direction::forward, 64, true), Shards::zigzag};
    const Tensors inputs = make_inputs(problem.workload, 7);
    // Nobody may run out of patience before rank 3 has told the others, however busy the machine is.
    const auto outcome = test::run_ring(problem, 4, inputs, ring::Accident{ring::Accident::Kind::cut, 2, 1});
    for (const std::string& sentence : outcome.failures)
        CHECK_MESSAGE(sentence.starts_with("A message from rank 2 to rank 3 came with "), sentence);
}

TEST_CASE("what cannot go round a ring is refused") {
    Workload w = workload(Direction::forward, 64, true);
    CHECK(!ring::refuse({w, Shards::zigzag}, 4));
    w.window = 3;
    CHECK(ring::refuse({w, Shards::zigzag}, 4) == "A ring takes no window; leave out --window.");
    w.window = {}, w.N_q = 1;
    CHECK(ring::refuse({w, Shards::zigzag}, 4));
}

// The whole measurement with ranks as threads
#include "core/bench/input_stream.h"
#include "core/bench/ring_bench.h"
#include "core/bench/ring_verify.h"

#include <doctest/doctest.h>

#include <thread>

using namespace tilewalk;

namespace {

RingRequest request(Direction direction, ring::Shards shards, std::int64_t N) {
    RingRequest request;
    request.bench.workload.direction = direction, request.bench.workload.causal = true;
    request.bench.workload.heads = 4, request.bench.workload.kv_heads = 2, request.bench.workload.d = 24;
    request.bench.lengths = {N};
    request.bench.least_runs = request.bench.most_runs = 3;
    request.shards = shards, request.threads = 1;
    return request;
}

// Each rank in a thread; what it returns or throws
template <class Play> void on_ranks(int ranks, const Play& play) {
    const auto transports = ring::thread_transports(ranks);
    std::vector<std::jthread> threads;
    for (const auto& transport : transports) threads.emplace_back([&] { play(*transport); });
}

}  // namespace

TEST_CASE("inputs row by row are those of make_inputs") {
    Workload w;
    w.direction = Direction::backward, w.heads = 4, w.kv_heads = 2, w.N_q = w.N_kv = 9, w.d = 7;
    const Tensors inputs = make_inputs(w, 3);
    InputStream stream(w, 3);
    std::vector<float> row(7);
    for (const std::vector<float>* tensor : {&inputs.Q, &inputs.K, &inputs.V, &inputs.dO})
        for (std::size_t at = 0; at < tensor->size(); at += 7) {
            if (at % 3 == 0) {
                stream.skip(1);
                continue;
            }
            stream.next(row.data());
            CHECK(std::equal(row.begin(), row.end(), tensor->begin() + static_cast<std::ptrdiff_t>(at)));
        }
}

TEST_CASE("a ring is verified, timed and counted; rank 0 reports it") {
    for (const Direction direction : {Direction::forward, Direction::backward})
        for (const auto shards : {ring::Shards::zigzag, ring::Shards::contiguous}) {
            const RingRequest what = request(direction, shards, 131);
            BenchReport report;
            on_ranks(3, [&](ring::Transport& transport) {
                CHECK(!disagreement(what, transport));
                BenchReport own = run_ring_bench(what, transport, [](const std::string&) {});
                if (transport.rank() == 0) report = std::move(own);
            });
            REQUIRE(report.points.size() == 1);
            const Point& point = report.points.front();
            CHECK(point.kernel == ring_name(3, shards));
            CHECK_MESSAGE(point.state == Point::State::measured, point.reason);
            CHECK(point.verified);
            CHECK(point.max_error <= point.error_limit);
            CHECK(point.seconds.size() == 3);
            CHECK(point.workspace_bytes == point.model_bytes);
            REQUIRE(point.ring);
            CHECK(point.ring->bytes_between == point.ring->model_bytes_between);
            CHECK(point.ring->bytes_between > 0);
            CHECK(point.ring->one_rank > 0);
            REQUIRE(point.ring->of_rank.size() == 3);
            std::int64_t scores = 0;
            for (const RingFigures::OfRank& one : point.ring->of_rank) {
                CHECK(one.memory_bytes == one.model_bytes);
                CHECK(one.computing > 0);
                scores += one.scores;
            }
            CHECK(scores == visible_scores(point.workload));
            CHECK((point.ring->imbalance() > 1.3) == (shards == ring::Shards::contiguous));
        }
}

TEST_CASE("what a rank has wrong is found: a row of O, of dQ, of dK") {
    for (const int wrong : {0, 1, 2, 3}) {
        const RingRequest what = request(Direction::backward, ring::Shards::zigzag, 40);
        ring::Problem problem{what.bench.workload, what.shards};
        problem.workload.N_q = problem.workload.N_kv = 40;
        std::vector<KernelVerdict> verdicts(2);
        on_ranks(2, [&](ring::Transport& transport) {
            cpu::ThreadPool pool(1);
            cpu::CountedMemory memory;
            ring::Rank rank(problem, transport, pool, memory);
            fill(rank, problem, 1);
            rank.forward();
            rank.run();
            if (transport.rank() == 1 && wrong > 0) {
                const float* const tensors[] = {rank.O() + (rank.rows() - 1) * 24,
                                                rank.dQ() + (rank.rows() - 1) * 24,
                                                rank.dK() + 1 * rank.rows() * 24};
                const_cast<float*>(tensors[wrong - 1])[5] += 1e-3f;
            }
            verdicts[static_cast<std::size_t>(transport.rank())] =
                verify_rank(rank, problem, 1, transport, pool);
        });
        CHECK_MESSAGE(verdicts[0].passed, verdicts[0].sentence);
        CHECK(verdicts[1].passed == (wrong == 0));
        if (wrong == 3) CHECK(verdicts[1].sentence.starts_with("dK is off by "));
    }
}

TEST_CASE("ranks that disagree, or one that was refused, end all of them with one sentence") {
    const auto said = [](const std::vector<Result<RingRequest>>& requests) {
        std::vector<std::string> sentences(requests.size());
        on_ranks(static_cast<int>(requests.size()), [&](ring::Transport& transport) {
            const auto rank = static_cast<std::size_t>(transport.rank());
            sentences[rank] = disagreement(requests[rank], transport).value_or("");
        });
        for (const std::string& sentence : sentences) CHECK(sentence == sentences[0]);
        return sentences[0];
    };
    const RingRequest one = request(Direction::forward, ring::Shards::zigzag, 64);
    RingRequest other = one;
    CHECK(said({one, other}) == "");
    other.bench.seed = 2;
    CHECK(said({one, one, other}).starts_with("Rank 2 has another problem than rank 0: forward, f32"));
    CHECK(said({one, Failure{"No."}, one}) == "No.");
    RingRequest halves = one;
    halves.bench.workload.dtype = DType::bf16;
    CHECK(said({halves, halves}) == "A ring computes in f32, not in bf16.");
    CHECK(said({request(Direction::forward, ring::Shards::zigzag, 3),
                request(Direction::forward, ring::Shards::zigzag, 3)}) ==
          "2 ranks with zigzag shards need 4 positions or more; N is 3.");
    CHECK(said(std::vector<Result<RingRequest>>(1, one)) == "");
}

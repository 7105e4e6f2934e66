#include "tests/core/distributed/ring_of_threads.h"

#include <algorithm>
#include <thread>

namespace tilewalk::test {

namespace {

// Copies the rows of a shard between a tensor of the whole problem and one of a rank.
template <class Row>
void each_row(const std::vector<ring::Run>& runs, std::int64_t heads, std::int64_t N, const Row& row) {
    std::int64_t rows = 0, local = 0;
    for (const ring::Run& run : runs) rows += run.count;
    for (const ring::Run& run : runs)
        for (std::int64_t k = 0; k < run.count; ++k, ++local)
            for (std::int64_t head = 0; head < heads; ++head)
                row(head * N + run.position(k), head * rows + local);
}

void scatter(const std::vector<float>& from, float* to, std::int64_t heads, std::int64_t width,
             const ring::Rank& rank, std::int64_t N) {
    each_row(rank.positions(), heads, N, [&](std::int64_t whole, std::int64_t local) {
        std::copy_n(from.data() + whole * width, width, to + local * width);
    });
}
void collect(const float* from, std::vector<float>& to, std::int64_t heads, std::int64_t width,
             const ring::Rank& rank, std::int64_t N) {
    each_row(rank.positions(), heads, N, [&](std::int64_t whole, std::int64_t local) {
        std::copy_n(from + local * width, width, to.data() + whole * width);
    });
}

/// Counts the messages that ranks agree by.
class Counting final : public ring::Transport {
public:
    explicit Counting(ring::Transport& through) : inner(through) {}
    int rank() const override { return inner.rank(); }
    int ranks() const override { return inner.ranks(); }
    int ranks_on_host() const override { return inner.ranks_on_host(); }
    void send(int to, ring::Tag tag, std::span<const std::byte> bytes) override {
        agreements += tag == ring::Tag::agreement;
        inner.send(to, tag, bytes);
    }
    void receive(int from, ring::Tag tag, std::span<std::byte> bytes) override {
        inner.receive(from, tag, bytes);
    }
    bool all_through() override { return inner.all_through(); }
    void tell_failure(const std::string& sentence) override { inner.tell_failure(sentence); }

    std::int64_t agreements = 0;

private:
    ring::Transport& inner;
};

}  // namespace

RingOutcome run_ring(const ring::Problem& problem, int ranks, const Tensors& inputs,
                     std::optional<ring::Accident> accident, double patience, ring::Rank::Pace pace) {
    const Workload& w = problem.workload;
    const bool backward = w.direction == Direction::backward;
    const std::int64_t heads = w.batch * w.heads, kv_heads = w.batch * w.kv_heads, N = w.N_q;
    const auto room = [](std::int64_t size) { return std::vector<float>(static_cast<std::size_t>(size)); };
    RingOutcome outcome;
    outcome.out.O = room(w.q_rows() * w.d), outcome.out.L = room(w.q_rows());
    if (backward) {
        outcome.out.dQ = room(w.q_rows() * w.d);
        outcome.out.dK = outcome.out.dV = room(w.kv_rows() * w.d);
    }
    outcome.memory.resize(static_cast<std::size_t>(ranks)), outcome.failures.resize(outcome.memory.size());
    const auto transports = ring::thread_transports(ranks);
    std::vector<std::int64_t> sent(outcome.memory.size()), agreements(sent.size());
    const auto play = [&](std::size_t r) {
        cpu::ThreadPool pool(2);
        cpu::CountedMemory memory;
        Counting transport(*transports[r]);
        transport.patience = std::chrono::duration<double>(patience);
        ring::Rank rank(problem, transport, pool, memory);
        rank.accident = accident;
        scatter(inputs.Q, rank.Q(), heads, w.d, rank, N);
        scatter(inputs.K, rank.K(), kv_heads, w.d, rank, N);
        scatter(inputs.V, rank.V(), kv_heads, w.d, rank, N);
        if (backward) scatter(inputs.dO, rank.dO(), heads, w.d, rank, N);
        try {
            if (backward) rank.forward();
            sent[r] = rank.run(pace).sent;
            agreements[r] = transport.agreements;
            ring::meet(transport);  // who is through hears of the others
            outcome.memory[r] = memory.peak();
        } catch (const ring::TransportFailed& failed) {
            outcome.failures[r] = failed.what();
            transports[r]->tell_failure(failed.what());
            return;
        }
        collect(rank.O(), outcome.out.O, heads, w.d, rank, N);
        collect(rank.L(), outcome.out.L, heads, 1, rank, N);
        if (!backward) return;
        collect(rank.dQ(), outcome.out.dQ, heads, w.d, rank, N);
        collect(rank.dK(), outcome.out.dK, kv_heads, w.d, rank, N);
        collect(rank.dV(), outcome.out.dV, kv_heads, w.d, rank, N);
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t r = 0; r < transports.size(); ++r) threads.emplace_back(play, r);
    }
    for (const std::int64_t bytes : sent) outcome.sent += bytes;
    for (const std::int64_t messages : agreements) outcome.agreements += messages;
    return outcome;
}

}  // namespace tilewalk::test

#include "core/distributed/ring_model.h"

#include "core/distributed/schedule.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilewalk::ring {

namespace {

double flops_per_score(const Workload& w) {
    return (w.direction == Direction::forward ? 4.0 : 10.0) * static_cast<double>(w.d);
}

// Seconds for one pair of positions, in all heads
double seconds_per_score(const Workload& w, const Rates& rates) {
    return flops_per_score(w) * static_cast<double>(w.batch * w.heads) / rates.flops;
}

// K and V of a row of all heads; dK and dV are as many, in float32
double pair_bytes(const Workload& w, int element_bytes) {
    return 2.0 * static_cast<double>(w.batch * w.kv_heads * w.d) * element_bytes;
}

double gradient_bytes(const Workload& w) { return pair_bytes(w, sizeof(float)); }

/// A round in which a rank of n rows computes (slope · n + offset) · n scores and sends bytes · n.
struct Round {
    double slope, offset, bytes;
    double seconds(double n, double per_score) const { return (slope * n + offset) * n * per_score; }
};

// Those in which something is computed and something sent; of the ranks the busiest. In round 0 each has its
// own keys; with a causal mask that is a triangle.
std::vector<Round> sending_rounds(const Problem& problem, int ranks, int element_bytes) {
    const Workload& w = problem.workload;
    const bool backward = w.direction == Direction::backward;
    const double pair = pair_bytes(w, element_bytes), gradient = gradient_bytes(w);
    Round own{1, 0, pair}, later{1, 0, pair};
    if (w.causal) {
        own.slope = own.offset = .5;
        if (problem.shards != Shards::contiguous) later.slope = .5;
        if (problem.shards == Shards::striped) later.offset = .5;
    }
    std::vector<Round> rounds{own};
    if (backward) later.bytes = ranks > 2 ? pair + gradient : gradient;
    if (backward || ranks > 2) rounds.push_back(later);
    return rounds;
}

}  // namespace

RoundCost round_cost(const Problem& problem, int ranks, const Rates& rates, int element_bytes) {
    const Workload& w = problem.workload;
    const double per_score = seconds_per_score(w, rates), n = static_cast<double>(w.N_q) / ranks;
    if (ranks == 1) return {flops(w) / rates.flops, 0};
    RoundCost out;
    for (const Round& round : sending_rounds(problem, ranks, element_bytes)) {
        const RoundCost cost{round.seconds(n, per_score), round.bytes * n / rates.link};
        if (out.compute == 0 || cost.transfer * out.compute > out.transfer * cost.compute) out = cost;
    }
    return out;
}

// (slope · n + offset) · n · seconds per score ≥ bytes · n / B
std::int64_t hides_from(const Problem& problem, int ranks, const Rates& rates, int element_bytes) {
    if (ranks == 1) return 0;
    const double per_score = seconds_per_score(problem.workload, rates);
    double n = 1;
    for (const Round& round : sending_rounds(problem, ranks, element_bytes))
        n = std::max(n, (round.bytes / (rates.link * per_score) - round.offset) / round.slope);
    return static_cast<std::int64_t>(std::ceil(n)) * ranks;
}

double Simulated::busy() const {
    const double sum = std::accumulate(computing.begin(), computing.end(), 0.0);
    return seconds > 0 ? sum / (seconds * static_cast<double>(computing.size())) : 1;
}

Simulated simulate(const Problem& problem, int ranks, const Rates& rates, int element_bytes) {
    const Workload& w = problem.workload;
    const auto R = static_cast<std::size_t>(ranks);
    const bool backward = w.direction == Direction::backward;
    const double per_score = seconds_per_score(w, rates);
    std::vector<double> send_keys(R), send_gradients(R);  // seconds, of each shard
    std::vector<std::vector<Run>> shards(R);
    for (std::size_t r = 0; r < R; ++r) {
        const int rank = static_cast<int>(r);
        shards[r] = runs_of(problem.shards, w.N_q, ranks, rank);
        const auto rows = static_cast<double>(rows_of(problem.shards, w.N_q, ranks, rank));
        send_keys[r] = pair_bytes(w, element_bytes) * rows / rates.link;
        send_gradients[r] = gradient_bytes(w) * rows / rates.link;
    }
    const auto compute_of = [&](int rank, int round) {
        if (round == ranks) return 0.0;
        const auto owner = static_cast<std::size_t>(owner_of(ranks, rank, round));
        return per_score * static_cast<double>(
                               scores_of(shards[static_cast<std::size_t>(rank)], shards[owner], w.causal));
    };

    const auto send_of = [&](int rank, int round) {
        double seconds = 0;
        if (round + 1 < ranks) seconds += send_keys[static_cast<std::size_t>(owner_of(ranks, rank, round))];
        if (backward && round > 0)
            seconds += send_gradients[static_cast<std::size_t>(owner_of(ranks, rank, round - 1))];
        return seconds;
    };

    // Backward a last round has nothing to compute: gradients go home.
    const int rounds = ranks + (backward && ranks > 1);
    Simulated result;
    for (std::size_t r = 0; r < R; ++r) {
        result.computing.push_back(0);
        for (int t = 0; t < rounds; ++t) result.computing[r] += compute_of(static_cast<int>(r), t);
    }
    result.seconds = schedule(ranks, rounds, compute_of, send_of).end();
    return result;
}

}  // namespace tilewalk::ring

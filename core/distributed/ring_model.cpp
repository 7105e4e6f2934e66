#include "core/distributed/ring_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilewalk::ring {

namespace {

double flops_per_score(const Workload& w) {
    return (w.direction == Direction::forward ? 4.0 : 10.0) * static_cast<double>(w.d);
}

// K and V of a row of all heads; dK and dV are as many
double pair_bytes(const Workload& w, int element_bytes) {
    return 2.0 * static_cast<double>(w.batch * w.kv_heads * w.d) * element_bytes;
}

}  // namespace

std::int64_t bytes_between(const Problem& problem, int ranks, int element_bytes) {
    return bytes_between(problem, ranks) / static_cast<std::int64_t>(sizeof(float)) * element_bytes;
}

RoundCost round_cost(const Problem& problem, int ranks, const Rates& rates, int element_bytes) {
    const double R = ranks, sent = static_cast<double>(bytes_between(problem, ranks, element_bytes));
    return {flops(problem.workload) / (R * R) / rates.flops, sent / (R * R) / rates.link};
}

// flops / (R² F) ≥ bytes / (R² B), where flops = c · N² (causal c · N (N + 1) / 2) and bytes = b · N
std::int64_t hides_from(const Problem& problem, int ranks, const Rates& rates, int element_bytes) {
    if (ranks == 1) return 0;
    Problem one = problem;
    one.workload.N_q = one.workload.N_kv = 1;
    const Workload& w = one.workload;
    const double c = flops_per_score(w) * static_cast<double>(w.batch * w.heads),
                 b = static_cast<double>(bytes_between(one, ranks, element_bytes)),
                 ratio = b * rates.flops / (c * rates.link);
    const double N = w.causal ? 2 * ratio - 1 : ratio;
    const double per_rank = std::ceil(std::max(N, 1.0) / ranks);
    return static_cast<std::int64_t>(per_rank) * ranks;
}

double Simulated::busy() const {
    const double sum = std::accumulate(computing.begin(), computing.end(), 0.0);
    return seconds > 0 ? sum / (seconds * static_cast<double>(computing.size())) : 1;
}

Simulated simulate(const Problem& problem, int ranks, const Rates& rates, int element_bytes) {
    const Workload& w = problem.workload;
    const auto R = static_cast<std::size_t>(ranks);
    const bool backward = w.direction == Direction::backward;
    const double per_score = flops_per_score(w) * static_cast<double>(w.batch * w.heads) / rates.flops;
    std::vector<double> send_one(R);  // seconds for K and V of each shard
    std::vector<std::vector<Run>> shards(R);
    for (std::size_t r = 0; r < R; ++r) {
        const int rank = static_cast<int>(r);
        shards[r] = runs_of(problem.shards, w.N_q, ranks, rank);
        send_one[r] = pair_bytes(w, element_bytes) *
                      static_cast<double>(rows_of(problem.shards, w.N_q, ranks, rank)) / rates.link;
    }
    const auto compute_of = [&](std::size_t rank, int round) {
        if (round == ranks) return 0.0;
        const auto owner = static_cast<std::size_t>(owner_of(ranks, static_cast<int>(rank), round));
        return per_score * static_cast<double>(scores_of(shards[rank], shards[owner], w.causal));
    };

    Simulated result;
    result.computing.resize(R);
    std::vector<double> begin(R, 0.0), end(R);
    for (int t = 0; t <= ranks; ++t) {
        // Backward a last round has nothing to compute: gradients go home.
        if (t == ranks && (!backward || ranks == 1)) break;
        for (std::size_t r = 0; r < R; ++r) {
            const double compute = compute_of(r, t);
            result.computing[r] += compute;
            end[r] = begin[r] + compute;
        }
        for (int r = 0; r < ranks && ranks > 1; ++r) {
            const auto from = static_cast<std::size_t>(r), to = static_cast<std::size_t>((r + 1) % ranks);
            double seconds = 0;
            if (t + 1 < ranks) seconds += send_one[static_cast<std::size_t>(owner_of(ranks, r, t))];
            if (backward && t > 0) seconds += send_one[static_cast<std::size_t>(owner_of(ranks, r, t - 1))];
            if (seconds == 0) continue;
            const double through = std::max(begin[from], begin[to]) + seconds;
            end[from] = std::max(end[from], through), end[to] = std::max(end[to], through);
        }
        begin = end;
    }
    result.seconds = *std::max_element(begin.begin(), begin.end());
    return result;
}

}  // namespace tilewalk::ring

#include "core/lessons/ring/ranks.h"

#include "core/base/words.h"
#include "core/problem/mask.h"

#include <algorithm>

namespace tilewalk {

namespace {

constexpr int usual_ranks = 2;

bool fits(ring::Shards shards, int rows, int ranks) { return !ring::refuse(shards, rows, ranks); }

// Rows that lie behind each other stay together; of striped shards each row is alone.
RingRows rows_of(const std::vector<ring::Run>& runs, int first_tile) {
    RingRows out{{}, {}, first_tile};
    for (const ring::Run& run : runs) {
        const std::int64_t whole = run.step == 1 ? run.count : 1;
        for (std::int64_t row = 0; row < run.count; row += whole)
            out.pieces.push_back({run.position(row), whole, 1});
        for (std::int64_t row = 0; row < run.count; ++row)
            out.positions.push_back(static_cast<int>(run.position(row)));
    }
    return out;
}

std::vector<RingRows> dealt(ring::Shards shards, int rows, int ranks) {
    std::vector<RingRows> out;
    int tile = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        out.push_back(rows_of(ring::runs_of(shards, rows, ranks, rank), tile));
        tile += out.back().tiles();
    }
    return out;
}

}  // namespace

int ring_ranks(const Problem& p) {
    if (p.options.ranks > 0) return p.options.ranks;
    return fits(ring_shards(p), std::min(p.N(), p.N_kv()), usual_ranks) ? usual_ranks : 1;
}

ring::Shards ring_shards(const Problem& p) { return static_cast<ring::Shards>(p.options.shards); }

Ring::Ring(const Problem& p)
    : problem(p), ranks(ring_ranks(p)), queries(dealt(ring_shards(p), p.N(), ranks)),
      keys(dealt(ring_shards(p), p.N_kv(), ranks)) {}

int Ring::scores(int rank, int round) const {
    if (!problem.causal && !problem.window) return all_scores(rank, round);
    if (!problem.window && problem.N() == problem.N_kv())
        return static_cast<int>(
            ring::scores_of(ring_shards(problem), problem.N(), ranks, rank, round, problem.causal));
    int count = 0;
    for (const int q : queries_of(rank).positions)
        for (const int k : keys_of(owner(rank, round)).positions) count += visible(problem, q, k);
    return count;
}

int Ring::owner_of_tile(int tile) const {
    int owner = ranks - 1;
    while (keys_of(owner).first_tile > tile) --owner;
    return owner;
}

std::vector<int> Ring::rounds_of(int rank) const {
    std::vector<int> out;
    for (int round = 0; round < ranks; ++round)
        if (scores(rank, round) > 0) out.push_back(round);
    return out;
}

std::string positions_text(const std::vector<int>& positions) {
    std::vector<std::string> out;
    for (std::size_t n = 0; n < positions.size();) {
        std::size_t end = n + 1;
        while (end < positions.size() && positions[end] == positions[end - 1] + 1) ++end;
        out.push_back(str(positions[n]) + (end - n > 1 ? "–" + str(positions[end - 1]) : ""));
        n = end;
    }
    if (out.size() > 4) return out[0] + ", " + out[1] + " … " + out.back();
    return listed(out, "and");
}

std::int64_t ring_bytes(const Problem& p) {
    return 2LL * (ring_ranks(p) - 1) * p.N_kv() * p.d() * p.element_bytes;
}

double ring_idle_share(ring::Shards shards, int ranks, int rows, int rank) {
    const double R = ranks, n = rows, later = ranks - 1 - rank;
    if (shards == ring::Shards::zigzag) return 0;
    if (shards == ring::Shards::striped) return 2 * later / (R * (n + 1));
    return later * n * n / (n * (n + 1) / 2 + (R - 1) * n * n);
}

}  // namespace tilewalk

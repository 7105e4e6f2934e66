// The ring of a problem: which rank holds what, who sees whose keys when, and what goes between the ranks.
//
// HBM has rows by their positions in the sequence; on chip a shard is a matrix of its own, with rows from 0.
#pragma once

#include "core/distributed/shards.h"
#include "core/problem/problem.h"

namespace tilewalk {

/// What a rank holds of Q, or of K and V.
struct RingRows {
    std::vector<ring::Run> pieces;  ///< rows that lie behind each other, a tile of HBM each
    std::vector<int> positions;     ///< of its rows
    int first_tile = 0;

    int rows() const { return static_cast<int>(positions.size()); }
    int tiles() const { return static_cast<int>(pieces.size()); }
};

/// The ring of a problem.
struct Ring {
    explicit Ring(const Problem& problem);

    const Problem& problem;
    int ranks;
    std::vector<RingRows> queries, keys;  ///< of each rank

    const RingRows& queries_of(int rank) const { return queries[static_cast<std::size_t>(rank)]; }
    const RingRows& keys_of(int rank) const { return keys[static_cast<std::size_t>(rank)]; }
    /// The rank whose keys are at `rank`, and the round in which the keys of `owner` are.
    int owner(int rank, int round) const { return ring::owner_of(ranks, rank, round); }
    int round_of(int rank, int owner) const { return ring::owner_of(ranks, rank, owner); }
    int before(int rank) const { return (rank + ranks - 1) % ranks; }
    int behind(int rank) const { return (rank + 1) % ranks; }

    /// Scores that the mask leaves rank `rank` in this round; all that there are.
    int scores(int rank, int round) const;
    int all_scores(int rank, int round) const {
        return queries_of(rank).rows() * keys_of(owner(rank, round)).rows();
    }
    /// Rounds in which it has something to compute.
    std::vector<int> rounds_of(int rank) const;
    /// Whose keys lie in this tile of HBM; how many tiles those of all ranks are.
    int owner_of_tile(int tile) const;
    int key_tiles() const { return keys.back().first_tile + keys.back().tiles(); }
};

/// So many as the problem says; two where it says nothing, or one where there are too few rows.
int ring_ranks(const Problem& problem);
ring::Shards ring_shards(const Problem& problem);

/// The tile of partial results that this round has found; what was found before lies in another one.
constexpr int fresh_part = 1;
/// "0–3", "0 and 7", "0, 4 … 28": positions of a shard.
std::string positions_text(const std::vector<int>& positions);
/// Bytes between all ranks: K and V of every shard go to R − 1 ranks; backward dK and dV as well, and home,
/// in four bytes a number, as they are sums.
std::int64_t ring_bytes(const Problem& problem);
std::int64_t ring_backward_bytes(const Problem& problem);

/// Of a causal ring of R ranks with n rows each (zig-zag: n even), the part of the time that this rank has
/// nothing to compute, where only scores take time: contiguous (R − 1 − r) n² ÷ (n (n + 1) ÷ 2 + (R − 1) n²),
/// striped 2 (R − 1 − r) ÷ (R (n + 1)), zig-zag 0.
double ring_idle_share(ring::Shards shards, int ranks, int rows, int rank);

}  // namespace tilewalk

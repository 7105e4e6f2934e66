// How a sequence is dealt out to the ranks of a ring, and which keys of one shard the queries of another see.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewalk::ring {

/// contiguous: N / R positions in a row. zigzag: of 2 R pieces the r-th and the r-th from behind, so that
/// every rank has early and late queries. striped: every R-th position.
enum class Shards { contiguous, zigzag, striped };
const char* name_of(Shards shards);
const std::vector<std::string>& names_of_shards();

/// Positions first, first + step, …, `count` of them; their rows lie behind each other in memory.
struct Run {
    std::int64_t first = 0, count = 0, step = 1;

    std::int64_t position(std::int64_t row) const { return first + step * row; }
    Run part(std::int64_t from, std::int64_t rows) const { return {position(from), rows, step}; }
    bool operator==(const Run&) const = default;
};

/// What a rank holds, in the order of its rows. Shards of lengths that do not divide differ by a row or two.
std::vector<Run> runs_of(Shards shards, std::int64_t N, int ranks, int rank);
std::int64_t rows_of(Shards shards, std::int64_t N, int ranks, int rank);
std::int64_t largest_shard(Shards shards, std::int64_t N, int ranks);
/// A sentence if some rank would have nothing to do.
std::optional<std::string> refuse(Shards shards, std::int64_t N, int ranks);

/// Some queries of a run that see the first keys of another run: all of them, or, causal, the last query sees
/// the last key and every query before it one key fewer: the mask that kernels know.
struct Piece {
    std::int64_t query = 0, queries = 0, keys = 0;  ///< first query, counted in its run; how many
    bool causal = false;

    std::int64_t scores() const { return queries * keys - (causal ? queries * (queries - 1) / 2 : 0); }
};
/// At most two: where the diagonal runs, and the queries below that see every key.
struct Pieces {
    std::array<Piece, 2> all;
    int count = 0;
    const Piece* begin() const { return all.data(); }
    const Piece* end() const { return all.data() + count; }
};
Pieces pieces(const Run& queries, const Run& keys, bool causal);

/// Scores between two shards.
std::int64_t scores_of(const std::vector<Run>& queries, const std::vector<Run>& keys, bool causal);
/// Scores of one head that `rank` computes in round `round`, with the keys of rank (rank − round) mod R.
std::int64_t scores_of(Shards shards, std::int64_t N, int ranks, int rank, int round, bool causal);
/// The rank whose keys are at `rank` in round `round`.
inline int owner_of(int ranks, int rank, int round) { return ((rank - round) % ranks + ranks) % ranks; }

}  // namespace tilewalk::ring

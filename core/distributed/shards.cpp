#include "core/distributed/shards.h"

#include "core/base/numbers.h"
#include "core/base/words.h"

#include <algorithm>

namespace tilewalk::ring {

namespace {

// Piece k of `pieces` equal ones; where the length does not divide, some have a row more
Run piece_of(std::int64_t N, std::int64_t pieces, std::int64_t k) {
    const std::int64_t first = k * N / pieces;
    return {first, (k + 1) * N / pieces - first, 1};
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); }

}  // namespace

const std::vector<std::string>& names_of_shards() {
    static const std::vector<std::string> names = {"contiguous", "zigzag", "striped"};
    return names;
}
const char* name_of(Shards shards) { return names_of_shards()[static_cast<std::size_t>(shards)].c_str(); }

std::vector<Run> runs_of(Shards shards, std::int64_t N, int ranks, int rank) {
    if (shards == Shards::contiguous) return {piece_of(N, ranks, rank)};
    if (shards == Shards::striped) return {{rank, (N - rank + ranks - 1) / ranks, ranks}};
    return {piece_of(N, 2 * std::int64_t{ranks}, rank),
            piece_of(N, 2 * std::int64_t{ranks}, 2 * std::int64_t{ranks} - 1 - rank)};
}

std::int64_t rows_of(Shards shards, std::int64_t N, int ranks, int rank) {
    std::int64_t rows = 0;
    for (const Run& run : runs_of(shards, N, ranks, rank)) rows += run.count;
    return rows;
}

std::int64_t largest_shard(Shards shards, std::int64_t N, int ranks) {
    std::int64_t most = 0;
    for (int rank = 0; rank < ranks; ++rank) most = std::max(most, rows_of(shards, N, ranks, rank));
    return most;
}

std::optional<std::string> refuse(Shards shards, std::int64_t N, int ranks) {
    const std::int64_t needed = shards == Shards::zigzag ? 2 * std::int64_t{ranks} : ranks;
    if (N >= needed) return std::nullopt;
    return counted(ranks, "rank") + " with " + name_of(shards) + " shards need " + format_count(needed) +
           " positions or more; N is " + format_count(N) + ".";
}

// Query i of its run sees the keys up to j ≤ i + shift of the other one.
Pieces pieces(const Run& queries, const Run& keys, bool causal) {
    Pieces found;
    const auto add = [&found](std::int64_t first, std::int64_t count, std::int64_t seen, bool diagonal) {
        if (count > 0 && seen > 0)
            found.all[static_cast<std::size_t>(found.count++)] = {first, count, seen, diagonal};
    };
    if (!causal) {
        add(0, queries.count, keys.count, false);
        return found;
    }
    const std::int64_t shift = floor_div(queries.first - keys.first, keys.step);
    // From `first` on a query sees some key, from `whole` on all of them
    const std::int64_t first = std::clamp<std::int64_t>(-shift, 0, queries.count),
                       whole = std::clamp<std::int64_t>(keys.count - shift, first, queries.count);
    add(first, whole - first, whole + shift, true);
    add(whole, queries.count - whole, keys.count, false);
    return found;
}

std::int64_t scores_of(const std::vector<Run>& queries, const std::vector<Run>& keys, bool causal) {
    std::int64_t sum = 0;
    for (const Run& some : queries)
        for (const Run& others : keys)
            for (const Piece& piece : pieces(some, others, causal)) sum += piece.scores();
    return sum;
}

std::int64_t scores_of(Shards shards, std::int64_t N, int ranks, int rank, int round, bool causal) {
    return scores_of(runs_of(shards, N, ranks, rank), runs_of(shards, N, ranks, owner_of(ranks, rank, round)),
                     causal);
}

}  // namespace tilewalk::ring

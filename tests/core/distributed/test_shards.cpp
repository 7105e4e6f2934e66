#include "core/distributed/shards.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace tilewalk::ring;

namespace {

constexpr Shards all_shards[] = {Shards::contiguous, Shards::zigzag, Shards::striped};

std::vector<std::int64_t> positions(const std::vector<Run>& runs) {
    std::vector<std::int64_t> all;
    for (const Run& run : runs)
        for (std::int64_t row = 0; row < run.count; ++row) all.push_back(run.position(row));
    return all;
}

// Which keys each query of a run sees, by the pieces, as pairs of positions
std::multiset<std::pair<std::int64_t, std::int64_t>> seen(const Run& queries, const Run& keys, bool causal) {
    std::multiset<std::pair<std::int64_t, std::int64_t>> pairs;
    for (const Piece& piece : pieces(queries, keys, causal)) {
        std::int64_t scores = 0;
        for (std::int64_t i = 0; i < piece.queries; ++i) {
            const std::int64_t end = piece.causal ? i + piece.keys - piece.queries + 1 : piece.keys;
            for (std::int64_t j = 0; j < end; ++j, ++scores)
                pairs.insert({queries.position(piece.query + i), keys.position(j)});
        }
        CHECK(scores == piece.scores());
    }
    return pairs;
}

}  // namespace

TEST_CASE("the shards of all ranks are every position once, and differ by little") {
    for (const Shards shards : all_shards)
        for (const std::int64_t N : {16, 17, 31, 64, 101})
            for (const int ranks : {1, 2, 3, 4, 7}) {
                std::vector<std::int64_t> all;
                std::int64_t least = N, most = 0;
                for (int rank = 0; rank < ranks; ++rank) {
                    const auto own = positions(runs_of(shards, N, ranks, rank));
                    all.insert(all.end(), own.begin(), own.end());
                    least = std::min(least, rows_of(shards, N, ranks, rank));
                    most = std::max(most, rows_of(shards, N, ranks, rank));
                }
                std::sort(all.begin(), all.end());
                REQUIRE(static_cast<std::int64_t>(all.size()) == N);
                for (std::int64_t k = 0; k < N; ++k) CHECK(all[static_cast<std::size_t>(k)] == k);
                CHECK(most - least <= 2);
                CHECK(largest_shard(shards, N, ranks) == most);
            }
}

TEST_CASE("pieces are what the positions say: key j ≤ query i, each pair once") {
    for (const Shards shards : all_shards)
        for (const std::int64_t N : {8, 13, 29})
            for (const int ranks : {1, 2, 3, 4})
                for (int rank = 0; rank < ranks; ++rank)
                    for (int round = 0; round < ranks; ++round) {
                        std::int64_t sum = 0;
                        for (const Run& queries : runs_of(shards, N, ranks, rank))
                            for (const Run& keys : runs_of(shards, N, ranks, owner_of(ranks, rank, round))) {
                                std::multiset<std::pair<std::int64_t, std::int64_t>> expected;
                                for (const std::int64_t i : positions({queries}))
                                    for (const std::int64_t j : positions({keys}))
                                        if (j <= i) expected.insert({i, j});
                                CHECK(seen(queries, keys, true) == expected);
                                sum += static_cast<std::int64_t>(expected.size());
                                CHECK(static_cast<std::int64_t>(seen(queries, keys, false).size()) ==
                                      queries.count * keys.count);
                            }
                        CHECK(scores_of(shards, N, ranks, rank, round, true) == sum);
                    }
}

TEST_CASE("a rank without rows is refused") {
    CHECK(!refuse(Shards::contiguous, 4, 4));
    CHECK(refuse(Shards::contiguous, 3, 4) ==
          "4 ranks with contiguous shards need 4 positions or more; N is 3.");
    CHECK(!refuse(Shards::zigzag, 8, 4));
    CHECK(refuse(Shards::zigzag, 7, 4));
}

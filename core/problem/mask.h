// What the mask lets through: single pairs, the keys of a query, whole tiles.
#pragma once

#include "core/problem/problem.h"

#include <cstdint>

namespace tilewalk {

/// Query row r may look at key c (causal masks are aligned bottom-right).
bool visible(const Problem& problem, int r, int c);

/// Key columns [first, last] that query row r sees; first > last when it sees none.
struct KeyRange {
    int first, last;
};
KeyRange visible_keys(const Problem& problem, int r);

/// What a mask leaves of tile (i, j).
enum class TileCover : std::uint8_t { full, partial, none };
TileCover tile_cover(const Problem& problem, int i, int j);
/// Of these queries and keys, whatever blocks they are from.
TileCover cover_of(const Problem& problem, const Region& queries, const Region& keys);
/// Key blocks from block `from` on that query block i looks at, and query blocks that look at key block j.
int key_blocks_seen(const Problem& problem, int i, int from = 0);
int query_blocks_looking(const Problem& problem, int j);

/// The rows of query block i and of key block j, as they lie in Q and in K.
Region query_rows(const Problem& problem, int i);
Region key_rows(const Problem& problem, int j);

/// Query r of this kernel does not mask key c out: visible(), or with its edge one key too far right.
bool passes_mask(const Problem& problem, int r, int c);
/// Some key up to key `last` reaches query r: it is not masked out, and its tile is not skipped.
bool sees_some_key(const Problem& problem, int r, int last);
inline bool sees_some_key(const Problem& problem, int r) {
    return sees_some_key(problem, r, problem.N_kv() - 1);
}

}  // namespace tilewalk

// What all heads of a problem move through HBM, and between the ranks of a ring, from the walk of the shown
// one, or of its group: every head takes the same steps.
#pragma once

#include "core/walk/trace.h"

#include <vector>

namespace tilewalk {

struct HeadsLedger {
    std::int64_t one = 0;    ///< bytes of the walk: of the shown head, or of its group (packs_heads)
    std::int64_t keys = 0;   ///< K and V among them
    std::int64_t sums = 0;   ///< again: each query head writes its own dK and dV, and they are added up
    std::int64_t again = 0;  ///< all heads, each loading the K and V of its group
    std::int64_t once = 0;   ///< all heads, a group's K, V, dK and dV crossing HBM once
    bool shared = false;     ///< as the walk has it: a group's are there once

    // Between ranks K, V and their gradients travel once for a group, however often a rank loads them.
    std::int64_t sent_one = 0;        ///< of the walk
    std::int64_t sent = 0;            ///< of all heads
    std::int64_t sent_ungrouped = 0;  ///< if every query head had K and V of its own

    std::int64_t all() const { return shared ? once : again; }
};
HeadsLedger heads_ledger(const Trace& trace);

/// Positions of the queries and keys that the walk has loaded for step k: the last ones on its worker; of a
/// ring the rows of a shard, of decoding the decoded ones. Empty before the first load.
struct LoadedTile {
    std::vector<int> queries, keys;
};
LoadedTile loaded_tile(const Trace& trace, int k);

/// Keys that are loaded together, and the bytes of one key head that this takes.
struct KeyLoad {
    std::vector<int> keys;  ///< their positions, ascending
    std::int64_t bytes = 0;
};
/// Those of the walk, each once, in the order of their keys.
std::vector<KeyLoad> key_loads(const Trace& trace);

/// Bytes of K and V of so many heads for all keys: what a decoder keeps.
std::int64_t key_value_cache(const Problem& problem, int heads);

}  // namespace tilewalk

// What all heads of a problem move through HBM, from the walk of the shown one, or of its group: every head
// takes the same steps.
#pragma once

#include "core/walk/trace.h"

namespace tilewalk {

struct HeadsLedger {
    std::int64_t one = 0;    ///< bytes of the walk: of the shown head, or of its group (packs_heads)
    std::int64_t keys = 0;   ///< K and V among them
    std::int64_t sums = 0;   ///< again: each query head writes its own dK and dV, and they are added up
    std::int64_t again = 0;  ///< all heads, each loading the K and V of its group
    std::int64_t once = 0;   ///< all heads, a group's K, V, dK and dV crossing HBM once
    bool shared = false;     ///< as the walk has it: a group's are there once

    std::int64_t all() const { return shared ? once : again; }
};
HeadsLedger heads_ledger(const Trace& trace);

/// Bytes of K and V of so many heads for all keys: what a decoder keeps.
std::int64_t key_value_cache(const Problem& problem, int heads);

}  // namespace tilewalk

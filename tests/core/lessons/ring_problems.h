// Problems on a ring of ranks.
#pragma once

#include "tests/core/problems.h"

namespace tilewalk::test {

inline constexpr ShardKind shard_kinds[] = {ShardKind::contiguous, ShardKind::zigzag, ShardKind::striped};

inline Problem ring_of(int rows, int ranks, ShardKind kind, bool is_causal = false) {
    Problem p = *random_problem(rows, 4, 3);
    p.causal = is_causal;
    p.options.ranks = ranks, p.options.shards = kind;
    return p;
}

}  // namespace tilewalk::test

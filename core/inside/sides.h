// What instructions are for that ask for no address and hold no number: a fence, a commit and a barrier of
// the warp have something in front of them and something behind, and registers change hands.
#pragma once

#include "core/inside/steps.h"

namespace tilewalk::inside {

/// So many steps of a kind.
struct Told {
    Op op = Op::load;
    int times = 0;
};
struct Sides {
    std::vector<Told> before, behind;  ///< in the order of the record
};
/// Of a fence what was written before it and is read behind it; of a commit what it closes, and the wait for
/// it. Nothing: it is no such step.
std::optional<Sides> sides_at(const BlockRecord& block, const Steps& steps, int warp, int k);

/// Registers of each thread, by warp: when the block began, in front of the step, and behind it.
struct RegisterShares {
    std::vector<int> begin, before, now;
    int all_now() const;  ///< of all threads
};
/// Where a warp gives registers back or takes them.
std::optional<RegisterShares> registers_at(const Launch& launch, const BlockRecord& block, const Steps& steps,
                                           int warp, int k);

}  // namespace tilewalk::inside

// The way of a number forth: who reads what a lane's step wrote to shared memory, and which products use the
// registers that it filled. The way back is core/inside/origin.
#pragma once

#include "core/inside/origin.h"

namespace tilewalk::inside {

/// The next steps that use what a lane's step brought, the nearest first, at most so many; `all` counts those
/// that were seen until somebody wrote over it.
struct Uses {
    std::vector<OriginStep> steps{};
    int all = 0;
};
/// Of a copy or a store to shared memory the reads of that place, of a load of fragments (or a packing) the
/// products that take the register, of an exponential the packing, of a product the one that goes on summing.
Uses uses_of(const BlockRecord& block, const Steps& steps, const Origins& origins, int warp, int k, int lane,
             std::size_t most = 4);

}  // namespace tilewalk::inside

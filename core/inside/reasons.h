// Why a step is there, where what its numbers are says more than its kind does.
#pragma once

#include "core/inside/origin.h"

namespace tilewalk::inside {

/// Of a load, a store, an exponential, a shuffle or a wait for products, in one or two sentences; empty: its
/// kind says all. `known`: a kernel of the ladder.
std::string reason_of_step(const Record& record, const BlockRecord& block, const Steps& steps,
                           const Origins& origins, int warp, int k, bool known);

}  // namespace tilewalk::inside

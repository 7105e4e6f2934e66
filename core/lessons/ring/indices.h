// What the rows and columns of a rank's tiles are called: on chip a shard counts from 0.
#pragma once

#include "core/walk/explain.h"

namespace tilewalk {

/// Positions in the sequence, wherever the cells lie; of the table of shares those of the keys.
Indices ring_indices(const Trace& trace, Slot slot, const Region& cells, int made);

}  // namespace tilewalk

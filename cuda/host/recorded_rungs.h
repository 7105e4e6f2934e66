// The ladder as it is compiled for a record.
#pragma once

#include "cuda/launch/arguments.h"

#include <vector>

namespace tilewalk::gpu {

const std::vector<const Rung*>& recorded_rungs();

}  // namespace tilewalk::gpu

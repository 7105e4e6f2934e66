// A kernel that asks for whatever launch a test wants.
#pragma once

#include "cuda/launch/arguments.h"
#include "cuda/launch/grid.h"

namespace tilewalk::test {

gpu::Grid& too_large_grid();
const gpu::Rung& too_large();

}  // namespace tilewalk::test

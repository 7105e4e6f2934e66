// Where and when a kernel ran, for what it wrote down.
#pragma once

#include "cuda/host/gpu.h"

namespace tilewalk::gpu {

KernelRun where_it_ran(Where where);

}  // namespace tilewalk::gpu

// The rungs of one back end, from slow to fast; one function for each file.
#pragma once

#include "cuda/device/device.h"
#include "cuda/launch/arguments.h"

#include <vector>

namespace tilewalk::gpu::BACKEND {

const Rung& f0_materialise();
const Rung& f0_cublas();
const Rung& f1_online_row();
const Rung& f2_tiled_fp32();
const Rung& f3_warp_rows();
const Rung& f4_tensor_core();
const Rung& f4b_copies_ahead();
const Rung& f5_flash2();
const Rung& f6_split();
const Rung& f7_hopper();

const Rung& b0_materialise();
const Rung& b1_recompute_fp32();
const Rung& b2_tensor_core();
const Rung& b3_deterministic();
const Rung& b4_hopper();

const std::vector<const Rung*>& ladder();

/// Not of the ladder: every instruction of cuda/device/device.h once, for tests.
const Rung& intrinsics();

}  // namespace tilewalk::gpu::BACKEND

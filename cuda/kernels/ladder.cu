#include "cuda/kernels/ladder.h"

namespace tilewalk::gpu::BACKEND {

const std::vector<const Rung*>& ladder() {
    static const std::vector<const Rung*> rungs{
        &f0_materialise(), &f0_cublas(),         &f1_online_row(),  &f2_tiled_fp32(),    &f3_warp_rows(),
        &f4_tensor_core(), &f4b_copies_ahead(),  &f5_flash2(),      &f6_split(),         &f7_hopper(),
        &b0_materialise(), &b1_recompute_fp32(), &b2_tensor_core(), &b3_deterministic(), &b4_hopper(),
    };
    return rungs;
}

}  // namespace tilewalk::gpu::BACKEND

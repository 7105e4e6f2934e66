// The checks of intrinsics.cu and the place of their results.
#pragma once

namespace tilewalk::gpu {

enum IntrinsicsCheck {
    check_load_matrices,
    check_load_transposed,
    check_multiply_add,
    check_first_copies,
    check_second_copies,
    check_shuffles,
    check_warp,
    check_exp2,
    check_exp_log,
    check_pack,
    check_rounding,
    check_load4,
    check_atomic_add,
    check_count
};
constexpr int intrinsics_results = check_count * 32 * 4;  ///< words: [check][lane][4]

}  // namespace tilewalk::gpu

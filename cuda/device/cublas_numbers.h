// Numbers of cuBLAS's interface, from its documentation. A test holds them against its header where that is.
#pragma once

namespace tilewalk::gpu {

constexpr int cublas_success = 0;            ///< CUBLAS_STATUS_SUCCESS
constexpr int cublas_as_it_is = 0;           ///< CUBLAS_OP_N
constexpr int cublas_transposed = 1;         ///< CUBLAS_OP_T
constexpr int cublas_in_float = 68;          ///< CUBLAS_COMPUTE_32F
constexpr int cublas_any_algorithm = -1;     ///< CUBLAS_GEMM_DEFAULT
constexpr int cublas_sums_not_reduced = 16;  ///< CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION

}  // namespace tilewalk::gpu

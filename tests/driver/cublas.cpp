// A libcublas on the CPU, for TILEWALK_CUBLAS: products of matrices in host memory, element after element,
// with columns first as cuBLAS has them. tilewalk_stub_cublas says what it was told, and makes the next calls
// fail.
#include "tests/driver/cublas.h"
#include "core/base/float16.h"

#include <cstddef>

using namespace tilewalk::gpu::emulator;

extern "C" {

tilewalk_stub_cublas_state tilewalk_stub_cublas;

}  // extern "C"

namespace {

constexpr int success = 0, failed = 14;                    // CUBLAS_STATUS_INTERNAL_ERROR
constexpr int f32_type = 0, f16_type = 2, bf16_type = 14;  // CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF

int answer(int& fails) { return fails > 0 ? --fails, failed : success; }

float get(const void* from, std::ptrdiff_t at, int type) {
    if (type == f32_type) return static_cast<const float*>(from)[at];
    if (type == f16_type) return to_float(static_cast<const f16*>(from)[at]);
    return to_float(static_cast<const bf16*>(from)[at]);
}
void put(void* to, std::ptrdiff_t at, int type, float x) {
    if (type == f32_type) static_cast<float*>(to)[at] = x;
    if (type == f16_type) static_cast<f16*>(to)[at] = from_float<f16>(x);
    if (type == bf16_type) static_cast<bf16*>(to)[at] = from_float<bf16>(x);
}

}  // namespace

extern "C" {

int cublasCreate_v2(void** handle) {
    ++tilewalk_stub_cublas.handles;
    *handle = &tilewalk_stub_cublas;
    return success;
}
int cublasDestroy_v2(void*) {
    --tilewalk_stub_cublas.handles;
    tilewalk_stub_cublas.stream = nullptr;
    return success;
}
int cublasSetStream_v2(void*, void* stream) {
    const int status = answer(tilewalk_stub_cublas.set_stream_fails);
    if (status == success) tilewalk_stub_cublas.stream = stream;
    return status;
}
int cublasSetWorkspace_v2(void*, void* memory, std::size_t) {
    tilewalk_stub_cublas.workspace = memory;
    return success;
}
int cublasSetMathMode(void*, int) { return answer(tilewalk_stub_cublas.set_math_mode_fails); }

int cublasGemmStridedBatchedEx(void*, int transpose_A, int transpose_B, int m, int n, int k,
                               const void* alpha, const void* A, int A_type, int A_row, long long A_next,
                               const void* B, int B_type, int B_row, long long B_next, const void* beta,
                               void* C, int C_type, int C_row, long long C_next, int count, int, int) {
    ++tilewalk_stub_cublas.products;
    for (long long matrix = 0; matrix < count; ++matrix)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < m; ++i) {
                float sum = 0;
                for (int l = 0; l < k; ++l)
                    sum += get(A, matrix * A_next + (transpose_A ? l + i * A_row : i + l * A_row), A_type) *
                           get(B, matrix * B_next + (transpose_B ? j + l * B_row : l + j * B_row), B_type);
                const std::ptrdiff_t at = matrix * C_next + i + std::ptrdiff_t(j) * C_row;
                const float times = *static_cast<const float*>(beta);
                const float before = times == 0 ? 0 : times * get(C, at, C_type);
                put(C, at, C_type, *static_cast<const float*>(alpha) * sum + before);
            }
    return success;
}
}

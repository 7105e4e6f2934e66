// A libcublas on the CPU, for TILEWALK_CUBLAS: products of matrices, column after column, with columns first
// as cuBLAS has them. They lie in host memory, or in that of the stand-in for a GPU where the program has
// one. tilewalk_stub_cublas says what it was told, and makes the next calls fail; so does
// TILEWALK_STUB_CUBLAS, with names of its members: "create_fails multiply_fails".
#include "tests/cuda/stubs/cublas.h"
#include "core/base/float16.h"

#include <cstddef>
#include <cstdlib>
#include <dlfcn.h>
#include <string_view>
#include <utility>
#include <vector>

using namespace tilewalk::gpu::emulator;

extern "C" {

tilewalk_stub_cublas_state tilewalk_stub_cublas;

}  // extern "C"

namespace {

constexpr int success = 0, failed = 14;                    // CUBLAS_STATUS_INTERNAL_ERROR
constexpr int f32_type = 0, f16_type = 2, bf16_type = 14;  // CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF

int answer(int& fails) { return fails > 0 ? --fails, failed : success; }

int width(int type) { return type == f32_type ? 4 : 2; }

/// `count` elements as the host has them; null where not all of them are memory.
unsigned char* bytes_of(const void* from, std::ptrdiff_t at, int count, int type) {
    using Memory = unsigned char*(const void*, std::size_t);
    static auto* const of_device = reinterpret_cast<Memory*>(dlsym(RTLD_DEFAULT, "tilewalk_stub_memory"));
    auto* const place = static_cast<unsigned char*>(const_cast<void*>(from)) + at * width(type);
    return of_device ? of_device(place, static_cast<std::size_t>(count * width(type))) : place;
}
float get(const unsigned char* column, int at, int type) {
    if (type == f32_type) return reinterpret_cast<const float*>(column)[at];
    if (type == f16_type) return to_float(reinterpret_cast<const f16*>(column)[at]);
    return to_float(reinterpret_cast<const bf16*>(column)[at]);
}
void put(unsigned char* column, int at, int type, float x) {
    if (type == f32_type) reinterpret_cast<float*>(column)[at] = x;
    if (type == f16_type) reinterpret_cast<f16*>(column)[at] = from_float<f16>(x);
    if (type == bf16_type) reinterpret_cast<bf16*>(column)[at] = from_float<bf16>(x);
}

/// One operand as it is multiplied, rows × columns, row after row.
struct Operand {
    const void* data;
    int type, transpose, row;
    long long next;
    bool read(long long matrix, int rows, int columns, std::vector<float>& all) const {
        const int stored = transpose ? columns : rows, of_them = transpose ? rows : columns;
        all.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
        for (int c = 0; c < of_them; ++c) {
            const unsigned char* const column =
                bytes_of(data, matrix * next + std::ptrdiff_t(c) * row, stored, type);
            if (!column) return false;
            for (int r = 0; r < stored; ++r)
                all[static_cast<std::size_t>(transpose ? c * columns + r : r * columns + c)] =
                    get(column, r, type);
        }
        return true;
    }
};

// Larger ones are taken as done. Only the rate of the device is asked for with them, and nobody looks at what
// they give.
bool too_large(double m, double n, double k) { return m * n * k > 1e11; }

/// What the environment says, once
struct Told {
    Told() {
        const char* const words = std::getenv("TILEWALK_STUB_CUBLAS");
        const std::string_view all = words ? words : "";
        auto& s = tilewalk_stub_cublas;
        for (const auto& [name, member] : {std::pair{"create_fails", &s.create_fails},
                                           {"set_stream_fails", &s.set_stream_fails},
                                           {"multiply_fails", &s.multiply_fails}})
            if (all.find(name) != all.npos) *member = 1;
    }
} told;

}  // namespace

extern "C" {

int cublasCreate_v2(void** handle) {
    if (const int status = answer(tilewalk_stub_cublas.create_fails)) return status;
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
    if (const int status = answer(tilewalk_stub_cublas.multiply_fails)) return status;
    if (too_large(m, n, k)) return success;
    const Operand left{A, A_type, transpose_A, A_row, A_next}, right{B, B_type, transpose_B, B_row, B_next};
    const float times = *static_cast<const float*>(beta);
    std::vector<float> a, b;
    for (long long matrix = 0; matrix < count; ++matrix) {
        if (!left.read(matrix, m, k, a) || !right.read(matrix, k, n, b)) return failed;
        for (int j = 0; j < n; ++j) {
            unsigned char* const column = bytes_of(C, matrix * C_next + std::ptrdiff_t(j) * C_row, m, C_type);
            if (!column) return failed;
            for (int i = 0; i < m; ++i) {
                float sum = 0;
                for (int l = 0; l < k; ++l)
                    sum += a[static_cast<std::size_t>(i * k + l)] * b[static_cast<std::size_t>(l * n + j)];
                const float before = times == 0 ? 0 : times * get(column, i, C_type);
                put(column, i, C_type, *static_cast<const float*>(alpha) * sum + before);
            }
        }
    }
    return success;
}
}

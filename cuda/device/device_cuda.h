// The device's instructions under nvcc (names: cuda/device/device.h). PTX where CUDA C++ has no name for one.
#pragma once

#include "cuda/device/stream_cuda.h"
#include "cuda/launch/product.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define BACKEND on_cuda
#define KERNEL __global__
#define THREADS(n) __launch_bounds__(n)
#define THREADS_ALONE(n) __launch_bounds__(n, 1)
#define DEVICE __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define UNROLL_BY(n) _Pragma(UNROLL_TEXT(unroll n))
#define UNROLL_TEXT(text) #text
#define NO_UNROLL _Pragma("unroll 1")

namespace tilewalk::gpu::on_cuda {

using f16 = __half;
using bf16 = __nv_bfloat16;

// Divisions by powers of two are shifts only for numbers that are known not to be negative.
DEVICE int thread() {
    __builtin_assume(threadIdx.x < 1024);
    return static_cast<int>(threadIdx.x);
}
DEVICE int threads() {
    __builtin_assume(blockDim.x <= 1024);
    return static_cast<int>(blockDim.x);
}
DEVICE int lane() { return static_cast<int>(threadIdx.x % 32); }
DEVICE int warp() { return static_cast<int>(threadIdx.x / 32); }
DEVICE int block_x() { return static_cast<int>(blockIdx.x); }
DEVICE int block_y() { return static_cast<int>(blockIdx.y); }
DEVICE int block_z() { return static_cast<int>(blockIdx.z); }
template <class T> DEVICE T* shared_memory() {
    extern __shared__ __align__(128) unsigned char tilewalk_shared[];
    return reinterpret_cast<T*>(tilewalk_shared);
}
DEVICE std::uint32_t shared_address(const void* p) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

DEVICE void sync_block() { __syncthreads(); }
DEVICE void sync_warp() { __syncwarp(); }

template <class T> DEVICE T shuffle_xor(T x, int mask) { return __shfl_xor_sync(0xFFFFFFFFu, x, mask); }
template <class T> DEVICE T shuffle(T x, int source) { return __shfl_sync(0xFFFFFFFFu, x, source); }
DEVICE float sum_of_warp(float x) {
    UNROLL
    for (int mask = 16; mask > 0; mask /= 2) x += shuffle_xor(x, mask);
    return x;
}
DEVICE float max_of_warp(float x) {
    UNROLL
    for (int mask = 16; mask > 0; mask /= 2) x = fmaxf(x, shuffle_xor(x, mask));
    return x;
}

DEVICE void load_matrices(std::uint32_t (&r)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}
DEVICE void load_transposed(std::uint32_t (&r)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

template <class T>
DEVICE void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1);
template <>
DEVICE void multiply_add<bf16>(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                               std::uint32_t b1) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
    __trap();  // the host refuses bf16 on such a device
#endif
}
template <>
DEVICE void multiply_add<f16>(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                              std::uint32_t b1) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
    // Turing multiplies eight deep: the two halves of k, one after the other
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(b0));
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[2]), "r"(a[3]), "r"(b1));
#endif
}

#if defined(__CUDA_ARCH__)
constexpr int architecture = __CUDA_ARCH__ / 10;
#else
constexpr int architecture = 0;
#endif
// Nothing at all is done with it, which the compiler does not know.
DEVICE int forgotten(int x) {
    asm volatile("" : "+r"(x));
    return x;
}
DEVICE constexpr bool swizzles() { return true; }

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
constexpr bool copies_in_background = true;
DEVICE void copy_async(void* to, const void* from, bool inside) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
                 "r"(inside ? 16 : 0)
                 : "memory");
}
DEVICE void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int n> DEVICE void wait_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory"); }
#else
// Turing has no copies in the background: it copies at once, and there is nothing to wait for.
constexpr bool copies_in_background = false;
DEVICE void copy_async(void* to, const void* from, bool inside) {
    *static_cast<uint4*>(to) = inside ? *static_cast<const uint4*>(from) : uint4{0, 0, 0, 0};
}
DEVICE void commit_copies() {}
template <int n> DEVICE void wait_copies() {}
#endif

DEVICE void atomic_add(float* address, float x) { atomicAdd(address, x); }

DEVICE float exp2_of(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
DEVICE float exp_of(float x) { return expf(x); }
DEVICE float log_of(float x) { return logf(x); }

DEVICE float to_float(float x) { return x; }
DEVICE float to_float(f16 x) { return __half2float(x); }
DEVICE float to_float(bf16 x) { return __bfloat162float(x); }
template <class T> DEVICE T from_float(float x);
template <> DEVICE float from_float<float>(float x) { return x; }
template <> DEVICE f16 from_float<f16>(float x) { return __float2half_rn(x); }
template <> DEVICE bf16 from_float<bf16>(float x) { return __float2bfloat16_rn(x); }

template <class T> DEVICE std::uint32_t pack(float low, float high);
template <> DEVICE std::uint32_t pack<f16>(float low, float high) {
    const __half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const std::uint32_t*>(&pair);
}
template <> DEVICE std::uint32_t pack<bf16>(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const std::uint32_t*>(&pair);
}

using Float4 = float4;
DEVICE Float4 load4(const float* p) { return *reinterpret_cast<const float4*>(p); }
DEVICE void store4(float* p, const Float4& v) { *reinterpret_cast<float4*>(p) = v; }

template <class... P, class... A>
void launch(Stream& any, const Grid& grid, void (*kernel)(P...), const A&... arguments) {
    auto& stream = static_cast<CudaStream&>(any);
    if (stream.error != cudaSuccess) return;
    const std::string refused = refuse_launch(grid, stream.chip);
    if (!refused.empty()) {
        stream.error = cudaErrorInvalidConfiguration, stream.where = refused;
        return;
    }
    if (grid.shared_bytes > 48 << 10)
        stream.error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(grid.shared_bytes));
    if (stream.error != cudaSuccess) return;
    const dim3 blocks(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
                      static_cast<unsigned>(grid.z));
    kernel<<<blocks, static_cast<unsigned>(grid.threads), static_cast<std::size_t>(grid.shared_bytes),
             stream.handle>>>(arguments...);
    stream.error = cudaGetLastError();
}

/// cuBLAS, looked for when it is first needed; stream.error says if it is not there.
void multiply_matrices(Stream& stream, const Product& product);
/// Gives back what the stream's products took.
void release_cublas(CudaStream& stream);

}  // namespace tilewalk::gpu::on_cuda

#include "cuda/device/hopper_cuda.h"

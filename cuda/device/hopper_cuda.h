// The names of Hopper under nvcc (cuda/device/device.h): instructions of sm_90a, which no other architecture
// has; elsewhere they do nothing, and the host launches nothing that needs them. Part of device_cuda.h.
#pragma once

#include "cuda/device/stream_cuda.h"

#include <cuda.h>  // types alone; nothing of the driver is linked

#define GRID_CONSTANT __grid_constant__

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HOPPER_ASM(...) asm volatile(__VA_ARGS__)
#else
#define HOPPER_ASM(...)
#endif

namespace tilewalk::gpu::on_cuda {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || !defined(__CUDA_ARCH__)
constexpr bool hopper = true;
#else
constexpr bool hopper = false;
#endif

using MBarrier = std::uint64_t;
using TensorMap = CUtensorMap;

template <class T> DEVICE T* shared_tiles() {
    extern __shared__ __align__(1024) unsigned char tilewalk_shared_tiles[];
    return reinterpret_cast<T*>(tilewalk_shared_tiles);
}

TensorMap tensor_map(CudaStream& stream, const Tensor& t, CUtensorMapDataType type, int d, int N, int heads,
                     int batch, int rows);
template <class T>
TensorMap tensor_map(Stream& stream, const Tensor& t, int d, int N, int heads, int batch, int rows) {
    constexpr CUtensorMapDataType type =
        std::is_same<T, f16>::value ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    return tensor_map(static_cast<CudaStream&>(stream), t, type, d, N, heads, batch, rows);
}

// TMA
DEVICE void fetch_tile(void* to, const TensorMap& map, MBarrier* barrier, int column, int row, int head,
                       int batch) {
    HOPPER_ASM("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
               "{%3, %4, %5, %6}], [%2];" ::"r"(shared_address(to)),
               "l"(&map), "r"(shared_address(barrier)), "r"(column), "r"(row), "r"(head), "r"(batch)
               : "memory");
}

// mbarrier
DEVICE void init_barrier(MBarrier* barrier, int arrivals) {
    HOPPER_ASM("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
}
// To the other threads of the block by the barrier that follows, and to what TMA does beside them.
DEVICE void publish_barriers() {
    HOPPER_ASM("fence.mbarrier_init.release.cluster;" ::: "memory");
    HOPPER_ASM("fence.proxy.async.shared::cta;" ::: "memory");
}
DEVICE void arrive_at(MBarrier* barrier) {
    HOPPER_ASM("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
DEVICE void expect_bytes(MBarrier* barrier, int bytes) {
    HOPPER_ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}
DEVICE void wait_for(MBarrier* barrier, int parity) {
    HOPPER_ASM("{\n"
               ".reg .pred passed;\n"
               "again_%=:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 passed, [%0], %1;\n"
               "@!passed bra again_%=;\n"
               "}" ::"r"(shared_address(barrier)),
               "r"(parity)
               : "memory");
}

// Barriers with a number
DEVICE void arrive_named(int id, int threads) {
    HOPPER_ASM("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
DEVICE void sync_named(int id, int threads) {
    HOPPER_ASM("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

template <int n> DEVICE void shrink_registers() {
    HOPPER_ASM("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n));
}
template <int n> DEVICE void grow_registers() { HOPPER_ASM("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n)); }

// wgmma
DEVICE void fence_products() { HOPPER_ASM("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void commit_products() { HOPPER_ASM("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// The sums go through the wait: what is made of them stays behind it.
template <int n, int eights> DEVICE void wait_products(float (&C)[eights][4]) {
    HOPPER_ASM("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory");
    UNROLL
    for (int k = 0; k < eights; ++k) UNROLL
    for (int e = 0; e < 4; ++e) HOPPER_ASM("" : "+f"(C[k][e])::"memory");
}

// An instruction names each register of its sums: 32 of them for 64 columns, 64 for 128.
#define SUMS_4(n) "+f"(C[n][0]), "+f"(C[n][1]), "+f"(C[n][2]), "+f"(C[n][3])
#define SUMS_16(n) SUMS_4(n), SUMS_4((n) + 1), SUMS_4((n) + 2), SUMS_4((n) + 3)
#define SUMS_32 SUMS_16(0), SUMS_16(4)
#define SUMS_64 SUMS_32, SUMS_16(8), SUMS_16(12)
#define NAMES_32                                                                                             \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "   \
    "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NAMES_64                                                                                             \
    NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, "       \
             "%49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

// Behind the sums (the first `sums` operands): A and B as descriptors whose columns are summed over, or A in
// registers and B with its rows summed over. The numbers at the end: both factors as they are, and whether an
// operand is transposed.
#define WGMMA(n, type, sums, a, b, adds)                                                                     \
    "{\n.reg .pred p;\nsetp.ne.b32 p, " adds ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type    \
    "." type " {" NAMES_##sums "}, " a ", " b ", p, 1, 1, 0, 0;\n}\n"
#define WGMMA_REGISTERS(n, type, sums, a, b)                                                                 \
    "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" NAMES_##sums "}, " a ", " b         \
                                                                                      ", 1, 1, 1, 1;\n"
#define TILEWALK_PRODUCTS(n, type, T, sums, a, b, adds, a1, a2, a3, b_behind)                                \
    template <>                                                                                              \
    DEVICE void multiply_async<T>(float(&C)[n / 8][4], std::uint64_t A, std::uint64_t B, bool add) {         \
        HOPPER_ASM(WGMMA(n, type, sums, a, b, adds) : SUMS_##sums : "l"(A), "l"(B), "r"(int(add)));          \
    }                                                                                                        \
    template <>                                                                                              \
    DEVICE void multiply_async<T>(float(&C)[n / 8][4], const std::uint32_t(&A)[4], std::uint64_t B) {        \
        HOPPER_ASM(WGMMA_REGISTERS(n, type, sums, "{" a ", " a1 ", " a2 ", " a3 "}", b_behind)               \
                   : SUMS_##sums                                                                             \
                   : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "l"(B));                                    \
    }
template <class T, int eights>
DEVICE void multiply_async(float (&C)[eights][4], std::uint64_t A, std::uint64_t B, bool add);
template <class T, int eights>
DEVICE void multiply_async(float (&C)[eights][4], const std::uint32_t (&A)[4], std::uint64_t B);
TILEWALK_PRODUCTS(64, "f16", f16, 32, "%32", "%33", "%34", "%33", "%34", "%35", "%36")
TILEWALK_PRODUCTS(64, "bf16", bf16, 32, "%32", "%33", "%34", "%33", "%34", "%35", "%36")
TILEWALK_PRODUCTS(128, "f16", f16, 64, "%64", "%65", "%66", "%65", "%66", "%67", "%68")
TILEWALK_PRODUCTS(128, "bf16", bf16, 64, "%64", "%65", "%66", "%65", "%66", "%67", "%68")
#undef TILEWALK_PRODUCTS
#undef WGMMA
#undef WGMMA_REGISTERS

}  // namespace tilewalk::gpu::on_cuda

// What a kernel may ask of the device: the same names with three back ends, the GPU's instructions (nvcc),
// models of them that run on the CPU (any C++ compiler), and the same models with a record of what they did
// (cuda/record). Kernel bodies use these names and nothing else, so that one source is all three.
//
// Each back end declares, in namespace tilewalk::gpu::BACKEND:
//
// clang-format off
//   KERNEL, THREADS(n)              void KERNEL name(Arguments a): what launch() starts; at most n threads
//   THREADS_ALONE(n)                … of a block that has its multiprocessor for itself
//   DEVICE                          a function that kernels call
//   UNROLL UNROLL_BY(n) NO_UNROLL   before a loop: written out as a whole, n times, not at all
//   thread() lane() warp()          of this block, of this warp
//   block_x() block_y() block_z()   of the grid
//   shared_memory<T>()              the bytes that the launch asked for, aligned to 128
//   sync_block() sync_warp()
//   shuffle_xor(x, mask)            what lane() ^ mask holds
//   shuffle(x, lane)                what that lane holds
//   sum_of_warp(x) max_of_warp(x)   in every lane
//   load_matrices(r, row)           ldmatrix.x4: four 8 × 8 matrices of 16-bit elements; lane l gives the
//   load_transposed(r, row)         address of row l % 8 of matrix l / 8
//   multiply_add<T>(c, a, b0, b1)   mma.m16n8k16: C (16 × 8, float) += A (16 × 16) B (16 × 8), f16 or bf16
//   architecture                    80 for compute capability 8.0; 0 where nothing is compiled for one
//   forgotten(x)                    x, but what was computed from it is computed again: it need not be kept
//   swizzles()                      true; what records may be asked to show shared memory without (cuda/record)
//   copies_in_background            whether the next three do: from compute capability 8.0 on
//   copy_async(to, from, inside)    16 bytes from HBM to shared memory; zeros if not inside
//   commit_copies()                 what was copied since the last commit is a group
//   wait_copies<n>()                until at most n groups of this thread are under way
//   atomic_add(address, x)
//   exp2_of(x) log_of(x) exp_of(x)  float; exp2_of is ex2.approx
//   f16 bf16                        to_float(x), from_float<T>(x), pack<T>(low, high): two in 32 bits
//   Float4                          load4(p), store4(p, v): four floats, aligned to 16 bytes
//   launch(stream, {x, y, z, threads, shared_bytes}, kernel, arguments…)
//   multiply_matrices(stream, Product)   cuBLAS, for the rungs of standard attention
//
// Of compute capability 9.0 alone (sm_90a):
//
//   hopper                          whether it is; elsewhere what follows does nothing
//   TensorMap                       how a tensor lies in HBM: a kernel's parameter, const GRID_CONSTANT TensorMap
//   tensor_map<T>(stream, tensor, d, N, heads, batch, rows)   on the host; a box is 64 columns of so many rows
//   shared_tiles<T>()               as shared_memory, aligned to 1024: the swizzle of tiles begins anew there
//   shared_address(p)               as descriptors and the swizzle count it
//   fetch_tile(to, map, barrier, column, row, head, batch)    TMA: a box, swizzled by 128 bytes, zeros outside;
//                                   its bytes, rows · 128, arrive at the barrier
//   MBarrier                        eight bytes of shared memory that count arrivals and bytes (mbarrier):
//   init_barrier(b, arrivals)       by one thread, then publish_barriers() and sync_block()
//   arrive_at(b)                    one arrival
//   expect_bytes(b, n)              one arrival, and so many bytes that the phase waits for
//   wait_for(b, parity)             until the phase of this parity has ended; the first phase has 0
//   arrive_named(id, threads)       barriers 1 … 15 for so many threads, whole warps: comes and goes on …
//   sync_named(id, threads)         … or waits for the others
//   shrink_registers<n>() grow_registers<n>()   setmaxnreg: of each thread of four warps
//   fence_products()                what registers hold is seen by the products behind it
//   multiply_async<T>(C, A, B, adds)   wgmma.m64nNk16, four warps: C (64 × N, each warp 16 rows) += or = A Bᵀ;
//                                   A, B: descriptors of shared memory, columns summed over
//   multiply_async<T>(C, a, B)      C += A B with A in registers, as for multiply_add, and B's rows summed over
//   commit_products()               what was issued since the last commit is a group
//   wait_products<n>(C)             until at most n groups of this warp are under way: the sums C are there
// clang-format on
#pragma once

#include "cuda/launch/grid.h"

#include <cmath>
#include <cstdint>

#if defined(__CUDACC__)
#include "cuda/device/device_cuda.h"
#elif defined(TILEWALK_RECORDS)
#include "cuda/record/device_recorded.h"
#else
#include "cuda/emulator/device_emulated.h"
#endif

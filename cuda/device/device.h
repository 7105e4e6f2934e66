// What a kernel may ask of the device: the same names with three back ends, the GPU's instructions (nvcc),
// models of them that run on the CPU (any C++ compiler), and the same models with a record of what they did
// (cuda/record). Kernel bodies use these names and nothing else, so that one source is all three.
//
// Each back end declares, in namespace tilewalk::gpu::BACKEND:
//
// clang-format off
//   KERNEL, THREADS(n)              void KERNEL name(Arguments a): what launch() starts; at most n threads
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

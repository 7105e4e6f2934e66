// The device's instructions as the emulator models them (names: cuda/device/device.h). A product of fragments
// adds in float, one term after the other; the hardware's order and inner width are its own.
#pragma once

#include "core/base/float16.h"
#include "cuda/emulator/stream.h"
#include "cuda/launch/product.h"

#include <atomic>

#define BACKEND on_emulator
#define KERNEL
#define THREADS(n)
#define THREADS_ALONE(n)
#define DEVICE inline
#define UNROLL
#define UNROLL_BY(n)
#define NO_UNROLL

namespace tilewalk::gpu::on_emulator {

namespace emu = emulator;
using emulator::bf16;
using emulator::f16;
using emulator::from_float;
using emulator::to_float;

// Where this thread is
inline int thread() { return emu::block->self().index; }
inline int threads() { return emu::block->size; }
inline int lane() { return thread() % 32; }
inline int warp() { return thread() / 32; }
inline int block_x() { return emu::block->x; }
inline int block_y() { return emu::block->y; }
inline int block_z() { return emu::block->z; }
template <class T> T* shared_memory() { return reinterpret_cast<T*>(emu::block->shared()); }

// Waiting for each other
inline void sync_block() { emu::block->sync(); }
inline void sync_warp() {
    int nothing = 0;
    emu::together("sync_warp", nothing, [](int**) {});
}

// Registers of other lanes
template <class T> T shuffle_from(const char* what, T x, int source) {
    struct Lane {
        T x, got;
        int source;
    } mine{x, x, source};
    emu::together(what, mine, [](Lane** all) {
        for (int l = 0; l < 32; ++l) all[l]->got = all[all[l]->source]->x;
    });
    return mine.got;
}
template <class T> T shuffle_xor(T x, int mask) { return shuffle_from("shuffle_xor", x, lane() ^ mask); }
template <class T> T shuffle(T x, int source) { return shuffle_from("shuffle", x, source); }
inline float sum_of_warp(float x) {
    for (int mask = 16; mask > 0; mask /= 2) x += shuffle_xor(x, mask);
    return x;
}
inline float max_of_warp(float x) {
    for (int mask = 16; mask > 0; mask /= 2) x = std::fmax(x, shuffle_xor(x, mask));
    return x;
}

// ldmatrix.x4: lane t gets elements 2 (t % 4) and the next of row t / 4, of each of the four matrices
inline void load_matrices(std::uint32_t (&r)[4], const void* row, bool transposed = false) {
    struct Lane {
        const unsigned char* row;
        std::uint32_t* r;
    } mine{static_cast<const unsigned char*>(row), r};
    emu::block->expect_aligned(row, transposed ? "load_transposed" : "load_matrices");
    emu::together(transposed ? "load_transposed" : "load_matrices", mine, [&](Lane** all) {
        for (int matrix = 0; matrix < 4; ++matrix)
            for (int t = 0; t < 32; ++t) {
                std::uint16_t pair[2];
                for (int h = 0; h < 2; ++h) {
                    const int major = t / 4, minor = t % 4 * 2 + h;
                    const int at_row = transposed ? minor : major, at_column = transposed ? major : minor;
                    std::memcpy(&pair[h], all[matrix * 8 + at_row]->row + 2 * at_column, 2);
                }
                all[t]->r[matrix] = pair[0] | std::uint32_t(pair[1]) << 16;
            }
    });
}
inline void load_transposed(std::uint32_t (&r)[4], const void* row) { load_matrices(r, row, true); }

// mma.m16n8k16 (PTX ISA, "Matrix Fragments for mma.m16n8k16"): with g = t / 4 and q = t % 4, lane t holds
// A rows g, g + 8 and columns 2q, 2q + 1, + 8; B rows 2q, 2q + 1, + 8 of column g; C rows g, g + 8 of columns
// 2q, 2q + 1.
template <class T> float half_of(std::uint32_t pair, int h) {
    return to_float(T{static_cast<std::uint16_t>(pair >> (16 * h))});
}
template <class T>
void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
    struct Lane {
        const std::uint32_t* a;
        std::uint32_t b[2];
        float* c;
    } mine{a, {b0, b1}, c};
    emu::together("multiply_add", mine, [](Lane** all) {
        float A[16][16], B[16][8];
        for (int t = 0; t < 32; ++t) {
            const int g = t / 4, q = t % 4;
            for (int h = 0; h < 2; ++h) {
                for (int i = 0; i < 4; ++i)
                    A[g + 8 * (i % 2)][2 * q + h + 8 * (i / 2)] = half_of<T>(all[t]->a[i], h);
                for (int i = 0; i < 2; ++i) B[2 * q + h + 8 * i][g] = half_of<T>(all[t]->b[i], h);
            }
        }
        for (int t = 0; t < 32; ++t)
            for (int i = 0; i < 4; ++i) {
                const int row = t / 4 + 8 * (i / 2), column = 2 * (t % 4) + i % 2;
                for (int k = 0; k < 16; ++k) all[t]->c[i] += A[row][k] * B[k][column];
            }
    });
}

constexpr int architecture = 0;
inline int forgotten(int x) { return x; }
constexpr bool swizzles() { return true; }

// Copies in the background
constexpr bool copies_in_background = true;
inline void copy_async(void* to, const void* from, bool inside) { emu::block->copy(to, from, inside); }
inline void commit_copies() { emu::block->commit(); }
template <int n> void wait_copies() { emu::block->wait(n); }

inline void atomic_add(float* address, float x) {
    std::atomic_ref<float> sum(*address);
    float old = sum.load();
    while (!sum.compare_exchange_weak(old, old + x)) {
    }
}

inline float exp2_of(float x) { return std::exp2(x); }
inline float exp_of(float x) { return std::exp(x); }
inline float log_of(float x) { return std::log(x); }

template <class T> std::uint32_t pack(float low, float high) {
    return from_float<T>(low).bits | std::uint32_t(from_float<T>(high).bits) << 16;
}

struct alignas(16) Float4 {
    float x, y, z, w;
};
inline Float4 load4(const float* p) {
    Float4 v;
    std::memcpy(&v, __builtin_assume_aligned(p, 16), sizeof v);
    return v;
}
inline void store4(float* p, const Float4& v) { std::memcpy(__builtin_assume_aligned(p, 16), &v, sizeof v); }

template <class... P, class... A>
void launch(Stream& stream, const Grid& grid, void (*kernel)(P...), const A&... arguments) {
    static_cast<EmulatedStream&>(stream).run(grid.x, grid.y, grid.z, grid.threads, grid.shared_bytes,
                                             [&] { kernel(arguments...); });
}

/// As cuBLAS would, one element after the other.
void multiply_matrices(Stream& stream, const Product& product);

}  // namespace tilewalk::gpu::on_emulator

#include "cuda/emulator/hopper_emulated.h"

// The names of Hopper as the emulator models them (cuda/device/device.h, cuda/emulator/hopper.h). Part of
// device_emulated.h.
#pragma once

#include "cuda/emulator/stream.h"

#define GRID_CONSTANT

namespace tilewalk::gpu::on_emulator {

constexpr bool hopper = true;
using MBarrier = std::uint64_t;
using emulator::TensorMap;

template <class T> T* shared_tiles() { return reinterpret_cast<T*>(emu::block->shared()); }
/// Shared memory begins at 0.
inline std::uint32_t shared_address(const void* p) {
    return static_cast<std::uint32_t>(static_cast<const unsigned char*>(p) - emu::block->shared());
}

template <class T>
TensorMap tensor_map(Stream& stream, const Tensor& t, int d, int N, int heads, int batch, int rows) {
    return emulator::tensor_map(static_cast<EmulatedStream&>(stream), t, d, N, heads, batch, rows);
}
inline void fetch_tile(void* to, const TensorMap& map, MBarrier* barrier, int column, int row, int head,
                       int batch) {
    emu::block->hopper.fetch({map, to, barrier, {column, row, head, batch}, thread()});
}

inline void init_barrier(MBarrier* barrier, int arrivals) { emu::block->hopper.init(barrier, arrivals); }
inline void publish_barriers() {}
inline void arrive_at(MBarrier* barrier) { emu::block->hopper.arrive(barrier); }
inline void expect_bytes(MBarrier* barrier, int bytes) { emu::block->hopper.expect(barrier, bytes); }
inline void wait_for(MBarrier* barrier, int parity) { emu::block->hopper.wait(barrier, parity); }

inline void arrive_named(int id, int threads) { emu::block->hopper.arrive_named(id, threads); }
inline void sync_named(int id, int threads) { emu::block->hopper.sync_named(id, threads); }

template <int n> void shrink_registers() { emu::block->hopper.shrink(n); }
template <int n> void grow_registers() { emu::block->hopper.grow(n); }

template <class T> float number_of(std::uint16_t bits) { return to_float(T{bits}); }

/// What each lane brings to a product of its warp.
struct ProductLane {
    float* sums;
    const std::uint32_t* A;
};
template <class T>
void issue_product(int columns, bool adds, ProductLane mine, std::uint64_t A, std::uint64_t B) {
    emu::together("multiply_async", mine, [&](ProductLane** all) {
        emu::AsyncProduct product;
        product.columns = columns, product.adds = adds, product.A_in_registers = mine.A != nullptr;
        product.A = A, product.B = B, product.number = number_of<T>;
        for (std::size_t l = 0; l < 32; ++l) product.sums[l] = all[l]->sums, product.registers[l] = all[l]->A;
        emu::block->hopper.issue(std::move(product));
    });
}
template <class T, int eights>
void multiply_async(float (&C)[eights][4], std::uint64_t A, std::uint64_t B, bool adds) {
    issue_product<T>(8 * eights, adds, {&C[0][0], nullptr}, A, B);
}
template <class T, int eights>
void multiply_async(float (&C)[eights][4], const std::uint32_t (&A)[4], std::uint64_t B) {
    issue_product<T>(8 * eights, true, {&C[0][0], A}, 0, B);
}

/// What a warp does as one: the last lane, for all.
template <class F> void as_warp(const char* what, F&& last) {
    emu::block->meet(emu::block->warp().barrier, what, last);
}
inline void fence_products() {
    as_warp("fence_products", [] { emu::block->hopper.fence(); });
}
inline void commit_products() {
    as_warp("commit_products", [] { emu::block->hopper.commit(); });
}
template <int n, int eights> void wait_products(float (&)[eights][4]) {
    as_warp("wait_products", [] { emu::block->hopper.wait_products(n); });
}

}  // namespace tilewalk::gpu::on_emulator

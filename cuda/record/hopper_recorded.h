// The names of Hopper, which write down what they did. Part of device_recorded.h.
#pragma once

#include "core/inside/tiles.h"
#include "cuda/record/recording.h"

#include <array>
#include <cstring>

namespace tilewalk::gpu::on_recorder {

using model::hopper;
using model::MBarrier;
using model::shared_address;
using model::shared_tiles;
using model::tensor_map;
using model::TensorMap;

// Tiles
inline void fetch_tile(void* to, const TensorMap& map, MBarrier* barrier, int column, int row, int head,
                       int batch, const At& at = At::current()) {
    if (records()) {
        const std::array<int, 4> begin{column, row, head, batch};
        const void* const from = map.row(begin, 0);
        std::uint32_t rows = 0;
        while (rows < static_cast<std::uint32_t>(map.rows) && map.row(begin, static_cast<int>(rows))) ++rows;
        note(Op::fetch_tile, at, recording->address(to), from ? recording->address(from) : 0, rows,
             16 * map.chunks(begin), static_cast<std::uint32_t>(map.stride[1]), recording->address(barrier),
             emu::block->hopper.completed(barrier), map.box_bytes());
        recording->fetch(recording->place(at), to);
    }
    model::fetch_tile(to, map, barrier, column, row, head, batch);
}

// Barriers that count phases. Who arrives says so before, who waits behind it: then all that it waited for
// has been written down.
inline void init_barrier(MBarrier* barrier, int arrivals, const At& at = At::current()) {
    if (records()) note(Op::init_barrier, at, recording->address(barrier), arrivals);
    model::init_barrier(barrier, arrivals);
}
inline void publish_barriers(const At& at = At::current()) { note(Op::publish_barriers, at); }
/// The other lanes of the warp come to where it meets next: then what stands before an arrival can be written
/// down when somebody has waited for it. Twice, for lanes come in any order.
inline void let_others_come() {
    emu::block->yield();
    emu::block->yield();
}
inline void arrive_at(MBarrier* barrier, const At& at = At::current()) {
    if (records())
        let_others_come(),
            note(Op::arrive_at, at, recording->address(barrier), emu::block->hopper.completed(barrier));
    model::arrive_at(barrier);
}
inline void expect_bytes(MBarrier* barrier, int bytes, const At& at = At::current()) {
    if (records())
        let_others_come(), note(Op::expect_bytes, at, recording->address(barrier),
                                emu::block->hopper.completed(barrier), bytes);
    model::expect_bytes(barrier, bytes);
}
inline void wait_for(MBarrier* barrier, int parity, const At& at = At::current()) {
    if (left_out(at)) return;
    model::wait_for(barrier, parity);
    if (!records()) return;
    const std::uint32_t phases = emu::block->hopper.completed(barrier);
    recording->catch_up(recording->address(barrier), phases);
    note(Op::wait_for, at, recording->address(barrier), phases);
}

// Barriers with a number
inline void arrive_named(int id, int threads, const At& at = At::current()) {
    note(Op::arrive_named, at, id, threads);
    model::arrive_named(id, threads);
}
inline void sync_named(int id, int threads, const At& at = At::current()) {
    if (left_out(at)) return;
    note(Op::sync_named, at, id, threads);
    model::sync_named(id, threads);
}

template <int n> void shrink_registers(const At& at = At::current()) {
    note(Op::shrink_registers, at, n);
    model::shrink_registers<n>();
}
template <int n> void grow_registers(const At& at = At::current()) {
    note(Op::grow_registers, at, n);
    model::grow_registers<n>();
}

// Products in the background. What has been summed is there behind the wait, and written down with it.
inline void fence_products(const At& at = At::current()) {
    note(Op::fence_products, at);
    model::fence_products();
}
inline void note_product(const At& at, const float* C, std::uint64_t A, std::uint64_t B, int columns,
                         bool adds, const std::uint32_t (&a)[4]) {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    if (records())
        note(Op::multiply_async, at, low(A), low(A >> 32), low(B), low(B >> 32), columns, int(adds),
             recording->product_groups(), recording->sums(C), a[0], a[1], a[2], a[3]);
}
/// The model holds the sums back; each register says which it is (core/inside/tiles.h).
template <int eights> void mark_sums(float (&C)[eights][4]) {
    constexpr std::uint32_t held = 0xFFFFFFFF;
    if (!records() || std::bit_cast<std::uint32_t>(C[0][0]) != held) return;
    const std::uint32_t sums = recording->sums(&C[0][0]);
    for (std::uint32_t reg = 0; reg < 4 * eights; ++reg) {
        const std::uint32_t mark = inside::mark_of({sums, reg});
        std::memcpy(&C[reg / 4][reg % 4], &mark, sizeof mark);
    }
}
template <class T, int eights>
void multiply_async(float (&C)[eights][4], std::uint64_t A, std::uint64_t B, bool adds,
                    const At& at = At::current()) {
    note_product(at, &C[0][0], A, B, 8 * eights, adds, {});
    model::multiply_async<T>(C, A, B, adds);
    mark_sums(C);
}
template <class T, int eights>
void multiply_async(float (&C)[eights][4], const std::uint32_t (&A)[4], std::uint64_t B,
                    const At& at = At::current()) {
    note_product(at, &C[0][0], 0, B, 8 * eights, true, A);
    model::multiply_async<T>(C, A, B);
    mark_sums(C);
}
inline void commit_products(const At& at = At::current()) {
    if (records()) note(Op::commit_products, at, recording->commit_group());
    model::commit_products();
}
template <int n, int eights> void wait_products(float (&C)[eights][4], const At& at = At::current()) {
    if (left_out(at)) return;
    model::wait_products<n>(C);
    if (!records()) return;
    const std::uint32_t groups = recording->product_groups();
    std::array<std::uint32_t, inside::TileSums::first_sum + 4 * eights> words{
        n, groups - std::min<std::uint32_t>(groups, n), recording->sums(&C[0][0])};
    std::memcpy(&words[inside::TileSums::first_sum], C, sizeof C);
    recording->note(Op::wait_products, recording->place(at), 0, words);
}

}  // namespace tilewalk::gpu::on_recorder

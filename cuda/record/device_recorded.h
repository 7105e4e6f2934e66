// The device's instructions as the emulator models them (names: cuda/device/device.h), each of which writes
// down what it did (cuda/record/recording.h). Compiled with -fsanitize=alignment, so that plain accesses are,
// too.
#pragma once

#include "cuda/record/recording.h"

#include <bit>

// The emulator's models once more, in a namespace of their own: compiled with other flags, they must not
// stand in for those of the emulator itself.
#define on_emulator emulator_of_recorder
#include "cuda/emulator/device_emulated.h"
#undef on_emulator
#undef BACKEND
#define BACKEND on_recorder

// The sanitizer's call under a name of our own: its runtime may be part of the program as well. In a browser
// it is not (cuda/browser/kernels.cpp).
#ifndef __EMSCRIPTEN__
asm(".set __ubsan_handle_type_mismatch_v1, tilewalk_record_access");
#endif

namespace tilewalk::gpu::on_recorder {

namespace emu = emulator;
namespace model = emulator_of_recorder;
using emulator::bf16;
using emulator::f16;
using inside::Op;

using model::architecture;
using model::block_x;
using model::block_y;
using model::block_z;
using model::copies_in_background;
using model::forgotten;
using model::lane;
using model::shared_memory;
using model::thread;
using model::threads;
using model::warp;

// A launch that is not recorded, and what the host calls, write nothing down.
inline bool records() { return recording && emulator::block; }

template <class... W> void note(Op op, const At& at, W... words) {
    static_assert(((sizeof(W) == 4) && ...));
    if (!records()) return;
    const std::uint32_t all[] = {0, std::bit_cast<std::uint32_t>(words)...};
    recording->note(op, recording->place(at), 0, std::span(all).subspan(1));
}

inline void expect_given(const At& at, const void* p, int bytes, bool stores) {
    if (records()) recording->expect_given(recording->place(at), p, bytes, stores);
}

// What the run goes without (core/inside/fault.h)
inline bool left_out(const At& at) { return records() && recording->leaves_out(recording->place(at)); }
inline bool has(inside::FaultKind kind) { return records() && recording->has(kind); }
inline bool swizzles() { return !records() || recording->swizzles(); }

// Waiting for each other. A thread says so before it waits: nobody may go on before all have said it.
inline void sync_block(const At& at = At::current()) {
    if (left_out(at)) return;
    note(Op::sync_block, at);
    model::sync_block();
}
inline void sync_warp(const At& at = At::current()) {
    if (left_out(at)) return;
    note(Op::sync_warp, at);
    model::sync_warp();
}

// Registers of other lanes
template <class T> T shuffle_by(T got, T given, int source, const At& at) {
    note(Op::shuffle, at, given, source, got);
    return got;
}
template <class T> T shuffle_xor(T x, int mask, const At& at = At::current()) {
    return shuffle_by(model::shuffle_xor(x, mask), x, lane() ^ mask, at);
}
template <class T> T shuffle(T x, int source, const At& at = At::current()) {
    return shuffle_by(model::shuffle(x, source), x, source, at);
}
inline float sum_of_warp(float x, const At& at = At::current()) {
    for (int mask = 16; mask > 0; mask /= 2) x += shuffle_xor(x, mask, at);
    return x;
}
inline float max_of_warp(float x, const At& at = At::current()) {
    for (int mask = 16; mask > 0; mask /= 2) x = std::fmax(x, shuffle_xor(x, mask, at));
    return x;
}

// Fragments
inline void note_matrices(Op op, const At& at, const void* row, const std::uint32_t (&r)[4]) {
    if (!records()) return;
    const std::uint32_t words[] = {recording->address(row), r[0], r[1], r[2], r[3]};
    recording->note(op, recording->place(at), 16, words);
}
inline void load_matrices(std::uint32_t (&r)[4], const void* row, const At& at = At::current()) {
    expect_given(at, row, 16, false);
    model::load_matrices(r, row);
    note_matrices(Op::load_matrices, at, row, r);
}
inline void load_transposed(std::uint32_t (&r)[4], const void* row, const At& at = At::current()) {
    expect_given(at, row, 16, false);
    model::load_transposed(r, row);
    note_matrices(Op::load_transposed, at, row, r);
}
template <class T>
void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                  const At& at = At::current()) {
    const float before[4] = {c[0], c[1], c[2], c[3]};
    std::uint32_t x[4] = {a[0], a[1], a[2], a[3]};
    if (has(inside::FaultKind::swapped_A)) std::swap(x[1], x[2]);
    if (has(inside::FaultKind::swapped_B)) std::swap(b0, b1);
    model::multiply_add<T>(c, x, b0, b1);
    note(Op::multiply_add, at, x[0], x[1], x[2], x[3], b0, b1, before[0], before[1], before[2], before[3],
         c[0], c[1], c[2], c[3]);
}

// Copies in the background
inline void copy_async(void* to, const void* from, bool inside, const At& at = At::current()) {
    if (records()) recording->issue(recording->place(at), to, from, inside);
    model::copy_async(to, from, inside);
}
inline void commit_copies(const At& at = At::current()) {
    if (records()) recording->commit(recording->place(at));
    model::commit_copies();
}
template <int n> void wait_copies(const At& at = At::current()) {
    if (left_out(at)) return;
    model::wait_copies<n>();
    if (records()) recording->wait(recording->place(at), n);
}

// One thread of the CPU runs all blocks (recording.cpp): nobody else adds meanwhile.
inline void atomic_add(float* address, float x, const At& at = At::current()) {
    expect_given(at, address, 4, true);
    float sum;
    std::memcpy(&sum, static_cast<const void*>(address), 4);
    sum += x;
    std::memcpy(static_cast<void*>(address), &sum, 4);
    if (!records()) return;
    const std::uint32_t words[] = {recording->address(address), std::bit_cast<std::uint32_t>(x),
                                   std::bit_cast<std::uint32_t>(sum)};
    recording->note(Op::atomic_add, recording->place(at), 4, words);
}

inline float exp2_of(float x, const At& at = At::current()) {
    const float y = model::exp2_of(x);
    note(Op::exp2, at, x, y);
    return y;
}
inline float exp_of(float x, const At& at = At::current()) {
    const float y = model::exp_of(x);
    note(Op::exp, at, x, y);
    return y;
}
inline float log_of(float x, const At& at = At::current()) {
    const float y = model::log_of(x);
    note(Op::log, at, x, y);
    return y;
}

// Not written down. But a 16-bit number that is read for it clang copies as a struct, which its sanitizer
// does not see. A macro, because the emulator's is found by the type of its argument as well.
#ifdef __EMSCRIPTEN__
inline float noted_float(float x, const At&) { return x; }
template <class T> float noted_float(const T& x, const At& at) {
    if (records() && recording->is_given(&x, sizeof x))
        recording->note_access(false, recording->place(at), &x, sizeof x);
    return emulator::to_float(x);
}
#define to_float(x) noted_float(x, At::current())
#else
using emulator::to_float;
#endif
template <class T> T from_float(float x, const At& at = At::current()) {
    const T y = emulator::from_float<T>(x);
    if constexpr (sizeof(T) == 2) note(Op::from_float, at, x, std::uint32_t(y.bits));
    return y;
}
template <class T> std::uint32_t pack(float low, float high, const At& at = At::current()) {
    const std::uint32_t both = model::pack<T>(low, high);
    note(Op::pack, at, low, high, both);
    return both;
}

struct Float4 {
    float x, y, z, w;
};
inline Float4 load4(const float* p, const At& at = At::current()) {
    emu::block->expect_aligned(p, "load4");
    expect_given(at, p, 16, false);
    Float4 v;
    std::memcpy(&v, static_cast<const void*>(p), sizeof v);
    if (records()) recording->note_access(false, recording->place(at), p, 16);
    return v;
}
inline void store4(float* p, const Float4& v, const At& at = At::current()) {
    emu::block->expect_aligned(p, "store4");
    expect_given(at, p, 16, true);
    if (records()) recording->note_access(true, recording->place(at), p, 16);
    std::memcpy(static_cast<void*>(p), &v, sizeof v);
}

template <class... P, class... A>
void launch(Stream& stream, const Grid& grid, void (*kernel)(P...), const A&... arguments) {
    static_cast<RecordingStream&>(stream).run(grid, [&] { kernel(arguments...); });
}

/// A product is written down as a whole.
inline void multiply_matrices(Stream& stream, const Product& product) {
    if (recording) recording->note_product(product.m, product.n, product.k, product.count);
    model::multiply_matrices(stream, product);
}

}  // namespace tilewalk::gpu::on_recorder

#include "cuda/record/hopper_recorded.h"

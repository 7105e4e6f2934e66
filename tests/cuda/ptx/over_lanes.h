// Loops over the lanes of a warp, for the functions of the instruction table.
#pragma once

#include "tests/cuda/ptx/warp.h"

#include <bit>

/// Loops over lanes that are worth compiling once more for processors with wider vectors and fma: the best
/// that runs here is taken. The results are the same.
#if defined(__x86_64__) && defined(__linux__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("default", "arch=haswell")))
#else
#define FOR_EACH_PROCESSOR
#endif

namespace tilewalk::ptx {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

/// All at once where no lane is left out, which is most often: then the compiler makes vectors of it.
template <class F> void over_lanes(const Warp& warp, F&& f) {
    if (warp.active == all_lanes)
        for (int lane = 0; lane < lanes; ++lane) f(lane);
    else
        for (Mask left = warp.active; left; left &= left - 1) f(std::countr_zero(left));
}

/// d = f(a), f(a, b), f(a, b, c) in each lane.
template <auto f, class D, class A = D> void unary(Warp& warp, const Instruction& in) {
    D* const d = warp.row<D>(in.at[0]);
    const A* const a = warp.row<A>(in.at[1]);
    over_lanes(warp, [=](int lane) { d[lane] = static_cast<D>(f(a[lane])); });
}
template <auto f, class D, class A = D, class B = A> void binary(Warp& warp, const Instruction& in) {
    D* const d = warp.row<D>(in.at[0]);
    const A* const a = warp.row<A>(in.at[1]);
    const B* const b = warp.row<B>(in.at[2]);
    over_lanes(warp, [=](int lane) { d[lane] = static_cast<D>(f(a[lane], b[lane])); });
}
template <auto f, class D, class A = D, class B = A, class C = A>
void ternary(Warp& warp, const Instruction& in) {
    D* const d = warp.row<D>(in.at[0]);
    const A* const a = warp.row<A>(in.at[1]);
    const B* const b = warp.row<B>(in.at[2]);
    const C* const c = warp.row<C>(in.at[3]);
    over_lanes(warp, [=](int lane) { d[lane] = static_cast<D>(f(a[lane], b[lane], c[lane])); });
}

/// A predicate keeps what it was in lanes that do not execute.
inline void set_predicate(Warp& warp, Row at, Mask to) {
    Mask& p = warp.predicate(at);
    p = (p & ~warp.active) | (to & warp.active);
}

}  // namespace tilewalk::ptx

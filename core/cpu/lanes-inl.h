// Vectors of as many floats as the instruction set has room for, and 2ˣ of them. Included once for each
// instruction set: HWY_TARGET_TOGGLE opens the include guard again every time.
#if defined(TILEWALK_CORE_CPU_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TILEWALK_CORE_CPU_LANES_INL_H
#undef TILEWALK_CORE_CPU_LANES_INL_H
#else
#define TILEWALK_CORE_CPU_LANES_INL_H
#endif

#include "core/cpu/lanes.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tilewalk::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

constexpr int lanes = static_cast<int>(HWY_LANES(float));
constexpr int panel = 2 * lanes;  // what the micro-kernel works on: two vectors side by side

HWY_INLINE Vector load(const float* from) { return hn::LoadU(Floats(), from); }
HWY_INLINE void store(Vector v, float* to) { hn::StoreU(v, Floats(), to); }
HWY_INLINE Vector all(float x) { return hn::Set(Floats(), x); }

// Asks for numbers before they are needed. Into the second cache: the first one is full of those in use.
HWY_INLINE void prefetch(const float* from, std::int64_t floats) {
    for (std::int64_t at = 0; at < floats; at += 16) __builtin_prefetch(from + at, 0, 2);
}

// 2ˣ with x = factor · y, for x ≤ 127; relative error below 1.5 · 10⁻⁷ and that of x. Exactly 1 at 0, and
// exactly 0 below −100.5: beside the weight 1 of the largest score nobody can see 2⁻¹⁰⁰, and products with
// still smaller numbers would fall among the denormal ones, which are slow.
HWY_INLINE Vector exp2(Vector factor, Vector y) {
    const hn::RebindToSigned<Floats> integers;
    // x = n + f with n the nearest integer: beside 1.5 · 2²³ a float has no room for digits after the point,
    // and n stands in its last bits
    const Vector middle = all(12582912.0f), shifted = hn::MulAdd(factor, y, middle);
    const Vector f = hn::MulSub(factor, y, hn::Sub(shifted, middle));
    // 2ᶠ on −½ … ½: the polynomial of degree 6 through (0, 1) with the least largest relative error, 2 · 10⁻⁹
    Vector p = hn::MulAdd(all(1.53534243363e-4f), f, all(1.3398882024e-3f));
    p = hn::MulAdd(p, f, all(9.61843718437e-3f));
    p = hn::MulAdd(p, f, all(5.55033245174e-2f));
    p = hn::MulAdd(p, f, all(2.40226479145e-1f));
    p = hn::MulAdd(p, f, all(6.93147202865e-1f));
    p = hn::MulAdd(p, f, all(1.0f));
    // times 2ⁿ: n added to the exponent
    const auto n = hn::ShiftLeft<23>(hn::BitCast(integers, shifted));
    const Vector power = hn::BitCast(Floats(), hn::Add(hn::BitCast(integers, p), n));
    return hn::IfThenElseZero(hn::Ge(shifted, all(12582912.0f - 100)), power);
}

}  // namespace tilewalk::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

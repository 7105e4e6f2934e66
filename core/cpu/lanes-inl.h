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

// 2ˣ for x ≤ 127, relative error below 2.5 · 10⁻⁷. Exactly 1 at 0, and exactly 0 below −100: beside the
// weight 1 of the largest score nobody can see 2⁻¹⁰⁰, and products with still smaller numbers would fall
// among the denormal ones, which are slow.
HWY_INLINE Vector exp2(Vector x) {
    const hn::RebindToSigned<Floats> integers;
    // x = n + f with n the nearest integer: beside 1.5 · 2²³ a float has no room for digits after the point,
    // and n stands in its last bits
    const Vector shifted = hn::Add(x, all(12582912.0f));
    const Vector f = hn::Sub(x, hn::Sub(shifted, all(12582912.0f)));
    // 2ᶠ on −½ … ½: the polynomial of degree 5 through (0, 1) with the least largest relative error, 9 · 10⁻⁸
    Vector p = hn::MulAdd(all(1.32647335081e-3f), f, all(9.67151657117e-3f));
    p = hn::MulAdd(p, f, all(5.55073376361e-2f));
    p = hn::MulAdd(p, f, all(2.40222420252e-1f));
    p = hn::MulAdd(p, f, all(6.93146977565e-1f));
    p = hn::MulAdd(p, f, all(1.0f));
    // times 2ⁿ: n added to the exponent
    const auto n = hn::ShiftLeft<23>(hn::BitCast(integers, shifted));
    const Vector power = hn::BitCast(Floats(), hn::Add(hn::BitCast(integers, p), n));
    return hn::IfThenElseZero(hn::Ge(x, all(-100.0f)), power);
}

}  // namespace tilewalk::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

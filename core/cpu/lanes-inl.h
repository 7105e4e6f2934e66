// Vectors of as many floats as the instruction set has room for, and 2ˣ of them. Included once for each
// instruction set: HWY_TARGET_TOGGLE opens the include guard again every time.
#if defined(TILEWALK_CORE_CPU_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TILEWALK_CORE_CPU_LANES_INL_H
#undef TILEWALK_CORE_CPU_LANES_INL_H
#else
#define TILEWALK_CORE_CPU_LANES_INL_H
#endif

#include "core/cpu/lanes.h"
#include "core/cpu/stored.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tilewalk::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
using Integers = hn::RebindToSigned<Floats>;

constexpr int lanes = static_cast<int>(HWY_LANES(float));
constexpr int panel = 2 * lanes;  // what the micro-kernel works on: two vectors side by side

HWY_INLINE Vector load(const float* from) { return hn::LoadU(Floats(), from); }
HWY_INLINE void store(Vector v, float* to) { hn::StoreU(v, Floats(), to); }
HWY_INLINE Vector all(float x) { return hn::Set(Floats(), x); }

// Asks for numbers before they are needed. Into the second cache: the first one is full of those in use.
template <class T> HWY_INLINE void prefetch(const T* from, std::int64_t count) {
    constexpr std::int64_t line = 64 / sizeof(T);
    for (std::int64_t at = 0; at < count; at += line) __builtin_prefetch(from + at, 0, 2);
}

// ---- Numbers of 16 bits: a vector of them becomes one of floats, and back to the nearest, ties to even.
// Bits as in core/base/float16.h, which says what they mean.

using Halves = hn::Rebind<std::uint16_t, Floats>;

HWY_INLINE Vector load(const bf16* from) {
    const auto bits = hn::PromoteTo(Integers(), hn::LoadU(Halves(), &from->bits));
    return hn::BitCast(Floats(), hn::ShiftLeft<16>(bits));
}

HWY_INLINE Vector load(const f16* from) {
#if (HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)) || HWY_TARGET == HWY_NEON
    const hn::Rebind<hwy::float16_t, Floats> halves;
    return hn::PromoteTo(Floats(), hn::LoadU(halves, reinterpret_cast<const hwy::float16_t*>(from)));
#else
    const Integers i;
    const auto bits = hn::PromoteTo(i, hn::LoadU(Halves(), &from->bits));
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(i, 0x8000))),
               rest = hn::ShiftLeft<13>(hn::And(bits, hn::Set(i, 0x7FFF)));
    const auto exponent = hn::Set(i, 112 << 23), normal = hn::Add(rest, exponent);
    // Infinity and NaN have the largest exponent, there and here; below the smallest normal number the first
    // digit is no 1
    const auto special = hn::Add(normal, exponent);
    const Vector with_1 = hn::BitCast(Floats(), hn::Add(rest, hn::Set(i, 113 << 23)));
    const auto small = hn::BitCast(i, hn::Sub(with_1, all(0x1p-14f)));
    const auto finite = hn::IfThenElse(hn::Lt(rest, hn::Set(i, 1 << 23)), small, normal);
    const auto any = hn::IfThenElse(hn::Gt(rest, hn::Set(i, (31 << 23) - 1)), special, finite);
    return hn::BitCast(Floats(), hn::Or(sign, any));
#endif
}

HWY_INLINE void store(Vector v, bf16* to) {
    const Integers i;
    const hn::RebindToUnsigned<Floats> words;
    const auto bits = hn::BitCast(i, v), rest = hn::And(bits, hn::Set(i, 0x7FFFFFFF));
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(i, 1));
    const auto sum = hn::Add(bits, hn::Add(odd, hn::Set(i, 0x7FFF)));
    const auto half = hn::BitCast(i, hn::ShiftRight<16>(hn::BitCast(words, sum)));
    const auto any = hn::IfThenElse(hn::Gt(rest, hn::Set(i, 0x7F800000)), hn::Set(i, 0x7FFF), half);
    hn::StoreU(hn::DemoteTo(Halves(), any), Halves(), &to->bits);
}

HWY_INLINE void store(Vector v, f16* to) {
    const Integers i;
    const auto bits = hn::BitCast(i, v), rest = hn::And(bits, hn::Set(i, 0x7FFFFFFF));
    const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(i, 0x8000));
    const auto odd = hn::And(hn::ShiftRight<13>(rest), hn::Set(i, 1));
    const auto normal = hn::ShiftRight<13>(hn::Add(rest, hn::Add(odd, hn::Set(i, 0xFFF - (112 << 23)))));
    // Below the smallest normal number they are multiples of 2⁻²⁴, the last digit of a float beside ½
    const Vector beside_half = hn::Add(hn::BitCast(Floats(), rest), all(0.5f));
    const auto small = hn::Sub(hn::BitCast(i, beside_half), hn::BitCast(i, all(0.5f)));
    const auto finite = hn::IfThenElse(hn::Lt(rest, hn::Set(i, 113 << 23)), small, normal);
    // 65520 and more round to infinity
    const auto size = hn::IfThenElse(hn::Gt(rest, hn::Set(i, 0x477FEFFF)), hn::Set(i, 0x7C00), finite);
    const auto any =
        hn::IfThenElse(hn::Gt(rest, hn::Set(i, 0x7F800000)), hn::Set(i, 0x7FFF), hn::Or(sign, size));
    hn::StoreU(hn::DemoteTo(Halves(), any), Halves(), &to->bits);
}

// `count` elements into floats, and back
template <class T> HWY_INLINE void read_floats(const T* from, std::int64_t count, float* to) {
    std::int64_t at = 0;
    for (; at + lanes <= count; at += lanes) store(load(from + at), to + at);
    for (; at < count; ++at) to[at] = to_float(from[at]);
}
template <class T> HWY_INLINE void write_floats(const float* from, std::int64_t count, T* to) {
    std::int64_t at = 0;
    for (; at + lanes <= count; at += lanes) store(load(from + at), to + at);
    for (; at < count; ++at) to[at] = from_float<T>(from[at]);
}
// As floats: where they lie if that is what they are, else in `copy`
template <class T>
HWY_INLINE const float* as_floats(const T* from, std::int64_t count, [[maybe_unused]] float* copy) {
    if constexpr (std::is_same_v<T, float>) {
        return from;
    } else {
        read_floats(from, count, copy);
        return copy;
    }
}

// The fractions of 2ˣ that exp2() looks up: 2^(i / steps_of_exp2), one in each lane, where lanes can be
// picked by index. They spare the polynomial half of its degrees.
#if HWY_TARGET <= HWY_AVX2
constexpr int steps_of_exp2 = lanes;
#else
constexpr int steps_of_exp2 = 1;
#endif
constexpr int bits_of_steps = steps_of_exp2 == 16 ? 4 : steps_of_exp2 == 8 ? 3 : 0;

// Times 2ⁿ: n, in the last bits of `n_steps` but for the index of a fraction, added to the exponent
HWY_INLINE Vector times_power(Vector v, hn::Vec<hn::RebindToSigned<Floats>> n_steps) {
    const hn::RebindToSigned<Floats> integers;
    const auto exponent = hn::ShiftLeft<23 - bits_of_steps>(n_steps);
    return hn::BitCast(Floats(), hn::Add(hn::BitCast(integers, v), exponent));
}

// 2^(n + i / steps) by its n · steps + i
HWY_INLINE Vector power_of_steps(hn::Vec<hn::RebindToSigned<Floats>> n_steps) {
    static constexpr float sixteenths[] = {1.0f,        1.04427378f, 1.09050773f, 1.13878863f,
                                           1.18920712f, 1.24185781f, 1.29683955f, 1.35425555f,
                                           1.41421356f, 1.47682615f, 1.54221083f, 1.61049033f,
                                           1.68179283f, 1.75625216f, 1.83400809f, 1.91520656f};
    const hn::RebindToSigned<Floats> integers;
    float fractions[lanes];
    for (int i = 0; i < lanes; ++i) fractions[i] = sixteenths[i * 16 / lanes];
    // The index goes into the exponent together with n: what it adds there is taken off beforehand
    const Vector table = times_power(load(fractions), hn::Neg(hn::Iota(integers, 0)));
    const auto index = hn::And(n_steps, hn::Set(integers, lanes - 1));
    return times_power(hn::TableLookupLanes(table, hn::IndicesFromVec(Floats(), index)), n_steps);
}

// 2ˣ with x = factor · y, for x ≤ 127; relative error below 1.5 · 10⁻⁷ and that of x. Exactly 1 at 0, and
// exactly 0 below −100.5 (half a step below −100, where steps are finer). NaN stays NaN. Beside the weight 1
// of the largest score nobody can see 2⁻¹⁰⁰, and products with still smaller numbers would fall among the
// denormal ones, which are slow.
HWY_INLINE Vector exp2(Vector factor, Vector y) {
    const hn::RebindToSigned<Floats> integers;
    // x = n + f with n the nearest number of whole steps: beside 1.5 · 2²³ steps a float has no room for
    // digits after the point, and n stands in its last bits
    constexpr float middle_of_all = 12582912.0f / steps_of_exp2;
    const Vector middle = all(middle_of_all), shifted = hn::MulAdd(factor, y, middle);
    const Vector f = hn::MulSub(factor, y, hn::Sub(shifted, middle));
    const auto n_steps = hn::BitCast(integers, shifted);
    Vector power;
    if constexpr (steps_of_exp2 > 1) {
        // 2ᶠ − 1 on ± half a step: the series up to f³, with the part of f⁴ that a square can take over.
        // 3 · 10⁻⁸ with eight steps, 2 · 10⁻⁹ with sixteen
        constexpr float half = 0.5f / steps_of_exp2,
                        square = 2.40226507e-1f + 9.618129e-3f * 0.828f * half * half;
        Vector q = hn::MulAdd(all(5.55041087e-2f), f, all(square));
        q = hn::Mul(hn::MulAdd(q, f, all(6.93147181e-1f)), f);
        const Vector base = power_of_steps(n_steps);
        power = hn::MulAdd(base, q, base);
    } else {
        // 2ᶠ on −½ … ½: the polynomial of degree 6 through (0, 1) with the least largest relative error,
        // 2 · 10⁻⁹
        Vector p = hn::MulAdd(all(1.53534243363e-4f), f, all(1.3398882024e-3f));
        p = hn::MulAdd(p, f, all(9.61843718437e-3f));
        p = hn::MulAdd(p, f, all(5.55033245174e-2f));
        p = hn::MulAdd(p, f, all(2.40226479145e-1f));
        p = hn::MulAdd(p, f, all(6.93147202865e-1f));
        p = hn::MulAdd(p, f, all(1.0f));
        power = times_power(p, n_steps);
    }
    return hn::IfThenZeroElse(hn::Lt(shifted, all(middle_of_all - 100)), power);
}

}  // namespace tilewalk::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

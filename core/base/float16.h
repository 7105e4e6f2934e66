// The two 16-bit formats as bits, with the conversions of the GPU: to nearest, ties to even, subnormals kept.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace tilewalk::gpu::emulator {

// Where clang records kernels (cuda/record), for browsers, it sees an assignment of a struct if that is a
// function.
#if defined(__EMSCRIPTEN__) && defined(TILEWALK_RECORDS)
#define TILEWALK_SEEN(T)                                                                                     \
    T& operator=(const T& from) {                                                                            \
        std::memcpy(static_cast<void*>(this), &from, sizeof from);                                           \
        return *this;                                                                                        \
    }
#else
#define TILEWALK_SEEN(T)
#endif

struct f16 {
    std::uint16_t bits;
    TILEWALK_SEEN(f16)
};
struct bf16 {
    std::uint16_t bits;
    TILEWALK_SEEN(bf16)
};

inline std::uint32_t bits_of(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, 4);
    return bits;
}
inline float float_of(std::uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, 4);
    return x;
}

inline float to_float(float x) { return x; }
inline float to_float(bf16 x) { return float_of(std::uint32_t(x.bits) << 16); }
inline float to_float(f16 x) {
    const std::uint32_t sign = std::uint32_t(x.bits & 0x8000) << 16, rest = x.bits & 0x7FFF;
    if (rest >= 0x7C00) return float_of(sign | 0x7F800000 | (rest & 0x3FF) << 13);
    if (rest >= 0x400) return float_of(sign | ((rest << 13) + (112u << 23)));
    return float_of(sign | bits_of(static_cast<float>(rest) * 0x1p-24f));  // subnormal
}

template <class T> T from_float(float x);
template <> inline float from_float<float>(float x) { return x; }
template <> inline bf16 from_float<bf16>(float x) {
    const std::uint32_t bits = bits_of(x);
    if ((bits & 0x7FFFFFFF) > 0x7F800000) return {0x7FFF};  // as cvt.rn gives it
    return {static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16)};
}
template <> inline f16 from_float<f16>(float x) {
    const std::uint32_t bits = bits_of(x), rest = bits & 0x7FFFFFFF;
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
    const auto with_sign = [sign](std::uint32_t low) { return f16{static_cast<std::uint16_t>(sign | low)}; };
    if (rest > 0x7F800000) return {0x7FFF};
    if (rest >= 0x477FF000) return with_sign(0x7C00);  // 65520 and more round to ∞
    if (rest >= 0x38800000) return with_sign((rest - (112u << 23) + 0xFFF + (rest >> 13 & 1)) >> 13);
    // Subnormals are multiples of 2⁻²⁴; rint ties to even.
    return with_sign(static_cast<std::uint32_t>(std::rint(float_of(rest) * 0x1p24f)));
}

}  // namespace tilewalk::gpu::emulator

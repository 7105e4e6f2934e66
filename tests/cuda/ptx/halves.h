// Numbers of 16 bits: IEEE 754's binary16 (f16) and the upper half of a float (bf16). PTX 5.2.3.
#pragma once

#include <bit>
#include <cstdint>

namespace tilewalk::ptx {

enum class Half { f16, bf16 };

/// Without a branch, so that a row of them becomes vectors: f16 is moved to where a float has its bits, and
/// its exponent mended by a product, which is exact for subnormal numbers, too.
inline float widened(Half format, std::uint16_t bits) {
    if (format == Half::bf16) return std::bit_cast<float>(std::uint32_t(bits) << 16);
    const std::uint32_t sign = (bits & 0x8000u) << 16, size = (bits & 0x7FFFu) << 13;
    const auto number = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) * 0x1p112f);
    const bool finite = size < 31u << 23;
    return std::bit_cast<float>(sign | (finite ? number : size | 0x7F800000u));
}

/// To nearest, ties to even; or toward zero. What is no number becomes 0x7FFF (PTX 9.7.9.21, cvt).
inline std::uint16_t narrowed(Half format, float x, bool to_nearest = true) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x), size = bits & 0x7FFFFFFFu;
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
    if (size > 0x7F800000u) return 0x7FFF;
    // `value` without its lowest bits
    const auto cut = [to_nearest](std::uint32_t value, std::uint32_t low_bits) {
        const std::uint32_t kept = value >> low_bits, lost = value & ((1u << low_bits) - 1),
                            half = 1u << (low_bits - 1);
        const bool up = to_nearest && (lost > half || (lost == half && (kept & 1)));
        return static_cast<std::uint16_t>(kept + up);
    };
    if (format == Half::bf16) return static_cast<std::uint16_t>(sign | cut(size, 16));
    const std::uint32_t exponent = size >> 23;
    if (exponent >= 143) return static_cast<std::uint16_t>(sign | 0x7C00);  // 65536 and more
    // A carry out of the fraction raises the exponent, at last to infinity
    if (exponent >= 113) return static_cast<std::uint16_t>(sign | cut(size - (112u << 23), 13));
    // Subnormal: multiples of 2^−24
    const std::uint32_t shift = 126 - exponent;
    if (shift > 24) return sign;
    return static_cast<std::uint16_t>(sign | cut((size & 0x7FFFFFu) | 0x800000u, shift));
}

}  // namespace tilewalk::ptx

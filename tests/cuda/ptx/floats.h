// What several instructions on floats of 32 bits share: PTX 9.7.3.
#pragma once

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>

namespace tilewalk::ptx {

/// A result that is not a number is always this one.
inline float canonical(float x) { return x == x ? x : std::bit_cast<float>(std::uint32_t(0x7FFFFFFF)); }
/// A subnormal number becomes a zero of its sign (.ftz).
inline float flushed(float x) { return std::fabs(x) < FLT_MIN ? std::copysign(0.0f, x) : x; }

}  // namespace tilewalk::ptx

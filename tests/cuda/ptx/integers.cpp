// Integers: PTX 9.7.1, and shifts and bit fields: 9.7.8.
#include "tests/cuda/ptx/instructions.h"
#include "tests/cuda/ptx/over_lanes.h"

#include <limits>
#include <type_traits>

namespace tilewalk::ptx {

namespace {

// Sums and products wrap, signed ones too: in C++ only unsigned ones may. 16 bits would be computed as int.
template <class T> using Wrapping = std::conditional_t<sizeof(T) == 8, u64, u32>;
constexpr auto add = [](auto a, auto b) {
    using W = Wrapping<decltype(a)>;
    return static_cast<W>(a) + static_cast<W>(b);
};
constexpr auto subtract = [](auto a, auto b) {
    using W = Wrapping<decltype(a)>;
    return static_cast<W>(a) - static_cast<W>(b);
};
constexpr auto multiply = [](auto a, auto b) {
    using W = Wrapping<decltype(a)>;
    return static_cast<W>(a) * static_cast<W>(b);
};
constexpr auto multiply_add = [](auto a, auto b, auto c) {
    using W = Wrapping<decltype(a)>;
    return static_cast<W>(a) * static_cast<W>(b) + static_cast<W>(c);
};
// Operands of 16 bits give 32, of 32 bits 64
constexpr auto multiply_wide = [](auto a, auto b) {
    using A = decltype(a);
    using Signed = std::conditional_t<sizeof(A) == 4, s64, s32>;
    using Unsigned = std::conditional_t<sizeof(A) == 4, u64, u32>;
    using D = std::conditional_t<std::is_signed_v<A>, Signed, Unsigned>;
    return static_cast<D>(a) * static_cast<D>(b);
};
// The upper half of the 128 bits, from products of halves
constexpr auto multiply_high = [](u64 a, u64 b) {
    const u64 low = 0xFFFFFFFFu, a0 = a & low, a1 = a >> 32, b0 = b & low, b1 = b >> 32;
    const u64 middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & low);
    return a1 * b1 + (middle >> 32) + (other >> 32);
};
// By 0, and of the least number by −1: not specified; a value that stands out
constexpr auto divide = [](auto a, auto b) {
    using T = decltype(a);
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>)
        if (b == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
    return static_cast<T>(a / b);
};
constexpr auto remainder = [](auto a, auto b) {
    using T = decltype(a);
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>)
        if (b == -1) return T(0);
    return static_cast<T>(a % b);
};
constexpr auto least = [](auto a, auto b) { return a < b ? a : b; };
constexpr auto most = [](auto a, auto b) { return a > b ? a : b; };
constexpr auto negate = [](s32 a) { return 0 - static_cast<u32>(a); };

constexpr auto multiply_wide_add = [](auto a, auto b, auto c) {
    return static_cast<u64>(multiply_wide(a, b)) + static_cast<u64>(c);
};
constexpr auto count_ones = [](u32 a) { return std::popcount(a); };
constexpr auto count_leading = [](u32 a) { return std::countl_zero(a); };

// Shifts by more bits than there are give 0, or the sign everywhere
constexpr auto shift_left = [](auto a, u32 by) {
    using T = decltype(a);
    return by >= 8 * sizeof(T) ? T(0) : static_cast<T>(static_cast<Wrapping<T>>(a) << by);
};
constexpr auto shift_right = [](auto a, u32 by) {
    using T = decltype(a);
    constexpr u32 bits = 8 * sizeof(T);
    if (std::is_signed_v<T>) return static_cast<T>(a >> (by >= bits ? bits - 1 : by));
    return by >= bits ? T(0) : static_cast<T>(a >> by);
};

// bfi: the lowest `length` bits of a take the place of those of b from `position` on
void insert_bits(Warp& warp, const Instruction& in) {
    u32* const d = warp.row<u32>(in.at[0]);
    const u32 *const a = warp.row<u32>(in.at[1]), *const b = warp.row<u32>(in.at[2]),
                     *const position = warp.row<u32>(in.at[3]), *const length = warp.row<u32>(in.at[4]);
    over_lanes(warp, [=](int lane) {
        const u32 at = position[lane] & 0xFF, count = length[lane] & 0xFF;
        const u64 field = count >= 32 ? 0xFFFFFFFFu : (u64(1) << count) - 1;
        const u64 mask = at >= 32 ? 0 : field << at, put = at >= 32 ? 0 : u64(a[lane]) << at;
        d[lane] = static_cast<u32>((b[lane] & ~mask) | (put & mask));
    });
}

// shf: the upper word of (high:low) << by, or the lower of (high:low) >> by; .wrap takes by modulo 32, .clamp
// at most 32
template <bool left, bool wraps> void shift_two(Warp& warp, const Instruction& in) {
    u32* const d = warp.row<u32>(in.at[0]);
    const u32 *const low = warp.row<u32>(in.at[1]), *const high = warp.row<u32>(in.at[2]),
                     *const by = warp.row<u32>(in.at[3]);
    over_lanes(warp, [=](int lane) {
        const u64 both = low[lane] | u64(high[lane]) << 32;
        const u32 n = wraps ? by[lane] & 31 : by[lane] > 32 ? 32 : by[lane];
        d[lane] = static_cast<u32>(left ? (both << n) >> 32 : both >> n);
    });
}

// prmt: each byte of the result is one of the eight of b:a, or its sign eight times
void permute_bytes(Warp& warp, const Instruction& in) {
    u32* const d = warp.row<u32>(in.at[0]);
    const u32 *const a = warp.row<u32>(in.at[1]), *const b = warp.row<u32>(in.at[2]),
                     *const c = warp.row<u32>(in.at[3]);
    over_lanes(warp, [=](int lane) {
        const u64 bytes = a[lane] | u64(b[lane]) << 32;
        u32 result = 0;
        for (int n = 0; n < 4; ++n) {
            const u32 choice = c[lane] >> 4 * n & 15;
            const auto byte = static_cast<u32>(bytes >> 8 * (choice & 7) & 0xFF);
            result |= (choice & 8 ? (byte & 0x80 ? 0xFFu : 0) : byte) << 8 * n;
        }
        d[lane] = result;
    });
}

}  // namespace

void add_integers(InstructionTable& table) {
    table.insert({
        {"add.s16", {"hhh", binary<add, u16>}},
        {"add.s32", {"www", binary<add, u32>}},
        {"add.u32", {"www", binary<add, u32>}},
        {"add.s64", {"qqq", binary<add, u64>}},
        {"add.u64", {"qqq", binary<add, u64>}},
        {"sub.s16", {"hhh", binary<subtract, u16>}},
        {"sub.s32", {"www", binary<subtract, u32>}},
        {"sub.s64", {"qqq", binary<subtract, u64>}},
        {"neg.s32", {"ww", unary<negate, u32, s32>}},
        {"mul.lo.s16", {"hhh", binary<multiply, u16>}},
        {"mul.lo.s32", {"www", binary<multiply, u32>}},
        {"mul.lo.s64", {"qqq", binary<multiply, u64>}},
        {"mad.lo.s32", {"wwww", ternary<multiply_add, u32>}},
        {"mul.wide.u16", {"whh", binary<multiply_wide, u32, u16>}},
        {"mul.wide.u32", {"qww", binary<multiply_wide, u64, u32>}},
        {"mul.wide.s32", {"qww", binary<multiply_wide, s64, s32>}},
        {"mul.hi.u64", {"qqq", binary<multiply_high, u64>}},
        {"div.s32", {"www", binary<divide, s32>}},
        {"div.u32", {"www", binary<divide, u32>}},
        {"div.s64", {"qqq", binary<divide, s64>}},
        {"div.u64", {"qqq", binary<divide, u64>}},
        {"min.s32", {"www", binary<least, s32>}},
        {"max.s32", {"www", binary<most, s32>}},
        {"min.u32", {"www", binary<least, u32>}},
        {"max.u32", {"www", binary<most, u32>}},
        {"min.s64", {"qqq", binary<least, s64>}},
        {"max.s64", {"qqq", binary<most, s64>}},
        {"shl.b16", {"hhw", binary<shift_left, u16, u16, u32>}},
        {"shl.b32", {"www", binary<shift_left, u32>}},
        {"shl.b64", {"qqw", binary<shift_left, u64, u64, u32>}},
        {"shr.u16", {"hhw", binary<shift_right, u16, u16, u32>}},
        {"shr.u32", {"www", binary<shift_right, u32>}},
        {"shr.s32", {"www", binary<shift_right, s32, s32, u32>}},
        {"shr.u64", {"qqw", binary<shift_right, u64, u64, u32>}},
        {"shr.s64", {"qqw", binary<shift_right, s64, s64, u32>}},
        {"rem.s32", {"www", binary<remainder, s32>}},
        {"rem.u32", {"www", binary<remainder, u32>}},
        {"rem.s64", {"qqq", binary<remainder, s64>}},
        {"mad.wide.s32", {"qwwq", ternary<multiply_wide_add, u64, s32, s32, u64>}},
        {"mad.wide.u32", {"qwwq", ternary<multiply_wide_add, u64, u32, u32, u64>}},
        {"mad.lo.s64", {"qqqq", ternary<multiply_add, u64>}},
        {"popc.b32", {"ww", unary<count_ones, u32>}},
        {"clz.b32", {"ww", unary<count_leading, u32>}},
        {"shf.l.wrap.b32", {"wwww", shift_two<true, true>}},
        {"shf.l.clamp.b32", {"wwww", shift_two<true, false>}},
        {"shf.r.wrap.b32", {"wwww", shift_two<false, true>}},
        {"shf.r.clamp.b32", {"wwww", shift_two<false, false>}},
        {"prmt.b32", {"wwww", permute_bytes}},
        {"bfi.b32", {"wwwww", insert_bits}},
    });
}

}  // namespace tilewalk::ptx

// cvt and cvta: PTX 9.7.9.21, 9.7.9.20.
#include "tests/cuda/ptx/halves.h"
#include "tests/cuda/ptx/instructions.h"
#include "tests/cuda/ptx/over_lanes.h"

namespace tilewalk::ptx {

namespace {

// Cut, extended by zeros or by the sign: as the types of the source and of the result say
constexpr auto convert = [](auto a) { return a; };
constexpr auto low = [](u64 a) { return static_cast<u32>(a); };
constexpr auto low_signed = [](u64 a) { return static_cast<s32>(a); };
constexpr auto same = [](u64 a) { return a; };

// Toward zero; what does not fit becomes the nearest, what is no number 0
constexpr auto to_integer = [](float a) {
    if (a != a) return s32(0);
    return a >= 0x1p31f ? s32(0x7FFFFFFF) : a < -0x1p31f ? s32(-0x7FFFFFFF - 1) : static_cast<s32>(a);
};

template <Half format> void narrow(Warp& warp, const Instruction& in) {
    u16* const d = warp.row<u16>(in.at[0]);
    const float* const a = warp.row<float>(in.at[1]);
    const bool nearest = !warp.faulty(Fault::rounds_to_zero);
    over_lanes(warp, [=](int lane) { d[lane] = narrowed(format, a[lane], nearest); });
}
// Two at once: the first operand becomes the upper half
template <Half format> void narrow_two(Warp& warp, const Instruction& in) {
    u32* const d = warp.row<u32>(in.at[0]);
    const bool swapped = warp.faulty(Fault::halves_of_pair), nearest = !warp.faulty(Fault::rounds_to_zero);
    const float *const high = warp.row<float>(in.at[swapped ? 2 : 1]), *const lower = warp.row<float>(
                                                                           in.at[swapped ? 1 : 2]);
    over_lanes(warp, [=](int lane) {
        d[lane] = narrowed(format, lower[lane], nearest) | u32(narrowed(format, high[lane], nearest)) << 16;
    });
}
constexpr auto widen_f16 = [](u16 a) { return widened(Half::f16, a); };
constexpr auto widen_bf16 = [](u16 a) { return widened(Half::bf16, a); };

}  // namespace

void add_conversions(InstructionTable& table) {
    table.insert({
        {"cvt.rn.f16.f32", {"hw", narrow<Half::f16>}},
        {"cvt.rn.bf16.f32", {"hw", narrow<Half::bf16>}},
        {"cvt.rn.f16x2.f32", {"www", narrow_two<Half::f16>}},
        {"cvt.rn.bf16x2.f32", {"www", narrow_two<Half::bf16>}},
        {"cvt.f32.f16", {"wh", unary<widen_f16, float, u16>}},
        {"cvt.f32.bf16", {"wh", unary<widen_bf16, float, u16>}},
        {"cvt.rn.f32.s32", {"ww", unary<convert, float, s32>}},
        {"cvt.rn.f32.u32", {"ww", unary<convert, float, u32>}},
        {"cvt.rzi.s32.f32", {"ww", unary<to_integer, s32, float>}},
        {"cvt.s64.s32", {"qw", unary<convert, s64, s32>}},
        {"cvt.s64.s32 wide", {"qq", unary<low_signed, s64, u64>}},
        {"cvt.u64.u32 wide", {"qq", unary<low, u64>}},
        {"cvt.u64.u32", {"qw", unary<convert, u64, u32>}},
        {"cvt.u64.u16", {"qh", unary<convert, u64, u16>}},
        {"cvt.u32.u64", {"wq", unary<convert, u32, u64>}},
        {"cvt.u32.u16", {"wh", unary<convert, u32, u16>}},
        {"cvt.u16.u32", {"hw", unary<convert, u16, u32>}},
        // Generic addresses of global memory are its addresses
        {"cvta.to.global.u64", {"qq", unary<same, u64>}},
    });
}

}  // namespace tilewalk::ptx

// Floating point in 32 bits: PTX 9.7.3. Without .ftz subnormal numbers are numbers; a result that is not a
// number is the canonical one, 0x7FFFFFFF.
#include "tests/cuda/ptx/floats.h"
#include "tests/cuda/ptx/instructions.h"
#include "tests/cuda/ptx/over_lanes.h"

namespace tilewalk::ptx {

namespace {

constexpr auto add = [](float a, float b) { return canonical(a + b); };
constexpr auto subtract = [](float a, float b) { return canonical(a - b); };
constexpr auto multiply = [](float a, float b) { return canonical(a * b); };
constexpr auto divide = [](float a, float b) { return canonical(a / b); };
constexpr auto reciprocal = [](float a) { return canonical(1 / a); };
constexpr auto negate = [](u32 a) { return a ^ 0x80000000u; };
constexpr auto absolute = [](u32 a) { return a & 0x7FFFFFFFu; };

// One rounding, to nearest
constexpr auto rounded_twice = [](float a, float b, float c) { return a * b + c; };
FOR_EACH_PROCESSOR void fuse_all_lanes(float* d, const float* a, const float* b, const float* c) {
    for (int lane = 0; lane < lanes; ++lane) d[lane] = canonical(std::fma(a[lane], b[lane], c[lane]));
}
// Lanes that take no part keep what they have.
void fuse(const Warp& warp, float* d, const float* a, const float* b, const float* c) {
    if (warp.active == all_lanes) return fuse_all_lanes(d, a, b, c);
    float all[lanes];
    fuse_all_lanes(all, a, b, c);
    over_lanes(warp, [d, &all](int lane) { d[lane] = all[lane]; });
}
void fused_to_nearest(Warp& warp, const Instruction& in) {
    if (warp.block.machine.plain_arithmetic || warp.faulty(Fault::fused_rounds_twice))
        ternary<rounded_twice, float>(warp, in);
    else
        fuse(warp, warp.row<float>(in.at[0]), warp.row<float>(in.at[1]), warp.row<float>(in.at[2]),
             warp.row<float>(in.at[3]));
}

// One rounding, down. The product is exact in double, and of its sum with c the error is known (Knuth's
// two-sum): what was rounded up is one number too high.
constexpr auto fused_down = [](float a, float b, float c) {
    const float nearest = std::fma(a, b, c);
    const double product = double(a) * b, sum = product + c;
    const double of_c = sum - product, error = (product - (sum - of_c)) + (c - of_c);
    if (nearest == 0 && product + c == 0 && !(std::signbit(product) == 0 && std::signbit(c) == 0))
        return -0.0f;
    const double above = (double(nearest) - sum) - error;
    return canonical(above > 0 ? std::nextafter(nearest, -INFINITY) : nearest);
};

// The other operand where one is no number; −0 is less than +0
constexpr auto most = [](float a, float b) {
    if (a != a) return canonical(b);
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
};
constexpr auto least = [](float a, float b) {
    if (a != a) return canonical(b);
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
};
constexpr auto second = [](float, float b) { return b; };
void maximum(Warp& warp, const Instruction& in) {
    if (warp.faulty(Fault::maximum_forgets))
        binary<second, float>(warp, in);
    else
        binary<most, float>(warp, in);
}

// PTX allows a relative error of 2^−22, two units in the last place; this is the nearest number.
constexpr auto exponential = [](float x) {
    return canonical(flushed(static_cast<float>(std::exp2(double(flushed(x))))));
};
// Of the other approximations PTX allows one or two units in the last place, too
constexpr auto logarithm = [](float x) {
    return canonical(static_cast<float>(std::log2(double(flushed(x)))));
};
constexpr auto inverse_root = [](float x) {
    return canonical(static_cast<float>(1 / std::sqrt(double(flushed(x)))));
};
constexpr auto inverse = [](float x) { return canonical(flushed(1 / flushed(x))); };
constexpr auto root = [](float x) { return canonical(std::sqrt(x)); };
constexpr auto exponential_with_subnormals = [](float x) {
    return canonical(static_cast<float>(std::exp2(double(x))));
};
constexpr auto coarse = [](float x) { return exponential(x) * (1 + 0x1p-11f); };
void exponential_of_two(Warp& warp, const Instruction& in) {
    if (warp.faulty(Fault::coarse_exponential))
        unary<coarse, float>(warp, in);
    else
        unary<exponential, float>(warp, in);
}

// .sat: into [0, 1], what is no number becomes 0
constexpr auto saturate = [](float x) { return x > 0 ? x < 1 ? x : 1.0f : 0.0f; };

}  // namespace

void add_floats(InstructionTable& table) {
    table.insert({
        {"add.f32", {"www", binary<add, float>}},
        {"add.rn.f32", {"www", binary<add, float>}},
        {"sub.f32", {"www", binary<subtract, float>}},
        {"sub.rn.f32", {"www", binary<subtract, float>}},
        {"mul.f32", {"www", binary<multiply, float>}},
        {"mul.rn.f32", {"www", binary<multiply, float>}},
        {"fma.rn.f32", {"wwww", fused_to_nearest}},
        {"fma.rm.f32", {"wwww", ternary<fused_down, float>}},
        {"div.rn.f32", {"www", binary<divide, float>}},
        {"rcp.rn.f32", {"ww", unary<reciprocal, float>}},
        {"max.f32", {"www", maximum}},
        {"min.f32", {"www", binary<least, float>}},
        {"neg.f32", {"ww", unary<negate, u32>}},
        {"abs.f32", {"ww", unary<absolute, u32>}},
        {"ex2.approx.ftz.f32", {"ww", exponential_of_two}},
        {"ex2.approx.f32", {"ww", unary<exponential_with_subnormals, float>}},
        {"lg2.approx.ftz.f32", {"ww", unary<logarithm, float>}},
        {"rsqrt.approx.ftz.f32", {"ww", unary<inverse_root, float>}},
        {"rcp.approx.ftz.f32", {"ww", unary<inverse, float>}},
        {"sqrt.rn.f32", {"ww", unary<root, float>}},
        {"cvt.sat.f32.f32", {"ww", unary<saturate, float>}},
    });
}

}  // namespace tilewalk::ptx

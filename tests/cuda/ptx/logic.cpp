// Bits, predicates and choices: PTX 9.7.8, 9.7.6, 9.7.7.
#include "tests/cuda/ptx/instructions.h"
#include "tests/cuda/ptx/over_lanes.h"

namespace tilewalk::ptx {

namespace {

constexpr auto both = [](auto a, auto b) { return a & b; };
constexpr auto either = [](auto a, auto b) { return a | b; };
constexpr auto differ = [](auto a, auto b) { return a ^ b; };
constexpr auto invert = [](auto a) { return ~a; };
constexpr auto same = [](auto a) { return a; };

// Comparisons without u are false where a float is a NaN; `ne` as well: PTX 9.3.2
constexpr auto equal = [](auto a, auto b) { return a == b; };
constexpr auto unequal = [](auto a, auto b) { return a < b || a > b; };
constexpr auto less = [](auto a, auto b) { return a < b; };
constexpr auto less_or_equal = [](auto a, auto b) { return a <= b; };
constexpr auto greater = [](auto a, auto b) { return a > b; };
constexpr auto greater_or_equal = [](auto a, auto b) { return a >= b; };

// Those with u are true there
template <auto f> constexpr auto or_unordered = [](auto a, auto b) { return f(a, b) || a != a || b != b; };

template <auto f, class T> void compare(Warp& warp, const Instruction& in) {
    const T *const a = warp.row<T>(in.at[1]), *const b = warp.row<T>(in.at[2]);
    Mask found = 0;
    for (int lane = 0; lane < lanes; ++lane) found |= Mask(f(a[lane], b[lane])) << lane;
    set_predicate(warp, in.at[0], found);
}

template <auto f> void combine(Warp& warp, const Instruction& in) {
    set_predicate(warp, in.at[0], f(warp.predicate(in.at[1]), warp.predicate(in.at[2])));
}
template <auto f> void convert(Warp& warp, const Instruction& in) {
    set_predicate(warp, in.at[0], f(warp.predicate(in.at[1])));
}

template <class T> void select(Warp& warp, const Instruction& in) {
    T* const d = warp.row<T>(in.at[0]);
    const T *const a = warp.row<T>(in.at[1]), *const b = warp.row<T>(in.at[2]);
    const Mask p = warp.predicate(in.at[3]) ^ (warp.faulty(Fault::select_upside_down) ? all_lanes : 0);
    over_lanes(warp, [=](int lane) { d[lane] = p >> lane & 1 ? a[lane] : b[lane]; });
}

// {low, high} to one and back: PTX 9.7.9.5
void pack(Warp& warp, const Instruction& in) {
    u32* const d = warp.row<u32>(in.at[0]);
    const u16 *const low = warp.row<u16>(in.at[1]), *const high = warp.row<u16>(in.at[2]);
    over_lanes(warp, [=](int lane) { d[lane] = low[lane] | u32(high[lane]) << 16; });
}
void unpack(Warp& warp, const Instruction& in) {
    u16 *const low = warp.row<u16>(in.at[0]), *const high = warp.row<u16>(in.at[1]);
    const u32* const a = warp.row<u32>(in.at[2]);
    over_lanes(warp, [=](int lane) {
        low[lane] = static_cast<u16>(a[lane]);
        high[lane] = static_cast<u16>(a[lane] >> 16);
    });
}

template <class T>
void add_comparisons(InstructionTable& table, const std::string& type, const char* operands) {
    table["setp.eq." + type] = {operands, compare<equal, T>};
    table["setp.ne." + type] = {operands, compare<unequal, T>};
    table["setp.lt." + type] = {operands, compare<less, T>};
    table["setp.le." + type] = {operands, compare<less_or_equal, T>};
    table["setp.gt." + type] = {operands, compare<greater, T>};
    table["setp.ge." + type] = {operands, compare<greater_or_equal, T>};
}

}  // namespace

void add_logic(InstructionTable& table) {
    add_comparisons<s32>(table, "s32", "pww");
    add_comparisons<u32>(table, "u32", "pww");
    add_comparisons<s64>(table, "s64", "pqq");
    add_comparisons<u64>(table, "u64", "pqq");
    add_comparisons<float>(table, "f32", "pww");
    table["setp.equ.f32"] = {"pww", compare<or_unordered<equal>, float>};
    table["setp.neu.f32"] = {"pww", compare<or_unordered<unequal>, float>};
    table["setp.ltu.f32"] = {"pww", compare<or_unordered<less>, float>};
    table["setp.leu.f32"] = {"pww", compare<or_unordered<less_or_equal>, float>};
    table["setp.gtu.f32"] = {"pww", compare<or_unordered<greater>, float>};
    table["setp.geu.f32"] = {"pww", compare<or_unordered<greater_or_equal>, float>};
    table.insert({
        {"setp.eq.b16", {"phh", compare<equal, u16>}}, {"setp.ne.b16", {"phh", compare<unequal, u16>}},
        {"setp.eq.b32", {"pww", compare<equal, u32>}}, {"setp.ne.b32", {"pww", compare<unequal, u32>}},
        {"and.b16", {"hhh", binary<both, u16>}},       {"and.b32", {"www", binary<both, u32>}},
        {"and.b64", {"qqq", binary<both, u64>}},       {"and.pred", {"ppp", combine<both>}},
        {"or.b16", {"hhh", binary<either, u16>}},      {"or.b32", {"www", binary<either, u32>}},
        {"or.b64", {"qqq", binary<either, u64>}},      {"or.pred", {"ppp", combine<either>}},
        {"xor.b16", {"hhh", binary<differ, u16>}},     {"xor.b32", {"www", binary<differ, u32>}},
        {"xor.b64", {"qqq", binary<differ, u64>}},     {"xor.pred", {"ppp", combine<differ>}},
        {"not.b32", {"ww", unary<invert, u32>}},       {"not.b64", {"qq", unary<invert, u64>}},
        {"not.pred", {"pp", convert<invert>}},         {"mov.pred", {"pp", convert<same>}},
        {"mov.b16", {"hh", unary<same, u16>}},         {"mov.u16", {"hh", unary<same, u16>}},
        {"mov.b32", {"ww", unary<same, u32>}},         {"mov.u32", {"ww", unary<same, u32>}},
        {"mov.f32", {"ww", unary<same, u32>}},         {"mov.b64", {"qq", unary<same, u64>}},
        {"mov.u64", {"qq", unary<same, u64>}},         {"mov.b32 pack", {"whh", pack}},
        {"mov.b32 unpack", {"hhw", unpack}},           {"selp.b16", {"hhhp", select<u16>}},
        {"selp.b32", {"wwwp", select<u32>}},           {"selp.f32", {"wwwp", select<u32>}},
        {"selp.b64", {"qqqp", select<u64>}},
    });
}

}  // namespace tilewalk::ptx

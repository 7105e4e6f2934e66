// Loads, stores and atomics: PTX 9.7.9.8, 9.7.9.11, 9.7.13.5. A vector is aligned to its size (PTX 6.4.1.1).
#include "tests/cuda/ptx/floats.h"
#include "tests/cuda/ptx/instructions.h"
#include "tests/cuda/ptx/over_lanes.h"

#include <cstring>

namespace tilewalk::ptx {

namespace {

template <Space space, class T, int n> void load(Warp& warp, const Instruction& in) {
    const bool reversed = n > 1 && warp.faulty(Fault::vector_reversed);
    for (Mask left = warp.active; left; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const unsigned char* const from = warp.access(space, warp.address(in, n, 0, in.wide, lane),
                                                      sizeof(T) * n, sizeof(T) * n, lane, false, in);
        for (int e = 0; e < n; ++e)
            std::memcpy(&warp.row<T>(in.at[static_cast<std::size_t>(reversed ? n - 1 - e : e)])[lane],
                        from + static_cast<std::size_t>(e) * sizeof(T), sizeof(T));
    }
}

// Into a register of 64 bits, with zeros or the sign
template <Space space, class T, class D> void load_wide(Warp& warp, const Instruction& in) {
    for (Mask left = warp.active; left; left &= left - 1) {
        const int lane = std::countr_zero(left);
        T x;
        std::memcpy(
            &x,
            warp.access(space, warp.address(in, 1, 0, in.wide, lane), sizeof(T), sizeof(T), lane, false, in),
            sizeof(T));
        warp.row<D>(in.at[0])[lane] = x;
    }
}

template <Space space, class T, int n> void store(Warp& warp, const Instruction& in) {
    for (Mask left = warp.active; left; left &= left - 1) {
        const int lane = std::countr_zero(left);
        unsigned char* const to = warp.access(space, warp.address(in, 0, 0, in.wide, lane), sizeof(T) * n,
                                              sizeof(T) * n, lane, true, in);
        for (int e = 0; e < n; ++e)
            std::memcpy(to + static_cast<std::size_t>(e) * sizeof(T),
                        &warp.row<T>(in.at[static_cast<std::size_t>(e + 1)])[lane], sizeof(T));
    }
}

// Lane after lane: PTX leaves the order open. In global memory subnormal numbers are flushed.
template <std::size_t address, std::size_t value, bool gives_old>
void add_atomically(Warp& warp, const Instruction& in) {
    for (Mask left = warp.active; left; left &= left - 1) {
        const int lane = std::countr_zero(left);
        unsigned char* const at =
            warp.access(Space::global, warp.address(in, address, 0, in.wide, lane), 4, 4, lane, true, in);
        float old;
        std::memcpy(&old, at, 4);
        const float x = warp.row<float>(in.at[value])[lane];
        const float sum =
            warp.faulty(Fault::atomic_overwrites) ? x : canonical(flushed(flushed(old) + flushed(x)));
        std::memcpy(at, &sum, 4);
        if (gives_old) warp.row<float>(in.at[0])[lane] = old;
    }
}

// ld.global.v2.u32: the space, the elements, their type
template <Space space, class T>
void add_accesses(InstructionTable& table, const std::string& name, char letter, const std::string& type) {
    const auto letters = [letter](int n, bool stores) {
        const std::string values(static_cast<std::size_t>(n), letter);
        return stores ? "a" + values : values + "a";
    };
    const std::string after = name + ".";
    table["ld." + after + type] = {letters(1, false), load<space, T, 1>};
    table["ld." + after + "v2." + type] = {letters(2, false), load<space, T, 2>};
    if constexpr (sizeof(T) <= 4)
        table["ld." + after + "v4." + type] = {letters(4, false), load<space, T, 4>};
    if (space == Space::parameters || name == "global.nc") return;
    table["st." + after + type] = {letters(1, true), store<space, T, 1>};
    table["st." + after + "v2." + type] = {letters(2, true), store<space, T, 2>};
    if constexpr (sizeof(T) <= 4)
        table["st." + after + "v4." + type] = {letters(4, true), store<space, T, 4>};
}

template <Space space> void add_space(InstructionTable& table, const std::string& name) {
    for (const char* type : {"u16", "b16"}) add_accesses<space, u16>(table, name, 'h', type);
    for (const char* type : {"u32", "s32", "b32", "f32"}) add_accesses<space, u32>(table, name, 'w', type);
    for (const char* type : {"u64", "s64", "b64"}) add_accesses<space, u64>(table, name, 'q', type);
    table["ld." + name + ".s32 wide"] = {"qa", load_wide<space, s32, s64>};
    table["ld." + name + ".u32 wide"] = {"qa", load_wide<space, u32, u64>};
}

}  // namespace

void add_memory(InstructionTable& table) {
    add_space<Space::parameters>(table, "param");
    add_space<Space::global>(table, "global");
    add_space<Space::global>(table, "global.nc");  // through the texture cache; there is no such store
    add_space<Space::shared>(table, "shared");
    add_space<Space::local>(table, "local");
    table["atom.global.add.f32"] = {"waw", add_atomically<1, 2, true>};
    table["red.global.add.f32"] = {"aw", add_atomically<0, 1, false>};
}

}  // namespace tilewalk::ptx

// Stands before cuda/device/device.h when tests/cuda/prover/launches.cpp is built: the emulator's names, but
// a launch runs nothing. It writes down which kernel, grid and arguments it is.
#pragma once

#include "cuda/emulator/stream.h"
#include "cuda/launch/product.h"

#define launch launch_on_emulator
#include_next "cuda/device/device.h"
#undef launch

#include <type_traits>
#include <vector>

namespace tilewalk::gpu {

/// One argument of a launch: `kind` is "pointer", "s32", "u64", "Arguments" or "s32s", a struct of numbers of
/// 32 bits.
struct Parameter {
    const char* kind;
    std::vector<unsigned char> bytes;
};
struct Launch {
    const void* kernel;
    Grid grid;
    std::vector<Parameter> parameters;
};
inline std::vector<Launch> launched;

template <class A> const char* kind_of() {
    if (std::is_pointer_v<A>) return "pointer";
    if (std::is_same_v<A, Arguments>) return "Arguments";
    if (std::is_same_v<A, std::int64_t>) return "u64";  // as nvcc declares it
    static_assert(std::is_class_v<A> || std::is_pointer_v<A> || std::is_same_v<A, std::int64_t> ||
                  std::is_same_v<A, int>);
    return std::is_same_v<A, int> ? "s32" : "s32s";
}
template <class A> Parameter parameter(const A& a) {
    const auto* const begin = reinterpret_cast<const unsigned char*>(&a);
    return {kind_of<A>(), {begin, begin + sizeof a}};
}

namespace on_emulator {

template <class... P, class... A>
void launch(Stream&, const Grid& grid, void (*kernel)(P...), const A&... arguments) {
    launched.push_back({reinterpret_cast<const void*>(kernel),
                        grid,
                        {parameter<std::remove_const_t<P>>(static_cast<P>(arguments))...}});
}

}  // namespace on_emulator
}  // namespace tilewalk::gpu

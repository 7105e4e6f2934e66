// Tensors as they lie in memory: float32, or numbers of 16 bits. Arithmetic is in float32 either way: kernels
// convert where they read and write.
#pragma once

#include "core/base/dtype.h"
#include "core/base/float16.h"
#include "core/base/platform.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tilewalk::cpu {

using gpu::emulator::bf16;
using gpu::emulator::f16;
using gpu::emulator::from_float;
using gpu::emulator::to_float;

/// Whether the kernels are compiled for 16 bits as well. For a page, which is loaded before it is seen, what
/// they take is too much; the engine refuses the types there.
inline constexpr bool takes_16_bits = !in_browser;

/// Calls use(x) with some x of the type that `type` means: float, f16 or bf16.
template <class Use> void with_type([[maybe_unused]] DType type, const Use& use) {
    if constexpr (takes_16_bits) {
        if (type == DType::f16) return use(f16());
        if (type == DType::bf16) return use(bf16());
    }
    assert(type == DType::f32);
    use(float());
}
template <class T>
constexpr DType type_of = std::is_same_v<T, f16>    ? DType::f16
                          : std::is_same_v<T, bf16> ? DType::bf16
                                                    : DType::f32;

/// Where elements of a tensor begin, and their type. Counted in elements, as a pointer to them is.
template <class Void> class ElementsAt {
public:
    ElementsAt(std::nullptr_t = nullptr) {}
    template <class T> ElementsAt(T* at) : first(at), stored(type_of<std::remove_const_t<T>>) {}
    ElementsAt(Void* at, DType type) : first(at), stored(type) {}
    operator ElementsAt<const void>() const requires(!std::is_const_v<Void>) { return {first, stored}; }

    DType type() const { return stored; }
    std::int64_t element_bytes() const { return stored == DType::f32 ? 4 : 2; }
    ElementsAt operator+(std::int64_t elements) const {
        using Byte = std::conditional_t<std::is_const_v<Void>, const char, char>;
        return {static_cast<Byte*>(first) + elements * element_bytes(), stored};
    }
    template <class T> auto* as() const {
        return static_cast<std::conditional_t<std::is_const_v<Void>, const T, T>*>(first);
    }

private:
    Void* first = nullptr;
    DType stored = DType::f32;
};
using Elements = ElementsAt<const void>;
using WritableElements = ElementsAt<void>;

/// `count` of them as float32; and back, each to the nearest, ties to even. With the vectors of the
/// instruction set in use (lanes.cpp).
void to_floats(Elements from, std::int64_t count, float* to);
void from_floats(const float* from, std::int64_t count, WritableElements to);

}  // namespace tilewalk::cpu

// Plain names that the kernels share with the rest of the program; nothing newer than C++17, for nvcc's sake.
#pragma once

namespace tilewalk {

enum class Direction { forward, backward };
enum class DType { f32, f16, bf16 };

}  // namespace tilewalk

// Where cuBLAS may be on this machine. C++17, for nvcc.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tilewalk::gpu {

/// A variable of the environment; null where it is not set.
using Environment = std::function<const char*(const char*)>;

/// What to open, the most wanted first: what TILEWALK_CUBLAS names and nothing else, or the names that the
/// system's loader knows, then libraries of toolkits that were installed by NVIDIA's own installer, and of
/// Python packages. Of several versions the newest comes first.
std::vector<std::string> cublas_places(const Environment& environment);

}  // namespace tilewalk::gpu

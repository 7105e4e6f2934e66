#pragma once

namespace tilewalk {

/// Of the program, as in CMakeLists.txt.
constexpr const char* version = "0.1.0";

}  // namespace tilewalk

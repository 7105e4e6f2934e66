// Where a call of a name of the device stands in a kernel's source.
#pragma once

#include <version>

#ifdef __cpp_lib_source_location
#include <source_location>
#else
#include <cstdint>
#endif

namespace tilewalk::gpu {

#ifdef __cpp_lib_source_location
using At = std::source_location;
#else
// clang before 15, with which clang-tidy reads us, lacks what the library's own is made of.
class At {
public:
    static constexpr At current(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE(),
                                std::uint32_t column = __builtin_COLUMN()) {
        At at;
        at.file = file, at.lines = line, at.columns = column;
        return at;
    }
    constexpr const char* file_name() const { return file; }
    constexpr std::uint32_t line() const { return lines; }
    constexpr std::uint32_t column() const { return columns; }

private:
    const char* file = "";
    std::uint32_t lines = 0, columns = 0;
};
#endif

}  // namespace tilewalk::gpu

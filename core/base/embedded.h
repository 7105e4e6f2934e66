// A file that travels inside the program; the build writes the definitions (cmake/embed.cmake).
#pragma once

#include <string_view>

namespace tilewalk {

struct EmbeddedFile {
    const char* name;       ///< file name, mostly without its ending: "worked-4x4"
    std::string_view text;  ///< the whole file
};

}  // namespace tilewalk

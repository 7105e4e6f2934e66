// The text of a kernel, and what its comments say of a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::inside {

struct SourceText {
    std::string file;  ///< "cuda/kernels/bands.h"
    std::vector<std::string_view> lines;

    int count() const { return static_cast<int>(lines.size()); }
    /// From 1; empty where there is none.
    std::string_view line(int n) const;
};
SourceText source_text(std::string file, std::string_view text);

/// What the file says of itself at its top, as one text.
std::string idea_of(const SourceText& source);
/// The comment that stands nearest above the line in the same function, as one text; empty: there is none.
std::string comment_on(const SourceText& source, int line);
/// The comment behind the line's code, else the one above it; empty: there is none.
std::string remark_on(const SourceText& source, int line);
/// The function that the line stands in: "multiply_QK"; empty if that is not plain.
std::string function_of(const SourceText& source, int line);

}  // namespace tilewalk::inside

// The text of a kernel, and what its comments say of a line.
#pragma once

#include <optional>
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
/// Whether a name of C++ may have this letter.
bool in_name(char c);

/// What the file says of itself at its top, as one text.
std::string idea_of(const SourceText& source);
/// The comment that stands nearest above the line in the same function, as one text; empty: there is none.
std::string comment_on(const SourceText& source, int line);
/// The comment behind the line's code, else the one right above its paragraph, which no empty line and no
/// block that begins lies between; empty: there is none.
std::string remark_on(const SourceText& source, int line);
/// What stands above the function that the line is in; empty: nothing.
std::string comment_on_function(const SourceText& source, int line);
/// Where a number that a line reads is multiplied by plain arithmetic, which no record has: that line or one
/// below it, and the names of both factors.
struct PlainProduct {
    int line = 0;                       ///< of the product
    std::string left, right;            ///< "q", "k"
    int left_line = 0, right_line = 0;  ///< where each is read; 0: that is not plain
};
/// Nothing: there is none, or that is not plain.
std::optional<PlainProduct> plain_product(const SourceText& source, int line);
/// The function that the line stands in: "multiply_QK"; empty if that is not plain.
std::string function_of(const SourceText& source, int line);

}  // namespace tilewalk::inside

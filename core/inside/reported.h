// What gcc's -fsanitize=alignment reports of an access is the pointer of its expression: of x = s[63] the
// array's begin, of (*rows)[n] the row's. The dump of that pass (-fdump-tree-ubsan-lineno) has both, the
// report and the access, and so how far behind the reported pointer it lies.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tilewalk::inside {

/// By site: bytes from the reported pointer to the access. Nothing: it cannot be told.
using Reported = std::map<std::string, std::optional<std::int64_t>>;

/// "my.cu:7:8", and which of the two it does.
std::string reported_site(std::string_view file, int line, int column, bool stores);
Reported reported_by_gcc(std::string_view dump);

}  // namespace tilewalk::inside

// Pieces of JSON text that are written as a stream, without a tree in memory.
#pragma once

#include <string>

namespace tilewalk {

/// 17 significant digits, which read back as the same double; "inf", "-inf" and "nan" in quotes, because
/// JSON has no numbers for them.
std::string json_number(double value);
/// In quotes and escaped; bytes that are no UTF-8 become U+FFFD.
std::string json_string(const std::string& text);

}  // namespace tilewalk

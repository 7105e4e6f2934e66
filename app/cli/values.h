// Values of options: from what was typed to numbers and choices, or a sentence that names the option.
#pragma once

#include "core/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewalk {

/// A whole number in low … high.
Result<std::int64_t> whole_number(const std::string& option, const std::string& text, std::int64_t low,
                                  std::int64_t high);
/// A finite number.
Result<double> finite_number(const std::string& option, const std::string& text, const char* expected);
/// "1600x900": two whole numbers, each from 1 to 10⁹.
struct Size {
    int width = 0, height = 0;
};
Result<Size> size_pair(const std::string& option, const std::string& text, const char* expected);
/// The index of `text` in `choices`. `later`: names that exist elsewhere but not in this version.
Result<int> choice(const std::string& option, const std::string& text,
                   const std::vector<std::string>& choices, const std::vector<std::string>& later = {});

/// "text, json or md".
std::string listed(const std::vector<std::string>& names, const std::string& conjunction = "or");

}  // namespace tilewalk

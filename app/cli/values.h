// Values of options: from what was typed to numbers and choices, or a sentence that names the option.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewalk {

/// A whole number in low … high.
Result<std::int64_t> whole_number(const std::string& option, const std::string& text, std::int64_t low,
                                  std::int64_t high);
/// Takes a whole number in 1 … most into `target`, which stays as it is without a word; a sentence if it is
/// none.
std::optional<std::string> read_number(const char* option, const std::optional<std::string>& word,
                                       std::int64_t most, std::int64_t& target);
/// "512,1024" as numbers, each in low … high, at most `most` of them.
Result<std::vector<std::int64_t>> whole_numbers(const std::string& option, const std::string& text,
                                                std::int64_t low, std::int64_t high, std::size_t most);
/// Bytes: "8000000000", "500M", "8GiB"; K, M, G, T are powers of 1000, Ki, Mi, Gi, Ti of 1024.
Result<std::int64_t> byte_count(const std::string& option, const std::string& text);
/// A finite number.
Result<double> finite_number(const std::string& option, const std::string& text, const char* expected);
/// "1600x900": two whole numbers, each from 1 to 10⁹.
struct Size {
    int width = 0, height = 0;
};
Result<Size> size_pair(const std::string& option, const std::string& text, const char* expected);
/// The index of `text` in `choices`.
Result<int> choice(const std::string& option, const std::string& text,
                   const std::vector<std::string>& choices);

/// The parts of "a,b,c".
std::vector<std::string> split_at_commas(const std::string& text);

}  // namespace tilewalk

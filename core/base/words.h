// Small pieces of text that sentences are made of.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk {

inline std::string str(std::integral auto n) { return std::to_string(n); }
/// A to Z become a to z; all other bytes stay.
std::string lower_case(std::string_view text);
/// Its first letter, if it is one of a to z, becomes a capital: the start of a sentence.
std::string capitalised(std::string text);
/// "a", "a or b", "a, b or c"
std::string listed(const std::vector<std::string>& words, const std::string& conjunction = "or");
/// A line of a table for spreadsheets: what holds a comma, a quote or a line break goes into quotes (RFC
/// 4180).
std::string csv_line(const std::vector<std::string>& fields);
/// "tile (0, 1)"
std::string tile_text(int i, int j);
/// "2…5", both counted; "2" where they are the same.
std::string range_text(int first, int last);

}  // namespace tilewalk

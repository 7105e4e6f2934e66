// Small pieces of text that sentences are made of.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
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
/// "a, b, c"
std::string joined(const std::vector<std::string>& words, std::string_view between = ", ");
/// What stands between spaces.
std::vector<std::string> words_of(const std::string& text);
/// With `by` in place of every `what`.
std::string replaced(std::string text, std::string_view what, std::string_view by);
/// "1 row", "2 rows".
inline std::string counted(std::integral auto n, const std::string& noun) {
    return str(n) + " " + noun + (n == 1 ? "" : "s");
}
/// The whole text as a number; a plus sign is no part of one.
template <class Number> std::optional<Number> number_in(std::string_view text) {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}
/// The byte goes on with a character of UTF-8 that began before it.
constexpr bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
/// Without its last character.
void drop_last_character(std::string& text);
/// A line of a table for spreadsheets: what holds a comma, a quote or a line break goes into quotes (RFC
/// 4180).
std::string csv_line(const std::vector<std::string>& fields);
/// "tile (0, 1)"
std::string tile_text(int i, int j);
/// "2…5", both counted; "2" where they are the same.
std::string range_text(int first, int last);

}  // namespace tilewalk

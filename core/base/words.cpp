#include "core/base/words.h"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace tilewalk {

std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

namespace {

// A symbol stays what it is where a sentence begins with it: "m stays 0", "x[2] is read", "dQ is whole",
// "exp(0) is 1". A letter on its own that is not the article is one.
bool begins_with_symbol(std::string_view text) {
    const auto not_small = [](char c) { return c < 'a' || c > 'z'; };
    const auto end = static_cast<std::size_t>(std::ranges::find_if(text, not_small) - text.begin());
    const char next = end < text.size() ? text[end] : ' ';
    if (next == '(' || (next >= 'A' && next <= 'Z')) return true;
    return end == 1 && !(text[0] == 'a' && next == ' ');
}

}  // namespace

std::string capitalised(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z' && !begins_with_symbol(text))
        text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

std::string listed(const std::vector<std::string>& words, const std::string& conjunction) {
    std::string out;
    for (std::size_t n = 0; n < words.size(); ++n)
        out += (n == 0 ? std::string() : n + 1 == words.size() ? " " + conjunction + " " : ", ") + words[n];
    return out;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
    std::string text;
    for (const std::string& word : words) text.append(text.empty() ? "" : between).append(word);
    return text;
}

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    stream.exceptions(std::ios::badbit);  // no word is left out in silence when memory runs out
    return {std::istream_iterator<std::string>(stream), {}};
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
    return text;
}

void drop_last_character(std::string& text) {
    while (!text.empty() && continues_character(text.back())) text.pop_back();
    if (!text.empty()) text.pop_back();
}

std::string csv_line(const std::vector<std::string>& fields) {
    std::string line;
    for (const std::string& field : fields) {
        const bool quoted = field.find_first_of(",\"\r\n") != std::string::npos;
        if (&field != &fields.front()) line += ',';
        if (quoted) line += '"';
        for (char c : field) line += quoted && c == '"' ? "\"\"" : std::string(1, c);
        if (quoted) line += '"';
    }
    return line + "\n";
}

std::string tile_text(int i, int j) { return "tile (" + str(i) + ", " + str(j) + ")"; }

std::string range_text(int first, int last) { return str(first) + (first == last ? "" : "…" + str(last)); }

}  // namespace tilewalk

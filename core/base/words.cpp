#include "core/base/words.h"

namespace tilewalk {

std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

std::string capitalised(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

std::string listed(const std::vector<std::string>& words, const std::string& conjunction) {
    std::string out;
    for (std::size_t n = 0; n < words.size(); ++n)
        out += (n == 0 ? std::string() : n + 1 == words.size() ? " " + conjunction + " " : ", ") + words[n];
    return out;
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

#include "app/io/text.h"

#include "core/base/matrix_text.h"

#include <algorithm>

namespace tilewalk {

std::string shortest(double value) { return exact_text(value); }

namespace {

/// Bytes of the UTF-8 character that text begins with; 0 when it is none.
std::size_t character_length(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const std::size_t n = lead < 0x80                   ? 1
                          : lead >= 0xC2 && lead < 0xE0 ? 2
                          : lead >= 0xE0 && lead < 0xF0 ? 3
                          : lead >= 0xF0 && lead < 0xF5 ? 4
                                                        : 0;
    if (n == 0 || n > text.size()) return 0;
    for (std::size_t k = 1; k < n; ++k)
        if ((static_cast<unsigned char>(text[k]) & 0xC0) != 0x80) return 0;
    return n;
}

/// C0, DEL, C1, the line separators and the marks of writing direction, each as its UTF-8 bytes.
bool is_control(std::string_view character) {
    const auto byte = [character](std::size_t n) { return static_cast<unsigned char>(character[n]); };
    if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
    if (character.size() == 2) return (byte(0) == 0xC2 && byte(1) < 0xA0) || character == "\u061C";
    if (character.size() != 3 || byte(0) != 0xE2) return false;
    return character == "\u200E" || character == "\u200F" ||
           (byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE) ||  // U+2028 … U+202E
           (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9);    // U+2066 … U+2069
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string in_quotes(std::string_view text) {
    std::string shown = "\"";
    for (int characters = 0; !text.empty(); ++characters) {
        if (characters == 24) return shown + "...\"";
        const std::size_t n = character_length(text);
        if (n == 0 || is_control(text.substr(0, n)))
            shown += '?';
        else
            shown += text.substr(0, n);
        text.remove_prefix(n == 0 ? 1 : n);
    }
    return shown + "\"";
}

std::string without_controls(std::string_view text, char stand_in) {
    std::string shown;
    while (!text.empty()) {
        const std::size_t n = std::max<std::size_t>(character_length(text), 1);
        if (is_control(text.substr(0, n)))
            shown += stand_in;
        else
            shown += text.substr(0, n);
        text.remove_prefix(n);
    }
    return shown;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t n = character_length(text);
        if (n == 0) return false;
        text.remove_prefix(n);
    }
    return true;
}

std::string short_path(const std::string& path) {
    constexpr std::size_t most = 200, head = 60;
    if (path.size() <= most) return path;
    std::size_t first = head, last = path.size() - (most - head);
    while (first > 0 && continues_character(path[first])) --first;
    while (last < path.size() && continues_character(path[last])) ++last;
    return path.substr(0, first) + "…" + path.substr(last);
}

std::string counted(long long n, const char* noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

Failure failure_at(const std::string& where, const std::string& what) {
    return {short_path(where) + ": " + what + (what.ends_with('.') ? "" : ".")};
}

}  // namespace tilewalk

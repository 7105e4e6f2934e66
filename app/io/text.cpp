#include "app/io/text.h"

#include <algorithm>

namespace tilewalk {
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
    return std::ranges::all_of(text.substr(1, n - 1), continues_character) ? n : 0;
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

}  // namespace

std::string in_quotes(std::string_view text) {
    std::string shown = "\"";
    for (int characters = 0; !text.empty(); ++characters) {
        if (characters == 24) return shown + "...\"";
        const std::size_t n = character_length(text);
        shown += n == 0 || is_control(text.substr(0, n)) ? std::string_view("?") : text.substr(0, n);
        text.remove_prefix(std::max<std::size_t>(n, 1));
    }
    return shown + "\"";
}

std::string without_controls(std::string_view text, char stand_in) {
    std::string shown;
    while (!text.empty()) {
        const auto character = text.substr(0, std::max<std::size_t>(character_length(text), 1));
        shown += is_control(character) ? std::string_view(&stand_in, 1) : character;
        text.remove_prefix(character.size());
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

std::string_view trimmed(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

std::string_view without_bom(std::string_view text) {
    return text.substr(text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
}

std::vector<std::string> split(std::string_view text, std::string_view between) {
    std::vector<std::string> parts;
    for (std::size_t end; (end = text.find(between)) != std::string_view::npos;) {
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(end + between.size());
    }
    parts.emplace_back(text);
    return parts;
}

int letters_in(std::string_view text) {
    return static_cast<int>(std::ranges::count_if(text, std::not_fn(continues_character)));
}

Failure failure_at(const std::string& where, const std::string& what) {
    return {short_path(where) + ": " + what + (what.ends_with('.') ? "" : ".")};
}

}  // namespace tilewalk

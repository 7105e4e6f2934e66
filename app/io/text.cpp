#include "app/io/text.h"

#include <charconv>
#include <cmath>

namespace tilewalk {

std::string shortest(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    // JSON readers take "-0" for the integer 0; the point keeps the sign.
    if (value == 0 && std::signbit(value)) return "-0.0";
    char buffer[32];
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
    return std::string(buffer, end);
}

namespace {

/// Bytes of the UTF-8 character that text begins with; 0 when it is none.
std::size_t character_length(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const std::size_t n = lead < 0x80                   ? 1
                          : lead >= 0xC2 && lead < 0xE0 ? 2
                          : lead >= 0xE0 && lead < 0xF0 ? 3
                                                        : 0;
    if (n == 0 || n > text.size()) return 0;
    for (std::size_t k = 1; k < n; ++k)
        if ((static_cast<unsigned char>(text[k]) & 0xC0) != 0x80) return 0;
    return n;
}

}  // namespace

std::string in_quotes(std::string_view text) {
    std::string shown = "\"";
    for (int characters = 0; !text.empty(); ++characters) {
        if (characters == 24) return shown + "...\"";
        const std::size_t n = character_length(text);
        const bool control = static_cast<unsigned char>(text[0]) < 0x20 || text[0] == 0x7F;
        if (n == 0 || control)
            shown += '?';
        else
            shown += text.substr(0, n);
        text.remove_prefix(n == 0 ? 1 : n);
    }
    return shown + "\"";
}

std::string counted(long long n, const char* noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

Failure failure_at(const std::string& where, const std::string& what) {
    return {where + ": " + what + (what.ends_with('.') ? "" : ".")};
}

}  // namespace tilewalk

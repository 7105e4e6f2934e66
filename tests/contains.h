// Does a text say something?
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tilewalk::test {

using namespace tilewalk;  // for the tests that say `using namespace tilewalk::test`

inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}
inline std::string repeated(std::string_view part, int times) {
    std::string text;
    for (int n = 0; n < times; ++n) text += part;
    return text;
}
/// Fails for each part that the text lacks, with the part and the beginning of the text; true if none is
/// missing. An empty part, which every text contains, fails as well.
inline bool check_contains(std::string_view text, std::initializer_list<std::string_view> parts) {
    std::size_t shown = std::min<std::size_t>(text.size(), 200);
    while (shown < text.size() && (text[shown] & 0xC0) == 0x80) --shown;  // not within a letter
    const std::string start = std::string(text.substr(0, shown)) + (shown < text.size() ? " …" : "");
    bool all = true;
    for (const std::string_view part : parts) {
        const bool there = !part.empty() && contains(text, part);
        CHECK_MESSAGE(there, "no '", std::string(part), "' in '", start, "'");
        all = all && there;
    }
    return all;
}

}  // namespace tilewalk::test

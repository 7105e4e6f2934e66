// Does a text say something?
#pragma once

#include <doctest/doctest.h>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tilewalk::test {

inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}
/// Fails for each part that the text lacks.
inline void check_contains(std::string_view text, std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) CHECK_MESSAGE(contains(text, part), std::string(part));
}

}  // namespace tilewalk::test

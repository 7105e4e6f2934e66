// A case that has nothing to look at here says so, and is not counted as passed.
#pragma once

#include <string_view>

namespace tilewalk::test {

/// The running case is left out, and why: "there is no GPU". To be called before anything is checked.
void skip(std::string_view why);

// The sanitizers take ten times as long and look for something else: a part of the cases is enough for them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool in_full = false;
#else
constexpr bool in_full = true;
#endif

}  // namespace tilewalk::test

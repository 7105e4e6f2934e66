// "Did you mean …?"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk {

/// The name that differs from `word` in the fewest letters, or that begins with it; empty if none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

/// "; did you mean x?", or `otherwise` when no name is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names,
                         const std::string& otherwise);

}  // namespace tilewalk

// Sums as they are printed: their terms are rounded, and so is what they come to.
#pragma once

#include <string>
#include <vector>

namespace tilewalk {

/// What stands before the total of printed terms: "=" where they come to it to the last digit that it shows,
/// else "≈".
const char* sign_before_total(const std::vector<std::string>& terms, const std::string& total);

}  // namespace tilewalk

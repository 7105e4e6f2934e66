// What a report shows, in sentences made from its numbers.
#pragma once

#include "core/engine/report.h"

namespace tilewalk {

/// Standard attention of any ladder: what the others are set beside.
bool is_standard(const std::string& kernel);
/// The one of them that a report has, the library's before the one by hand.
std::string standard_in(const BenchReport& report);
/// One sentence: time and extra memory of flash against standard at the largest length that both ran, and
/// where standard stops fitting. Says what is missing if that cannot be told.
std::string finding(const BenchReport& report);

}  // namespace tilewalk

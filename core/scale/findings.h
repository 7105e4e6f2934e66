// What a report shows, in sentences made from its numbers.
#pragma once

#include "core/scale/report.h"

namespace tilewalk {

/// Standard attention of any ladder: what the others are set beside.
bool is_standard(const std::string& kernel);
/// One sentence: time and extra memory of flash against standard at the largest length that both ran, and
/// where standard stops fitting. Says what is missing if that cannot be told.
std::string finding(const BenchReport& report);

}  // namespace tilewalk

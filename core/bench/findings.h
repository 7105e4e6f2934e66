// What a report shows, in sentences made from its numbers.
#pragma once

#include "core/engine/report.h"

namespace tilewalk {

/// Standard attention of any ladder: what the others are set beside.
bool is_standard(const std::string& kernel);
/// The one of them that a report has, the library's before the one by hand.
std::string standard_in(const BenchReport& report);
/// "87 %" of the peak or of reading. A share of more than all is none: "> 100 %".
std::string share_text(double share);
/// The share that a table has of the point: of reading where the report has the yardstick, else of the peak.
double share_of_limit(const BenchReport& report, const Point& point);
/// How many times as long PyTorch takes on the same workload, by the faster of its ways; 0 where either was
/// not measured, and for PyTorch and the yardstick themselves.
double times_of_torch(const BenchReport& report, const Point& point);
/// What others measured in the same run: "torch-flash".
bool is_torch(const Point& point);
/// Whether the report has PyTorch's times.
bool has_torch(const BenchReport& report);
/// What to make of "> 100 %", as a sentence; empty where no point has it.
std::string beyond_the_limit(const BenchReport& report);
/// One sentence: time and extra memory of flash against standard at the largest length that both ran, and
/// where standard stops fitting. Says what is missing if that cannot be told.
std::string finding(const BenchReport& report);

}  // namespace tilewalk

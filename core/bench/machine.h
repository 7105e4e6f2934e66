// This machine and this build, as the system and the compiler tell them.
#pragma once

#include "core/engine/report.h"

namespace tilewalk {

/// `cpuinfo` as /proc/cpuinfo: the model name, or "unknown".
std::string cpu_model(const std::string& cpuinfo);
/// CPU, cores, memory, system; threads, instructions and libraries are the engine's to fill in.
Machine this_machine();
Build this_build();

/// Memory that could be used without swapping: the least of what the system and the control groups of this
/// process leave. `root` stands for / in tests.
std::int64_t available_memory(const std::string& root = "");
/// Highest resident size of this process since reset_peak_rss(); 0 where the system does not tell, or could
/// not reset it.
std::int64_t peak_rss();
void reset_peak_rss();
std::string utc_now();  ///< "2026-11-21 22:10"

}  // namespace tilewalk

// A kernel's run as a file, to be opened where there is no GPU: everything of a KernelTrace.
#pragma once

#include "core/compare/kernel_trace.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace tilewalk {

/// {"schema":"tilewalk-compare-1", "kernel", "title", "run", "dtype", "kernel_d", "backward", "fault",
/// "problem", "tiles", "O", "L", "dQ", "dK", "dV"}. Floats have 9 digits, which read back as the same
/// float32; "inf", "-inf" and "nan" stand in quotes.
std::string bundle_to_json(const KernelTrace& trace);
/// Reads the same format; unknown keys are refused, keys that begin with "x-" or "comment" passed over, and
/// so are parts that do not fit together. Every sentence begins with `where`.
Result<KernelTrace> bundle_from_json(std::string_view text, const std::string& where);
/// True if the text names the schema of bundles.
bool is_bundle_json(std::string_view text);
/// The same of a file; false if it cannot be read.
bool is_bundle_file(const std::string& path);

/// Where it ran and what was made wrong, null for nothing, as parts of a file.
nlohmann::ordered_json json_of(const KernelRun& run);
nlohmann::ordered_json json_of(const KernelFault& fault);

Result<KernelTrace> load_bundle_file(const std::string& path);
Result<void> save_bundle_file(const std::string& path, const KernelTrace& trace);

}  // namespace tilewalk

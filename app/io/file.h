// Whole files in and out. Failures are sentences; a file that is written is there whole or not at all.
#pragma once

#include "core/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tilewalk {

constexpr std::size_t max_file_bytes = std::size_t{256} << 20;

/// All bytes of the file. Refused with a sentence: missing, a folder, not readable, more than `limit` bytes.
Result<std::string> read_file(const std::string& path, std::size_t limit = max_file_bytes);

/// Writes through a temporary file in the same folder and renames it, so that nobody sees half a file.
/// Devices and pipes are written directly. Returns the sentence of what went wrong; then the old file, if
/// any, is as it was and nothing new is left behind.
std::optional<std::string> write_file_atomic(const std::string& path, std::string_view bytes);

}  // namespace tilewalk

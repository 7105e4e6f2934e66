// Where results go: a file that is there whole or not at all, or the standard output.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

namespace tilewalk {

using Writer = std::function<void(std::ostream&)>;

/// Streams into a temporary file beside `path` and renames it. Devices and pipes are written directly.
/// Returns the sentence of what went wrong; then an old file is as it was and nothing new is left behind.
std::optional<std::string> write_to_file(const std::string& path, const Writer& write);

/// Writes and flushes; a sentence if the stream took not all of it.
std::optional<std::string> write_to_stream(std::ostream& out, const Writer& write);

}  // namespace tilewalk

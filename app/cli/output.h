// The standard output as a place for results.
#pragma once

#include "app/io/file.h"

#include <iosfwd>
#include <optional>
#include <string>

namespace tilewalk {

/// Writes and flushes; a sentence if the stream took not all of it. The sentence is empty when the reader
/// went away (tilewalk trace | head): that is no news to anybody.
std::optional<std::string> write_to_stream(std::ostream& out, const Writer& write);

}  // namespace tilewalk

// From JSON text to a tree, stricter than the grammar: no key twice, no bottomless nesting, places by line.
#pragma once

#include "core/base/result.h"

#include <nlohmann/json.hpp>

#include <string_view>

namespace tilewalk {

/// The tree of `text` (UTF-8, a byte order mark is skipped). Of a recorded trace (its "schema" says so) the
/// "steps" and "result", which are most of it, are left out. Failures carry no file name.
Result<nlohmann::json> parse_json(std::string_view text);

}  // namespace tilewalk

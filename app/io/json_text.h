// JSON between text and tree. Reading is stricter than the grammar: no key twice, no bottomless nesting,
// places by line. Writing lays a tree out as people do.
#pragma once

#include "core/base/matrix.h"
#include "core/base/matrix_text.h"
#include "core/base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace tilewalk {

/// The tree of `text` (UTF-8, a byte order mark is skipped). Of a recorded trace (its "schema" says so) the
/// "steps" and "result", which are most of it, are left out. Failures carry no file name.
Result<nlohmann::json> parse_json(std::string_view text);

/// In quotes and escaped; bytes that are no UTF-8 become U+FFFD.
std::string json_string(const std::string& text);
/// A list of rows. What JSON has no number for is a string: "inf", "-inf", "nan".
nlohmann::ordered_json json_of(const Matrix& matrix);
nlohmann::ordered_json json_of(double number);
/// The list or the object under a key; an empty one where there is none. `object[key].push_back(…)` on what
/// is not there yet makes it a list before it has the memory for one, and crashes where there is none.
nlohmann::ordered_json& list_in(nlohmann::ordered_json& object, const char* key);
nlohmann::ordered_json& object_in(nlohmann::ordered_json& object, const char* key);

struct JsonStyle {
    const char *comma = ", ", *colon = ": ";
    std::string (*number)(double) = exact_text;
};
/// The whole tree in one line, as files have it that people read.
std::string json_line(const nlohmann::ordered_json& tree, const JsonStyle& style = {});
/// One key of the object per line, and of a matrix one row.
std::string json_lines(const nlohmann::ordered_json& object);

}  // namespace tilewalk

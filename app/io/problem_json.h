// Problems as JSON: what the program saves, loads, and carries inside as its examples.
#pragma once

#include "core/problem.h"

#include <optional>
#include <string>
#include <string_view>

namespace tilewalk {

/// Reads {"schema":"tilewalk-problem-1", "title", "watch", "br", "bc", "causal", "window", "scale",
/// "element_bytes", "q", "k", "v", "do"}; all but q, k and v may be absent. Keys that begin with "x-" or
/// "comment" are passed over, other unknown keys are refused. Also takes a recorded trace
/// (schema tilewalk-trace-1) and gives its problem. The problem is valid (see validate). Every sentence
/// begins with `where`.
Result<Problem> problem_from_json(std::string_view text, const std::string& where);

/// The same format, one matrix row per line; numbers read back exactly. The name is not part of it.
std::string problem_to_json(const Problem& problem);

Result<Problem> load_problem_file(const std::string& path);
/// Refuses to save what it could not load. Returns the sentence of what went wrong.
std::optional<std::string> save_problem_file(const std::string& path, const Problem& problem);

}  // namespace tilewalk

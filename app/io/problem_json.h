// Problems as JSON: what the program saves, loads, and carries inside as its examples.
#pragma once

#include "core/walk/playback.h"

#include <string>
#include <string_view>

namespace tilewalk {

/// Reads {"schema":"tilewalk-problem-1", "title", "watch", "br", "bc", "causal", "window", "scale",
/// "element_bytes", "q", "k", "v", "do", "x", "w_q", "w_k", "w_v", "tokens", "options", "switches",
/// "savings", "precision", "view"}; all but q, k and v may be absent, and these too where x and the weights
/// are there. Keys that begin with "x-" or "comment" are passed over, other unknown keys are refused. Also
/// takes a recorded trace (schema tilewalk-trace-1) and gives its problem. The problem is valid (see
/// validate). Every sentence begins with `where`. `view`, if given, takes where a saved walk stands; empty if
/// the file does not say it.
Result<Problem> problem_from_json(std::string_view text, const std::string& where, SavedView* view = nullptr);

/// The same format, one matrix row per line; numbers read back exactly. The name is not part of it.
/// With a view it also says where the walk stands ("view").
std::string problem_to_json(const Problem& problem, const SavedView& view = {});

Result<Problem> load_problem_file(const std::string& path, SavedView* view = nullptr);
/// Refuses to save what it could not load. Returns the sentence of what went wrong.
Result<void> save_problem_file(const std::string& path, const Problem& problem, const SavedView& view = {});

}  // namespace tilewalk

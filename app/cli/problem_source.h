// The problem that the command line names.
#pragma once

#include "app/cli/arguments.h"
#include "core/problem.h"

namespace tilewalk {

/// Reads, makes or looks up the problem and applies the changes to it. Without a source: worked-4x4.
/// What one option says wrongly is refused here; whether the whole fits together, `validate` says.
Result<Problem> make_problem(const ProblemWords& words);

/// The problem of a file; of a recorded walk, the problem that was walked through.
Result<Problem> load_problem(const std::string& path);

}  // namespace tilewalk

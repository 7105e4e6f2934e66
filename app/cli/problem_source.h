// The problem that the command line names.
#pragma once

#include "app/cli/arguments.h"
#include "core/walk/playback.h"

namespace tilewalk {

/// Reads, makes or looks up the problem and applies the changes to it, after which an example is no longer
/// called one. Without a source: worked-4x4.
/// What one option says wrongly is refused here; whether the whole fits together, `validate` says.
Result<Problem> make_problem(const ProblemWords& words, SavedView* view = nullptr);

}  // namespace tilewalk

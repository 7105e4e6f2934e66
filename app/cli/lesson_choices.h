// The words of the command line that choose something within a lesson: row, letters, order, faults, formats.
#pragma once

#include "app/cli/arguments.h"
#include "core/problem/problem.h"

namespace tilewalk {

/// Changes the problem; the first error as a sentence, or nothing.
std::string apply_lesson_choices(const ProblemWords& words, Problem& problem);

}  // namespace tilewalk

// The problems that the program brings along, in the order in which they teach best.
#pragma once

#include "core/problem/problem.h"

#include <string_view>
#include <vector>

namespace tilewalk {

/// All examples, named after their files. They are part of the program: a broken one is a bug and asserts.
const std::vector<Problem>& examples();
/// The example of that name; null when there is none.
const Problem* find_example(std::string_view name);

}  // namespace tilewalk

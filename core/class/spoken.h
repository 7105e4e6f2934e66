// What a lecturer would say at a step: one sentence, made from the explanation of that step.
#pragma once

#include "core/walk/explain.h"

#include <string>

namespace tilewalk {

/// At most `spoken_letters` letters, so that it fits two lines of a projected page.
std::string spoken(const Trace& trace, int k, const Explanation& explanation);
constexpr int spoken_letters = 165;

}  // namespace tilewalk

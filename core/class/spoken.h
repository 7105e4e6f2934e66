// What a lecturer would say at a step: one sentence, made from the explanation of that step.
#pragma once

#include "core/class/questions.h"

#include <string>

namespace tilewalk {

/// At most `spoken_letters` letters, so that it fits two lines of a projected page.
std::string spoken(const Trace& trace, int k, const Explanation& explanation);
constexpr int spoken_letters = 165;

/// A sentence about the step, piece by piece: the letters of its formula, and the numbers that stand in it,
/// in the role of what they are. Row, key and tile numbers have none.
Line in_roles(const std::string& sentence, const Explanation& explanation);

/// The text of a question beside its matrices: numbers have the decimals of the cells where these leave three
/// digits, "O_old" has an index, letters have the role of what they are.
Line question_line(const Question& question);

}  // namespace tilewalk

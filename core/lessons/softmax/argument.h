// How a line of the derivation or of the proof is made.
#pragma once

#include "core/lessons/softmax/softmax.h"
#include "core/walk/explain_view.h"

namespace tilewalk {

/// `symbol` = `value` is the result; `numbers`, where there are some, the right side worked out; `other` its
/// own value.
Argument argument_line(std::string title, Line formula, Line symbol, const Expr* numbers, double value,
                       double other, std::string why);

}  // namespace tilewalk

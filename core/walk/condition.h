// Conditions for breakpoints, typed as text: `alpha < 1`, `i == 1 && j == 2`, `m > 5 || isnan(S)`,
// `op == scores`.
//
//   or         = and { "||" and }
//   and        = not { "&&" not }
//   not        = "!" not | "(" or ")" | ("isnan" | "isinf") "(" slot ")" | comparison
//   comparison = operand ("<" | "<=" | ">" | ">=" | "==" | "!=") operand
//   operand    = number | "inf" | "i" | "j" | "step" | slot | "op" (compared with the name of an op)
//   slot       = its name in files ("alpha") | the letters that the screen shows ("α", "P̃", "d′")
#pragma once

#include "core/base/result.h"
#include "core/walk/trace.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tilewalk {

struct ConditionNode;

/// A condition on one step. A slot stands for every element that the step wrote to it: `alpha < 1` holds if
/// any of them is below 1, and of a step that wrote no alpha it does not hold. `step` counts from 1; i and j
/// are −1 in a step that belongs to no block.
class Condition {
public:
    bool holds(const Trace& trace, int k) const;
    const std::string& text() const { return text_; }

private:
    friend Result<Condition> parse_condition(std::string_view text);
    std::string text_;
    std::shared_ptr<const ConditionNode> root_;
};

/// Longer ones nobody types; each part of one is a call deeper.
constexpr std::size_t most_condition_bytes = 1000;

/// The condition that the text says, or one sentence: "column 9: expected a number or a name, found '<'".
Result<Condition> parse_condition(std::string_view text);

}  // namespace tilewalk

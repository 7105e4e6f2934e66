// Results that stand beside each other, in a table or a tile: whoever works out any of them with the shown
// numbers comes to just what is shown.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tilewalk {

struct Expr;        // core/walk/formula.h
struct NumberLine;  // core/walk/explain.h

/// The fewest decimals, from `least` on, with which `all_come` to what is shown; nothing where not even three
/// more than usual are enough.
std::optional<int> decimals_of_all(const std::function<bool(int decimals)>& all_come, int least);
/// Whoever works it out comes to the shown number.
bool comes_to(double value, const std::string& shown);

/// A formula and the value that it is shown to give.
using Computed = std::pair<Expr, double>;
/// As `write`, with the decimals that one of all needs at most.
NumberLine write_beside(const Computed& one, const std::vector<Computed>& all);

}  // namespace tilewalk

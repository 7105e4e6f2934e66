// The check that every lesson must pass: what is printed, worked out, is what is shown, and that is stored.
#pragma once

#include "core/explain.h"

#include <functional>
#include <string>

namespace tilewalk::test {

/// Calls look(k, cell) for every cell that any step of the trace wrote.
void every_written_cell(const Trace& trace, const std::function<void(int k, const CellRef& cell)>& look);

/// Empty, or what is wrong with the numbers, the result or the words of this cell's explanation.
std::string lie_in(const Trace& trace, int k, const CellRef& cell);

}  // namespace tilewalk::test

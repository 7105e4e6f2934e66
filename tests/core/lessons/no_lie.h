// No lie on screen, for any lesson: every printed formula, worked out from its print alone, gives the number
// that is shown beside it, and that number is the stored one.
#pragma once

#include "core/walk/trace.h"

namespace tilewalk::test {

/// Every cell that any step of the trace wrote: all parts of its explanation are there, its formula comes to
/// its result, the result is the stored value (or the bytes that the step moved), and every source is a cell
/// that the step read. Reports to doctest. Returns how many formulas were worked out.
int check_no_lie(const Trace& trace);

}  // namespace tilewalk::test

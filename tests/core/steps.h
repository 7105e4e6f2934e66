// Where something happens in a walk.
#pragma once

#include "core/walk/explain.h"

namespace tilewalk::test {

/// The nth step (from 0) with this op; fails the test if there is none.
int nth_step(const Trace& trace, Op op, int n = 0);
/// The step with this op in tile (i, j), −1 if there is none.
int find_step(const Trace& trace, Op op, int i, int j = -1);
/// What stands in the slot after the nth step with this op.
const Matrix& after(const Trace& trace, Slot slot, Op op, int n = 0);
/// Why the first step with this op gave the cell its value.
std::string why(const Trace& trace, Op op, const CellRef& cell);
/// "0load 0scores 1row_max": the lane and the op of each step.
std::string ops(const Trace& trace);

/// Calls look(cell, step) for every cell that any step of the trace wrote.
template <class Look> void every_written_cell(const Trace& trace, Look look) {
    for (int k = 0; k < trace.size(); ++k)
        for (const Access& a : trace.writes(k)) {
            const Region at = trace.value(a.value).region;
            for (int r = at.row; r < at.row + at.rows; ++r)
                for (int c = at.col; c < at.col + at.cols; ++c) look(CellRef{a.slot, r, c}, k);
        }
}

}  // namespace tilewalk::test

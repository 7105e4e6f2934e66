// Where something happens in a walk.
#pragma once

#include "core/walk/explain.h"

#include <memory>
#include <string>
#include <vector>

namespace tilewalk::test {

/// The walk of a lesson; fails the test if it refuses the problem.
std::shared_ptr<const Trace> walk_of(const Lesson& lesson, const Problem& problem);
std::shared_ptr<const Trace> walk_of(std::string_view lesson, const Problem& problem);
/// For messages: the lesson, the problem, the step and its op, and a cell if one is named.
std::string where(const Trace& trace, int step, const CellRef& cell = {});

/// All steps with this op.
std::vector<int> steps_of(const Trace& trace, Op op);
/// The nth step (from 0) with this op; fails the test if there is none.
int nth_step(const Trace& trace, Op op, int n = 0);
/// The step with this op in tile (i, j), −1 if there is none.
int find_step(const Trace& trace, Op op, int i, int j = -1);
/// What stands in the slot after the nth step with this op.
const Matrix& after(const Trace& trace, Slot slot, Op op, int n = 0);
/// Why the first step with this op gave the cell its value.
std::string why(const Trace& trace, Op op, const CellRef& cell);
/// From step k on these ops follow each other in tile (i, j); returns the step behind them.
int check_ops(const Trace& trace, int k, std::initializer_list<Op> ops, int i, int j);
/// "0load 0scores 1row_max": the lane and the op of each step.
std::string ops(const Trace& trace);

/// Calls look(cell) for every cell of the slot in a region.
template <class Look> void every_cell(Slot slot, const Region& at, Look look) {
    for (int r = at.row; r < at.row + at.rows; ++r)
        for (int c = at.col; c < at.col + at.cols; ++c) look(CellRef{slot, r, c});
}
/// Calls look(slot, value, step) for everything that any step of the trace wrote.
template <class Look> void every_write(const Trace& trace, Look look) {
    for (int k = 0; k < trace.size(); ++k)
        for (const Access& a : trace.writes(k)) look(a.slot, trace.value(a.value), k);
}
/// Calls look(cell, step) for every cell of these.
template <class Look> void every_written_cell(const Trace& trace, Look look) {
    every_write(trace, [&](Slot slot, const Value& value, int k) {
        every_cell(slot, value.region, [&](const CellRef& cell) { look(cell, k); });
    });
}

}  // namespace tilewalk::test

// What the tests of the softmax lessons share.
#pragma once

#include "core/lessons/softmax/softmax.h"
#include "tests/core/problems.h"

#include <memory>

namespace tilewalk::test {

/// softmax_3pass, softmax_2pass or softmax_1pass.
const Lesson& softmax_with(int passes);
std::shared_ptr<const Trace> softmax_walk(const Problem& problem, int passes);
/// The same problem with another row, notation and form of the output.
Problem with_row(Problem problem, int row, Notation notation = Notation::d_o, bool normalised = true);
/// any_problem with a row, a notation and a form drawn as well.
Problem any_row(Random& random, int largest = 9);
/// The step of op at element n (from 1; 0: of no element) in that pass (from 1), −1 if there is none.
int softmax_step(const Trace& trace, Op op, int n, int pass = 1);
/// Number that the step left in a slot of one number.
double left_in(const Trace& trace, Slot slot, Op op, int n, int pass = 1);

}  // namespace tilewalk::test

// Walks that are broken on purpose, for the tests about them.
#pragma once

#include "core/lessons/shared/faults.h"
#include "core/lessons/table.h"
#include "core/problem/precision.h"
#include "tests/core/problems.h"
#include "tests/core/steps.h"

#include <vector>

namespace tilewalk::test {

/// The lesson flash-forward.
const Lesson& forward();
/// Any switches, any formats that validate() allows.
Problem random_faults(Random& random, Problem problem);
Problem random_precision(Random& random, Problem problem);
/// Equal numbers; NaN equals NaN.
bool same_number(double a, double b);
bool same_bits(const Matrix& a, const Matrix& b);

/// The lessons that can be broken, the backward pass in both orders.
struct Broken {
    const Lesson& lesson;
    BackwardOrder order = BackwardOrder::key_outer;
    Problem of(Problem problem) const;
};
std::vector<Broken> breakable();

}  // namespace tilewalk::test

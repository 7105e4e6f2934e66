// exp, ln and tanh of the lessons: the true number, rounded once. The C libraries' own are wrong in the last
// digit now and then, each in other places (one with fused multiply-adds, one without); with these a walk has
// the same numbers to the bit on every machine and in a browser.
#pragma once

#include "core/base/matrix.h"

namespace tilewalk {

double exp_exactly(double x);
double log_exactly(double x);
double tanh_exactly(double x);

/// Element by element.
Matrix exp_exactly(const Matrix& A);
Matrix log_exactly(const Matrix& A);

}  // namespace tilewalk

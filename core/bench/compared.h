// The rule of verify.h, tensor by tensor: how far a kernel is off, and how far standard attention is.
#pragma once

#include "core/bench/verify.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tilewalk {

/// |x − x₆₄|; infinite for NaN, and where one of them is infinite and the other is not.
double error_of(double x, double exact);

/// One tensor: the largest errors of the kernel and of standard attention in the same precision, and where
/// the kernel's is.
struct Compared {
    const char* tensor;
    double factor;         ///< how many times the standard's error is allowed
    double two_roundings;  ///< of the largest element, which are allowed as well
    double error = 0, standard = 0, largest = 0;
    std::int64_t head = 0, row = 0, column = 0;

    void look_at_standard(float x, double exact) { standard = std::max(standard, error_of(x, exact)); }
    void look(float x, double exact, std::int64_t in_head, std::int64_t in_row, std::int64_t at) {
        if (std::isfinite(exact)) largest = std::max(largest, std::abs(exact));
        const double off = error_of(x, exact);
        if (off <= error) return;
        error = off, head = in_head, row = in_row, column = at;
    }
    void merge(const Compared& other) {
        standard = std::max(standard, other.standard), largest = std::max(largest, other.largest);
        if (other.error <= error) return;
        error = other.error, head = other.head, row = other.row, column = other.column;
    }
    double limit() const { return factor * standard + two_roundings * largest; }
    double part() const { return error == 0 ? 0 : error / limit(); }
};

/// O, L, dQ, dK, dV: all[of_tensor::O]
using AllCompared = std::array<Compared, 5>;
namespace of_tensor {
enum { O, L, dQ, dK, dV };
}
AllCompared nothing_compared(DType type);
void merge(AllCompared& all, const AllCompared& part);
/// The tensor nearest to its limit, or beyond it.
KernelVerdict verdict_of(const AllCompared& all, const Workload& workload);

}  // namespace tilewalk

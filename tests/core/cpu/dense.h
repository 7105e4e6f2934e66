// Attention written down from its definition, one element after the other: what the CPU kernels are checked
// against. In double it is the truth; in float it is what standard attention loses to rounding.
#pragma once

#include "core/engine/engine.h"

#include <string>
#include <vector>

namespace tilewalk::test {

template <typename T> struct DenseTensors {
    std::vector<T> O, L, dQ, dK, dV;  ///< shapes: core/engine/engine.h
};

template <typename T> DenseTensors<T> dense_attention(const Workload& w, const Tensors& t);
extern template DenseTensors<float> dense_attention(const Workload&, const Tensors&);
extern template DenseTensors<double> dense_attention(const Workload&, const Tensors&);

/// Largest errors of a tensor in fp32 beside those of standard attention in fp32.
struct Errors {
    double error = 0, of_standard = 0, largest = 0;  ///< `largest` of the true values
    std::string broken;                              ///< NaN, or infinite where the truth is not
    Errors& operator+=(const Errors& more);          ///< sums over several problems
    /// Empty if the error is at most `factor` times that of standard attention and two roundings of the
    /// largest value; else what is wrong.
    std::string outside_rule(double factor) const;
};
Errors errors_of(const std::vector<float>& got, const std::vector<float>& standard,
                 const std::vector<double>& truth);

}  // namespace tilewalk::test

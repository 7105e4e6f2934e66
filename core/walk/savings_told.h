// What the savings of a walk have spared and spoiled, in numbers of that walk (core/problem/savings.h).
#pragma once

#include "core/walk/explain.h"

#include <optional>
#include <string>

namespace tilewalk {

/// Counted over all rows and tiles of one walk.
struct SavingsCount {
    int rises = 0;            ///< of m, after the first keys of a row: as often O is rescaled
    double most_weight = 0;   ///< the largest P̃
    double cubic_error = 0;   ///< of the cubic's weights, relative
    int saturated = 0;        ///< weights beyond the largest number of the product's format
    CellRef worst_saturated;  ///< the largest of them,
    double lost = 0;          ///< and the part of it that the product does not have
};
SavingsCount count_savings(const Trace& trace);

/// The largest |O − O of the true walk|; ∞ where a number is lost.
double output_error(const Trace& truth, const Trace& walk);

/// How often O is rescaled, how large weights become, what saturates, and what each of lazy rescaling, cubic
/// and formats makes of O against fp64, each in a walk of its own.
std::string told_savings(const Trace& truth, const Trace& saving);

}  // namespace tilewalk

// What becomes of partial results in one order or another, in one number format: the page beside the walk of
// the lesson merge, which rounds as that walk does (each m, w, ℓ, O and L once), and the test of
// docs/merging.md.
#pragma once

#include "core/lessons/shared/parts.h"
#include "core/problem/precision.h"

namespace tilewalk {

/// m, ℓ and O of some keys, O not divided.
struct PartialResult {
    double m = minus_infinity;
    double l = 0;
    std::vector<double> O = {};

    /// What L and the divided O are; of no keys −∞ and 0.
    double log_sum() const;
    double output(std::size_t col) const;
};

/// As a kernel stores it: L in the place of m, ℓ = 1 and O divided, which is itself such a triple.
PartialResult normalised(const PartialResult& part, Format format = Format::fp64);

/// One of several; an empty one among them changes nothing, and NaN in one of them makes ℓ (or L) and O NaN.
/// Of normalised parts L = m + ln Σ exp(Lᵢ − m), and the weights are measured from L.
PartialResult merged(std::span<const PartialResult> parts, Format format = Format::fp64,
                     PartForm form = PartForm::sums);
/// The keys of one part, maybe none, and a sink beside them: one more logit, without a value.
PartialResult part_of(const Matrix& S, const Matrix& V, const KeyPart& keys, Format format = Format::fp64,
                      double sink = minus_infinity);

/// The parts and all merges of a plan, by tile; the last one is the whole.
std::vector<PartialResult> merged_by(std::vector<PartialResult> parts, const std::vector<MergeNode>& plan,
                                     Format format = Format::fp64, PartForm form = PartForm::sums);

/// The numbers of the format between the two and the larger one; −1 where there is no such count.
std::int64_t steps_apart(double a, double b, Format format);

}  // namespace tilewalk

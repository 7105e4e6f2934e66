// What becomes of partial results in one order or another, with every exp, product and sum rounded to a
// number format: the page beside the walk, and the test of docs/merging.md.
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
/// The keys of one part, one after another as in FlashAttention's loop; S and V are rounded first.
PartialResult part_of(const Matrix& S, const Matrix& V, const KeyPart& keys, Format format = Format::fp64);

/// The same with a sink beside the keys: one more logit, without a value.
PartialResult with_sink(PartialResult part, double sink, Format format = Format::fp64);

/// The parts and all merges of a plan, by tile; the last one is the whole.
std::vector<PartialResult> merged_by(std::vector<PartialResult> parts, const std::vector<MergeNode>& plan,
                                     Format format = Format::fp64, PartForm form = PartForm::sums);

/// The numbers of the format between the two and the larger one; −1 where there is no such count.
std::int64_t steps_apart(double a, double b, Format format);

}  // namespace tilewalk

#include "core/lessons/merge/trees.h"

#include "core/base/exactly.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

double PartialResult::log_sum() const { return m + log_exactly(l); }

double PartialResult::output(std::size_t col) const { return O[col] / (l == 0 ? 1 : l); }

PartialResult normalised(const PartialResult& part, Format format) {
    PartialResult out{round_to(format, part.log_sum()), part.l == 0 ? 0.0 : 1.0, {}};
    for (std::size_t c = 0; c < part.O.size(); ++c) out.O.push_back(round_to(format, part.output(c)));
    return out;
}

namespace {

// What the weights of normalised parts are measured from: m + ln Σ exp(Lᵢ − m).
double log_sum_of(std::span<const PartialResult> parts, double m, Format format) {
    double sum = 0;
    for (const PartialResult& part : parts) sum += exp_exactly(part.m - m);
    return round_to(format, m + log_exactly(sum));
}

}  // namespace

PartialResult merged(std::span<const PartialResult> parts, Format format, PartForm form) {
    PartialResult out;
    for (const PartialResult& part : parts) {
        out.m = std::fmax(out.m, part.m);
        out.O.resize(std::max(out.O.size(), part.O.size()), 0);
    }
    const bool seen = out.m != minus_infinity;
    if (seen && form == PartForm::normalised) out.m = log_sum_of(parts, out.m, format);
    // What has seen no key yet is measured from 0: −∞ − (−∞) would be NaN.
    const double base = seen ? out.m : 0;
    for (const PartialResult& part : parts) {
        const double weight = round_to(format, exp_exactly(part.m - base));
        out.l += weight * part.l;
        for (std::size_t c = 0; c < part.O.size(); ++c) out.O[c] += weight * part.O[c];
    }
    out.l = form == PartForm::normalised ? (seen ? 1 : 0) : round_to(format, out.l);
    for (double& O : out.O) O = round_to(format, O);
    return out;
}

PartialResult part_of(const Matrix& S, const Matrix& V, const KeyPart& keys, Format format, double sink) {
    PartialResult out{sink, 0, std::vector<double>(static_cast<std::size_t>(V.cols()), 0)};
    for (int j = keys.first; j < keys.first + keys.count; ++j) out.m = std::fmax(out.m, S(0, j));
    out.m = round_to(format, out.m);
    const double base = out.m == minus_infinity ? 0 : out.m;
    out.l = round_to(format, exp_exactly(sink - base));
    for (int j = keys.first; j < keys.first + keys.count; ++j) {
        const double P = round_to(format, exp_exactly(S(0, j) - base));
        out.l += P;
        for (std::size_t c = 0; c < out.O.size(); ++c) out.O[c] += P * V(j, static_cast<Eigen::Index>(c));
    }
    out.l = round_to(format, out.l);
    for (double& O : out.O) O = round_to(format, O);
    return out;
}

std::vector<PartialResult> merged_by(std::vector<PartialResult> parts, const std::vector<MergeNode>& plan,
                                     Format format, PartForm form) {
    for (const MergeNode& node : plan) {
        std::vector<PartialResult> some;
        for (const int tile : node.parts) some.push_back(parts[static_cast<std::size_t>(tile)]);
        parts.push_back(merged(some, format, form));
    }
    return parts;
}

std::int64_t steps_apart(double a, double b, Format format) {
    if (!std::isfinite(a) || !std::isfinite(b)) return -1;
    const FormatInfo& about = info(format);
    // The distance to the next number, at the smaller of the two.
    const double size = std::max(std::min(std::abs(a), std::abs(b)), std::ldexp(1.0, about.least_exponent));
    const double unit = std::ldexp(1.0, std::ilogb(size) - about.fraction_bits);
    return static_cast<std::int64_t>(std::llround(std::abs(a - b) / unit));
}

}  // namespace tilewalk

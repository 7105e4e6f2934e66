#include "core/lessons/merge/trees.h"

#include "core/base/exactly.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

double PartialResult::log_sum() const { return m + log_exactly(l); }

double PartialResult::output(std::size_t col) const { return O[col] / (l == 0 ? 1 : l); }

PartialResult normalised(const PartialResult& part, Format format) {
    PartialResult out{
        round_to(format, part.m + round_to(format, log_exactly(part.l))), part.l == 0 ? 0.0 : 1.0, {}};
    for (std::size_t c = 0; c < part.O.size(); ++c) out.O.push_back(round_to(format, part.output(c)));
    return out;
}

namespace {

double weight_of(const PartialResult& part, double base, Format format) {
    return round_to(format, exp_exactly(round_to(format, part.m - base)));
}

// What the weights of normalised parts are measured from: m + ln Σ exp(Lᵢ − m).
double log_sum_of(std::span<const PartialResult> parts, double m, Format format) {
    double sum = 0;
    for (const PartialResult& part : parts) sum = round_to(format, sum + weight_of(part, m, format));
    return round_to(format, m + round_to(format, log_exactly(sum)));
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
    bool first = true;
    for (const PartialResult& part : parts) {
        const double weight = weight_of(part, base, format);
        const auto add = [&](double& sum, double term) {
            const double product = round_to(format, weight * term);
            sum = first ? product : round_to(format, sum + product);
        };
        add(out.l, part.l);
        for (std::size_t c = 0; c < part.O.size(); ++c) add(out.O[c], part.O[c]);
        first = false;
    }
    if (form == PartForm::normalised) out.l = seen ? 1 : 0;
    return out;
}

PartialResult part_of(const Matrix& S, const Matrix& V, const KeyPart& keys, Format format) {
    PartialResult out;
    out.O.resize(static_cast<std::size_t>(V.cols()), 0);
    for (int j = keys.first; j < keys.first + keys.count; ++j) {
        PartialResult key{round_to(format, S(0, j)), S(0, j) == minus_infinity ? 0.0 : 1.0, {}};
        for (Eigen::Index c = 0; c < V.cols(); ++c) key.O.push_back(round_to(format, key.l * V(j, c)));
        const PartialResult both[] = {std::move(out), std::move(key)};
        out = j == keys.first ? both[1] : merged(both, format);
    }
    return out;
}

PartialResult with_sink(PartialResult part, double sink, Format format) {
    const PartialResult both[] = {{round_to(format, sink), 1, {}}, std::move(part)};
    return merged(both, format);
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

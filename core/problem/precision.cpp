#include "core/problem/precision.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace tilewalk {

namespace {

constexpr Format all[] = {Format::fp64, Format::fp32, Format::tf32, Format::bf16, Format::fp16, Format::e4m3};

}  // namespace

// A format that has no row, and no place below, does not compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
const FormatInfo& info(Format format) {
    static const FormatInfo table[] = {
        {"fp64", "double precision, as the lessons compute without rounding", 52, -1022,
         std::numeric_limits<double>::max(), false},
        {"fp32", "single precision: 23 bits of fraction, 8 of exponent", 23, -126, 0x1.fffffep127, false},
        {"tf32", "tensor cores: the range of fp32 with 10 bits of fraction", 10, -126, 0x1.ffcp127, false},
        {"fp16", "half precision: 10 bits of fraction, largest 65 504", 10, -14, 65504, false},
        {"bf16", "the range of fp32 with 7 bits of fraction", 7, -126, 0x1.fep127, false},
        {"e4m3", "8 bits: 3 of fraction, largest 448, no ∞", 3, -6, 448, true},
    };
    static_assert(std::size(table) == std::size(all), "one row for each format");
    switch (format) {
    case Format::fp64:
    case Format::fp32:
    case Format::tf32:
    case Format::fp16:
    case Format::bf16:
    case Format::e4m3: break;
    }
    return table[static_cast<int>(format)];
}
#pragma GCC diagnostic pop

std::span<const Format> formats() { return all; }

std::optional<Format> find_format(std::string_view wanted) {
    for (Format format : all)
        if (wanted == name(format)) return format;
    return {};
}

std::span<const Preset> presets() {
    using F = Format;
    static const Preset table[] = {
        {"all fp64", {}},
        {"all fp32", {F::fp32, F::fp32, F::fp32, F::fp32, F::fp32, F::fp32}},
        {"fp16 kernel", {F::fp16, F::fp32, F::fp32, F::fp16, F::fp32, F::fp16}},
        {"bf16 kernel", {F::bf16, F::fp32, F::fp32, F::bf16, F::fp32, F::bf16}},
        {"fp8 kernel", {F::e4m3, F::fp32, F::fp32, F::e4m3, F::fp32, F::fp16}},
        {"all fp16", {F::fp16, F::fp16, F::fp16, F::fp16, F::fp16, F::fp16}},
    };
    return table;
}

std::span<const Stage> stages() {
    static const Stage table[] = {
        {&Precision::inputs, "inputs", "Inputs Q, K, V", false},
        {&Precision::scores, "scores", "Scores S", true},
        {&Precision::softmax, "softmax", "m, α, exp, ℓ, L", true},
        {&Precision::weights, "weights", "P̃ in the product", false},
        {&Precision::accumulator, "accumulator", "O while it grows", true},
        {&Precision::output, "output", "O in HBM", false},
    };
    static_assert(std::size(table) * sizeof(Format) == sizeof(Precision), "one row for each stage");
    return table;
}

double smallest(Format format) {
    return std::ldexp(1.0, info(format).least_exponent - info(format).fraction_bits);
}

bool contains(Format wide, Format narrow) {
    const FormatInfo &a = info(wide), &b = info(narrow);
    const bool keeps_infinity = !a.saturates || b.saturates;
    return a.fraction_bits >= b.fraction_bits && smallest(wide) <= smallest(narrow) &&
           a.largest >= b.largest && keeps_infinity;
}

double round_to(Format format, double value) {
    const FormatInfo& f = info(format);
    if (format == Format::fp64 || std::isnan(value) || value == 0) return value;
    const double most = f.saturates ? f.largest : std::numeric_limits<double>::infinity();
    if (std::isinf(value)) return std::copysign(most, value);
    // In units of the last bit the format's neighbours are whole numbers; nearbyint takes the even one.
    const int unit = std::max(std::ilogb(value), f.least_exponent) - f.fraction_bits;
    const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
    return std::abs(rounded) > f.largest ? std::copysign(most, value) : rounded;
}

Matrix round_to(Format format, Matrix A) {
    if (format != Format::fp64)
        for (Eigen::Index n = 0; n < A.size(); ++n) A.data()[n] = round_to(format, A.data()[n]);
    return A;
}

Format operand_format(const Precision& precision) {
    return contains(precision.weights, precision.softmax) ? Format::fp64 : precision.weights;
}

}  // namespace tilewalk

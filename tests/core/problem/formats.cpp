#include "tests/core/problem/formats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewalk::test {

namespace {

// The value of a bit pattern: exponent bits, then fraction bits, by the text of IEEE 754.
std::vector<double> list(int exponent_bits, int fraction_bits, int patterns) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    std::vector<double> out;
    for (int bits = 0; bits < patterns; ++bits) {
        const int exponent = bits >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
        const double part = std::ldexp(static_cast<double>(fraction), -fraction_bits);
        out.push_back(exponent == 0 ? std::ldexp(part, 1 - bias) : std::ldexp(1 + part, exponent - bias));
    }
    return out;
}

}  // namespace

const std::vector<double>& numbers_of(Format format) {
    static const std::vector<double> fp16 = list(5, 10, 31 << 10), bf16 = list(8, 7, 255 << 7),
                                     tf32 = list(8, 10, 255 << 10),
                                     e4m3 = list(4, 3, 127);  // the pattern 127 is NaN
    return format == Format::fp16   ? fp16
           : format == Format::bf16 ? bf16
           : format == Format::tf32 ? tf32
                                    : e4m3;
}

long double nearest(Format format, long double value) {
    if (std::isnan(value) || value == 0) return value;
    if (format == Format::fp64) return static_cast<double>(value);
    if (format == Format::fp32) return static_cast<float>(value);
    const std::vector<double>& all = numbers_of(format);
    const long double size = std::abs(value);
    const auto above = std::lower_bound(all.begin(), all.end(), size);
    long double out = 0;
    if (above == all.end()) {
        const long double half = (static_cast<long double>(all.back()) - all[all.size() - 2]) / 2;
        const bool stays = format == Format::e4m3 || size < all.back() + half;
        out = stays ? static_cast<long double>(all.back()) : std::numeric_limits<long double>::infinity();
    } else if (*above == size || above == all.begin()) {
        out = *above;
    } else {
        const long double low = *std::prev(above), high = *above;
        const bool even_above = (above - all.begin()) % 2 == 0;
        out = size - low < high - size || (size - low == high - size && !even_above) ? low : high;
    }
    return std::copysign(out, value);
}

const std::vector<std::pair<std::string, Format>>& format_names() {
    static const std::vector<std::pair<std::string, Format>> names{
        {"fp64", Format::fp64}, {"fp32", Format::fp32}, {"tf32", Format::tf32},
        {"fp16", Format::fp16}, {"bf16", Format::bf16}, {"e4m3", Format::e4m3}};
    return names;
}

}  // namespace tilewalk::test

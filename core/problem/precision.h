// Number formats of GPU kernels: what is left of a double when it is stored in fewer bits.
#pragma once

#include "core/problem/problem.h"

#include <optional>
#include <span>
#include <string_view>

namespace tilewalk {

/// A binary floating-point format; its numbers are ±n · 2ᵉ with whole n < 2^(fraction_bits + 1).
struct FormatInfo {
    const char* name;    ///< in files, formulas and menus: "fp16"
    const char* title;   ///< "half precision: 10 bits of fraction, 5 of exponent"
    int fraction_bits;   ///< after the leading 1
    int least_exponent;  ///< of the smallest normal number
    double largest;      ///< the largest finite number
    bool saturates;      ///< what is larger becomes ±largest; otherwise ±∞
};
const FormatInfo& info(Format format);
std::span<const Format> formats();
inline const char* name(Format format) { return info(format).name; }
std::optional<Format> find_format(std::string_view name);

/// The formats of a known kind of kernel, stage by stage.
struct Preset {
    const char* name;
    Precision precision;
};
std::span<const Preset> presets();
/// A stage of Precision, for lists and files.
struct Stage {
    Format Precision::*format;
    const char* name;     ///< "scores"
    const char* title;    ///< "Scores S"
    bool needs_infinity;  ///< it holds masked scores or the first maximum, −∞: no e4m3
};
std::span<const Stage> stages();

/// The smallest positive (subnormal) number of the format.
double smallest(Format format);
/// Every number of `narrow` is also a number of `wide`.
bool contains(Format wide, Format narrow);

/// The nearest number of the format; of two equally near ones that with the even last bit, as IEEE 754 and
/// the GPU's conversions (cvt.rn) have it. Subnormals are kept. Beyond the largest number: ±∞; e4m3 (OCP
/// 8-bit E4M3, which has no ∞) takes ±448 instead, for ±∞ too, as CUDA's cvt.rn.satfinite does. NaN stays
/// NaN.
double round_to(Format format, double value);
Matrix round_to(Format format, Matrix A);

/// The format that P̃ or dS is rounded to on its way into a product; fp64 where it is in a coarser one
/// already.
Format operand_format(const Precision& precision);

}  // namespace tilewalk

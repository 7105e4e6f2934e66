// Reads the arithmetic that the explanations print, exactly as a person with a calculator would, and works it
// out. It knows nothing of how the text was made, but for the decimal mark that is set.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::test {

/// A number as printed: its value and the worth of one unit in its last digit (0 for ∞).
struct Printed {
    long double value = 0, unit = 0;
    bool power = false;  ///< written with × 10ⁿ
};

struct Evaluated {
    long double value = 0;
    long double terms = 0;  ///< Σ |terms| before they cancel: how large the rounding noise may be
    long double jump =
        0;  ///< how far a rounding in it goes when its argument moves by that noise: near a tie
    long double grain = 0;         ///< how far it may be off because doubles near 0 are few
    std::vector<Printed> numbers;  ///< every number in the order of the text
};

/// "0.368 × 1.368 + (1.000 + 0.135)". Knows + − × ÷, exp, ln, max, brackets, ∞, NaN, ×10⁻⁵ and rounding to a
/// format, "fp16(0.1 + 0.2)". Nothing if the text is not well formed: two signs in a row ("1 + −2") are not.
std::optional<Evaluated> evaluate(std::string_view text);
/// One number and nothing else.
std::optional<Printed> read_number(std::string_view text);

/// A number was rounded honestly: it lies within half a unit of its last digit of `value`.
bool rounds(const Printed& printed, double value);

/// What is wrong with arithmetic that is printed beside its result, with the sign that stands between them;
/// empty when "=" comes to just what is shown, and "≈" does not, but nearly. `exact`:
/// the stored number is whole, and a whole number claims to be exact.
std::string fault_of(const std::string& numbers, std::string_view sign, const Printed& shown, bool exact);
/// "≈" or "=": the sign that the text of a result has before its number.
std::string sign_of_result(const std::string& before_number);

}  // namespace tilewalk::test

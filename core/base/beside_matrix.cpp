#include "core/base/beside_matrix.h"

#include <cmath>

namespace tilewalk {

std::string text_alone(const MatrixDigits& digits, double value) {
    std::string own = format_short(value);
    const double size = std::abs(value);
    const bool plain = value == 0 || (std::isfinite(value) && size >= 1e-3 && size < 1e6);
    if (!plain || (value != 0 && !digits.plain())) return own;
    const auto [shown, unit] = read_shown(own);
    const int decimals = static_cast<int>(std::lround(-std::log10(unit)));
    const bool zeros = std::abs(shown - value) <= 1e-12 * size;  // no digit that it does not have so far
    return zeros && decimals < digits.decimals() ? format_fixed(value, digits.decimals()) : own;
}

bool shows_all(const MatrixDigits& digits) { return digits.exact <= digits.decimals(); }

}  // namespace tilewalk

// How every text of a number is rounded: to the nearest, and half-way away from zero, as people do.
#pragma once

namespace tilewalk {

/// The number that is printed with so many decimals, of its mantissa if as a power of ten: 0.63 for 0.625.
double as_printed(double value, int decimals, bool power);

}  // namespace tilewalk

// Approx of doctest allows an error of epsilon (1 + |x|): of a small number that is any number. This one is
// relative.
#pragma once

#include <doctest/doctest.h>

namespace tilewalk::test {

/// Of a number that is not 0.
inline doctest::Approx near(double x, double relative = 1e-9) {
    return doctest::Approx(x).epsilon(relative).scale(0);
}

}  // namespace tilewalk::test

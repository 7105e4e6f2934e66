// Matrices on screen: what a heat map tells apart.
#include "app/ui/kit/theme.h"
#include "app/ui/parts/matrix.h"

#include <doctest/doctest.h>

using namespace tilewalk;
using namespace tilewalk::ui;

TEST_CASE("heat maps: numbers far below the largest are told from 0 and from each other") {
    SlotLook range;
    range.hi = 3, range.lo = -3;
    for (const ThemeId id : {ThemeId::dark, ThemeId::light, ThemeId::contrast}) {
        const Theme& t = theme(id);
        const auto colour = [&](double value, bool dim) {
            return heat_colour(t, Slot::Q, range, value, dim);
        };
        for (const bool dim : {false, true}) {
            CHECK(contrast(colour(.3, dim), colour(0, dim)) > (dim ? 1.08f : 1.15f));
            CHECK(contrast(colour(3, dim), colour(.3, dim)) > 1.08f);
            CHECK(colour(.3, dim) != colour(-.3, dim));
        }
        CHECK(contrast(colour(3, false), colour(0, false)) > contrast(colour(3, true), colour(0, true)));
        CHECK(heat_colour(t, Slot::Q, range, 3) == signed_ramp(t, Role::Q, 1));
    }
}

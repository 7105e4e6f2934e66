#include "core/base/remembered.h"

#include <doctest/doctest.h>

#include <string>

using tilewalk::Remembered;

TEST_CASE("what is remembered is made once for a key, anew for another one, and not taken along by a copy") {
    int made = 0;
    const auto make = [&] { return std::string(static_cast<std::size_t>(++made), 'x'); };
    Remembered<int, std::string> kept;
    CHECK(kept.of(7, make) == "x");
    CHECK(kept.of(7, make) == "x");
    CHECK(made == 1);
    CHECK(kept.of(8, make) == "xx");
    CHECK(kept.of(7, make) == "xxx");
    Remembered<int, std::string> copy = kept;
    CHECK(copy.of(7, make) == "xxxx");
    CHECK(kept.of(7, make) == "xxx");
    kept = copy;
    CHECK(kept.of(7, make) == "xxxxx");
}

#include "core/base/words.h"

#include <doctest/doctest.h>

using namespace tilewalk;

TEST_CASE("words: small letters, lists and ranges") {
    CHECK(lower_case("Q K Vᵀ, Ä") == "q k vᵀ, Ä");
    CHECK(listed({}) == "");
    CHECK(listed({"a"}) == "a");
    CHECK(listed({"a", "b"}) == "a or b");
    CHECK(listed({"a", "b", "c"}, "and") == "a, b and c");
    CHECK(range_text(2, 2) == "2");
    CHECK(range_text(0, 12) == "0…12");
}

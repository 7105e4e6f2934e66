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

TEST_CASE("words: a sentence begins with a capital, but a symbol stays what it is") {
    for (const auto& [text, begins] : {std::pair{"the maximum stays", "The maximum stays"},
                                       {"a factor of 1", "A factor of 1"},
                                       {"query 0 sees no key", "Query 0 sees no key"},
                                       {"m of query 0 stays 0", "m of query 0 stays 0"},
                                       {"m stays 0", "m stays 0"},
                                       {"p₂ = 1", "p₂ = 1"},
                                       {"x[2] is read", "x[2] is read"},
                                       {"dQ is whole", "dQ is whole"},
                                       {"exp(0) is 1", "exp(0) is 1"},
                                       {"α is 1", "α is 1"},
                                       {"ℓ grows", "ℓ grows"},
                                       {"m", "m"},
                                       {"", ""}})
        CHECK(capitalised(text) == begins);
}

TEST_CASE("words: the last character goes as a whole, however many bytes it has") {
    for (const auto& [text, left] : {std::pair{"abc", "ab"},
                                     {"aé", "a"},
                                     {"a€", "a"},
                                     {"a😀", "a"},
                                     {"é", ""},
                                     {"", ""},
                                     {"\x80\x80", ""}}) {
        std::string out = text;
        drop_last_character(out);
        CHECK(out == left);
    }
    CHECK(lower_case("AZ@[`{") == "az@[`{");
}

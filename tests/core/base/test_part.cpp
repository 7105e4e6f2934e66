// The part of a long loop that the ordinary run takes.
#include "tests/part.h"

#include "tests/folder.h"

#include <doctest/doctest.h>

#include <set>
#include <vector>

using namespace tilewalk::test;

namespace {

std::vector<int> taken(unsigned of, const char* seed) {
    const Variable drawn_by("TILEWALK_SEED", seed);
    Part part("TILEWALK_PART_OF_A_TEST", of);
    std::vector<int> rounds;
    for (int n = 0; n < 30; ++n)
        if (part.takes()) rounds.push_back(n);
    return rounds;
}

}  // namespace

TEST_CASE("of every three rounds in a row one is taken, which the seed draws; all with the switch") {
    std::set<int> first;
    for (const char* seed : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
        const std::vector<int> rounds = taken(3, seed);
        REQUIRE(rounds.size() == 10);
        for (int n = 0; n < 10; ++n) CHECK(rounds[static_cast<std::size_t>(n)] / 3 == n);
        CHECK(rounds == taken(3, seed));
        first.insert(rounds[0]);
    }
    CHECK(first.size() == 3);
    CHECK(taken(1, "1").size() == 30);
    const Variable other("TILEWALK_PART_OF_A_TEST", "some");
    CHECK(taken(3, "1").size() == 10);
    const Variable all("TILEWALK_PART_OF_A_TEST", "all");
    CHECK(taken(3, "1").size() == 30);
}

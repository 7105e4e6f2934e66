#include "core/spoken.h"

#include "core/faults.h"
#include "tests/core/broken.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>

using namespace tilewalk;
using namespace tilewalk::test;

TEST_SUITE_BEGIN("spoken");

TEST_CASE("the steps of the worked example, as one would say them") {
    const auto trace = *build_trace(default_lesson(), worked_example());
    const auto say = [&](int k) { return spoken(*trace, k, explain(*trace, k)); };
    CHECK(say(5) == "Row 0 sees its first scores: the maximum starts at 1.");
    CHECK(say(6) == "α is 0: whatever row 0 held before, it starts from nothing.");
    CHECK(say(12) == "The best score of row 0 in this tile is 2.");
    CHECK(say(13) == "Row 0 found a larger score: 1 becomes 2, so its old sum shrinks by α.");
    CHECK(say(14) == "α is 0.368: that is what the old sum of row 0 is still worth.");
    CHECK(say(16) == "The old sum, brought to the new maximum, plus the new weights: ℓ[0] = 1.639.");
    CHECK(say(33) == "Row 2 found nothing larger: the maximum stays 1.");
}

TEST_CASE("every step of every lesson has one short sentence") {
    Random random(71);
    for (int round = 0; round < 4; ++round)
        for (const Lesson& lesson : lessons()) {
            Problem p = round == 0 ? tutorial_backward() : any_problem(random, 6);
            if (round == 2) p.switches.no_max = p.switches.no_correction = p.switches.no_lse = true;
            const auto built = build_trace(lesson, p);
            if (!built) continue;
            for (int k = 0; k < (**built).size(); ++k) {
                const std::string text = spoken(**built, k, explain(**built, k));
                const auto letters = std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
                CHECK_MESSAGE(letters <= spoken_letters, text);
                CHECK_MESSAGE(letters > 10, lesson.id, " ", k);
                CHECK_MESSAGE(text.ends_with("."), text);
            }
        }
}

TEST_SUITE_END();

#include "tests/core/expression.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace tilewalk::test;

TEST_SUITE("expression reader of the tests") {
    TEST_CASE("the arithmetic of the tutorial") {
        const auto value = [](const char* text) { return static_cast<double>(evaluate(text)->value); };
        CHECK(value("1 × 1 + 0 × 0 + 1 × 1 + 0 × 0") == 2);
        CHECK(value("0.368 × 1.368 + (1.000 + 0.135)") == doctest::Approx(1.638424));
        CHECK(value("7 − 2 − 1") == 4);
        CHECK(value("12 ÷ 2 ÷ 3") == 2);
        CHECK(value("2 × (−3) + (−1)") == -7);
        CHECK(value("max(−∞, 1, −2)") == 1);
        CHECK(value("exp(−∞ − 1)") == 0);
        CHECK(value("−∞ + ln(0)") == -INFINITY);
        CHECK(value("1.50×10⁻³ × 2.00×10¹²") == doctest::Approx(3e9));
    }
    TEST_CASE("NaN, and rounding to the formats of a GPU") {
        const auto value = [](const char* text) { return static_cast<double>(evaluate(text)->value); };
        CHECK(std::isnan(value("∞ − ∞")));
        CHECK(std::isnan(value("0 × NaN + 1")));
        CHECK(value("max(NaN, 2)") == 2);
        CHECK(value("fp16(0.1 + 0.2)") == doctest::Approx(0.300048828125).epsilon(1e-12));
        CHECK(value("2 × e4m3(0.3)") == 0.625);
        CHECK(value("fp16(65519)") == 65504);
        CHECK(value("fp16(65520)") == INFINITY);
        CHECK(value("bf16(1.00390625)") == 1);
        CHECK(evaluate("fp16(0.1)")->jump == 0);
        CHECK(static_cast<double>(evaluate("bf16(1.00390625)")->jump) == 0.0078125);
        CHECK_FALSE(evaluate("fp17(1)"));
    }
    TEST_CASE("what is not well formed is refused") {
        for (const char* text : {"", "1 +", "1 + −2", "1 − −2", "(1", "1)", "−NaN", "1.", ".5", "1 2", "1-2",
                                 "-1", "1 * 2", "1e5", "2×10", "exp 1", "0.368 x 2"})
            CHECK_MESSAGE(!evaluate(text), text);
    }
    TEST_CASE("the worth of the last digit") {
        CHECK(static_cast<double>(read_number("1.368")->unit) == near(1e-3));
        CHECK(static_cast<double>(read_number("12")->unit) == 1);
        CHECK(static_cast<double>(read_number("−4.10×10⁻⁵")->unit) == near(1e-7));
        CHECK(rounds(*read_number("1.368"), 1.3678794));
        CHECK_FALSE(rounds(*read_number("1.368"), 1.3674));
        CHECK_FALSE(rounds(*read_number("∞"), -INFINITY));
    }
}

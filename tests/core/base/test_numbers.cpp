#include "core/base/numbers.h"
#include "core/base/rounding.h"
#include "tests/core/expression.h"
#include "tests/core/lessons/contract.h"
#include "tests/core/problems.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <tuple>

using namespace tilewalk::test;

namespace {

double any_double(Random& random) { return std::bit_cast<double>(random()); }

// U+2212 back to the sign that strtod reads.
double read_back(std::string text) {
    if (text.compare(0, 3, "−") == 0) text.replace(0, 3, "-");
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    CHECK_MESSAGE(*end == '\0', text);
    return value;
}

/// A style for one test, and the usual one after it.
struct Styled {
    explicit Styled(NumberStyle style) { set_number_style(style); }
    ~Styled() { set_number_style({}); }
};

std::vector<NumberStyle> all_styles() {
    std::vector<NumberStyle> out;
    for (int digits = fewest_digits; digits <= most_digits; ++digits)
        for (const bool comma : {false, true}) out.push_back({digits, comma});
    return out;
}

// Thirds and halves, masked scores, a maximum that rises late: numbers that need rounding and ones that do
// not.
std::vector<Problem> small_problems() {
    Problem masked = *random_problem(4, 3, 11);
    masked.causal = true;
    masked.scale.kind = Scale::Kind::sqrt;
    Problem wide = *random_problem(4, 2, 12);
    wide.Q *= 9.7;
    wide.V *= 1234.5;
    return {masked, wide};
}

}  // namespace

TEST_SUITE("numbers") {
    TEST_CASE("four significant digits, at most three decimals; beyond that three and a power of ten") {
        using Shown = std::pair<double, const char*>;
        const Shown shown[] = {{0.1353352832, "0.135"},
                               {11.8045, "11.80"},
                               {7.20391, "7.204"},
                               {123.456, "123.5"},
                               {1234.56, "1235"},
                               {123456.7, "123457"},
                               {-1.5, "−1.500"},
                               {0.0625, "0.063"},
                               {0, "0"},
                               {1, "1"},
                               {-42, "−42"},
                               {999999, "999999"},
                               {0.001, "0.001"},
                               {0.00099, "9.90×10⁻⁴"},
                               {-0.00012345, "−1.23×10⁻⁴"},
                               {1e6, "1.00×10⁶"},
                               {-1.2345e17, "−1.23×10¹⁷"},
                               {std::numeric_limits<double>::max(), "1.80×10³⁰⁸"},
                               {std::numeric_limits<double>::denorm_min(), "4.94×10⁻³²⁴"},
                               {9.999e-4, "1.00×10⁻³"}};
        for (const auto& [value, text] : shown) CHECK(format_number(value) == text);
        CHECK(format_number(11.8045, 3) == "11.8");
        CHECK(format_number(7.20391, 3) == "7.20");
        CHECK(format_number(0.1353352832, 3) == "0.14");
    }
    TEST_CASE("no minus zero, and the special values by name") {
        CHECK(format_number(-0.0) == "0");
        CHECK(format_fixed(-0.0, 3) == "0.000");
        CHECK(format_fixed(-0.004, 2) == "0.00");
        CHECK(format_full(-0.0) == "0");
        CHECK(format_number(NAN) == "NaN");
        CHECK(format_number(INFINITY) == "∞");
        CHECK(format_number(-INFINITY) == "−∞");
        CHECK(format_fixed(-INFINITY, 3) == "−∞");
        CHECK(format_fixed(NAN, 3) == "NaN");
        CHECK(format_full(INFINITY) == "∞");
    }
    TEST_CASE("fixed decimals") {
        CHECK(format_fixed(1, 3) == "1.000");
        CHECK(format_fixed(-1.36788, 3) == "−1.368");
        CHECK(format_fixed(2, 0) == "2");
        CHECK(format_fixed(0, 2) == "0.00");
        CHECK(format_fixed(1.5e-5, 0) == "1.50×10⁻⁵");
        CHECK(format_fixed(1.23456e7, 4) == "1.2346×10⁷");
    }
    TEST_CASE("half-way goes away from zero, in every text") {
        using Shown = std::pair<double, const char*>;
        for (const auto& [value, text] : {Shown{.625, "0.63"},
                                          {.375, "0.38"},
                                          {-.625, "−0.63"},
                                          {.005, "0.01"},
                                          {1.005, "1.00"},  // below it: no half has these bits
                                          {.62499999999999989, "0.62"},
                                          {2.125, "2.13"}})
            CHECK(format_fixed(value, 2) == text);
        CHECK(format_fixed(.3125, 3) == "0.313");
        CHECK(format_fixed(1.3125, 3) == "1.313");
        CHECK(format_fixed(2.5, 0) == "3");
        CHECK(format_fixed(1225000, 2) == "1.23×10⁶");
        CHECK(format_fixed(-1235000, 2) == "−1.24×10⁶");
        CHECK(format_number(1.3125) == "1.313");
        CHECK(format_short(1.3125) == "1.313");
        MatrixDigits digits;
        for (const double v : {1.3125, 1 / 3.0}) digits.take(v);
        CHECK(digits.text(1.3125) == "1.313");
        // Whatever the digits: never nearer to zero than half a unit of the last one.
        Random random(63);
        for (int n = 0; n < 5000; ++n) {
            const int decimals = pick(random, 0, 6);
            const double half = (2 * pick(random, -40000, 40000) + 1) * std::ldexp(1.0, -decimals - 1);
            const std::string text = format_fixed(half, decimals);
            const double shown = read_shown(text).value;
            CHECK_MESSAGE(as_printed(half, decimals, false) == shown, text);
            const double doubled = 2 * half * std::pow(10, decimals);
            if (doubled != std::round(doubled) || std::fmod(doubled, 2) == 0 || std::abs(half) >= 1e6)
                continue;
            CHECK_MESSAGE(std::abs(shown) > std::abs(half), half, " as ", text);
        }
    }
    TEST_CASE("digits of many numbers at once are those of one after the other") {
        Random random(62);
        const double odd[] = {std::nan(""), minus_infinity, -minus_infinity, 0, -0.0, 1e300, -3, .5, 1 / 3.0};
        for (int n = 0; n < 2000; ++n) {
            std::vector<double> values(static_cast<std::size_t>(pick(random, 0, 12)));
            for (double& v : values)
                v = pick(random, 0, 2) ? std::ldexp(pick(random, -4000, 4000), -pick(random, 0, 9))
                                       : odd[pick(random, 0, static_cast<int>(std::size(odd)) - 1)];
            MatrixDigits one, all;
            for (const double v : values) one.take(v);
            all.take(values);
            CHECK(one.exact == all.exact);
            CHECK(one.largest == all.largest);
        }
    }
    TEST_CASE("full precision reads back as the same double") {
        Random random(61);
        for (int n = 0; n < 5000; ++n) {
            const double v = n % 2 ? any_double(random) : pick(random, -2000000, 2000000) / 1000.0;
            if (!std::isfinite(v)) continue;
            if (read_back(format_full(v)) != v) FAIL_CHECK(v, " as ", format_full(v));
        }
        CHECK(format_full(0.1) == "0.1");
        CHECK(format_full(1.0 / 3) == "0.3333333333333333");
        CHECK(format_full(-2) == "−2");
        CHECK(read_back(format_full(std::numeric_limits<double>::denorm_min())) ==
              std::numeric_limits<double>::denorm_min());
    }
    TEST_CASE(
        "bytes in binary units, exact ones without decimals; counts in groups of three from 10 000 on") {
        using Counted = std::pair<std::int64_t, const char*>;
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        for (const auto& [bytes, text] : {Counted{0, "0 B"},
                                          {1023, "1023 B"},
                                          {1024, "1 KiB"},
                                          {1536, "1.50 KiB"},
                                          {64 << 10, "64 KiB"},
                                          {256LL << 20, "256 MiB"},
                                          {34LL << 30, "34 GiB"},
                                          {most, "8 EiB"}})
            CHECK(format_size(bytes) == text);
        for (const auto& [bytes, text] : {Counted{160, "160 B"},
                                          {1025, "1.00 KiB"},
                                          {1492, "1.46 KiB"},
                                          {1047552, "1023 KiB"},
                                          {1048575, "1.00 MiB"},
                                          {12345678, "11.8 MiB"},
                                          {2000000000, "1.86 GiB"}}) {
            CHECK(format_size(bytes) == text);
            CHECK(format_size(bytes) == text);
        }
        for (const auto& [count, text] : {Counted{0, "0"},
                                          {9999, "9999"},
                                          {10000, "10\u2009000"},
                                          {131072, "131\u2009072"},
                                          {-1234567, "−1\u2009234\u2009567"},
                                          {-7, "−7"},
                                          {most, "9\u2009223\u2009372\u2009036\u2009854\u2009775\u2009807"}})
            CHECK(format_count(count) == text);
    }
    TEST_CASE("the style decides where the caller does not") {
        for (const auto& [so_many, sixth, third, eighth, power] :
             {std::tuple{3, "0.17", "33.33", "0.13", "1.23×10⁻⁴"},
              {4, "0.167", "33.333", "0.125", "1.23×10⁻⁴"},
              {5, "0.1667", "33.3333", "0.125", "1.234×10⁻⁴"},
              {6, "0.16667", "33.33333", "0.125", "1.2340×10⁻⁴"}}) {
            const int digits = so_many;
            const Styled styled({digits, false});
            CAPTURE(digits);
            CHECK(format_number(1 / 6.0) == sixth);
            CHECK(format_short(100 / 3.0) == third);
            CHECK(format_short(.125) == eighth);
            CHECK(format_number(1.234e-4) == power);
            CHECK(format_number(1 / 6.0, 4) == "0.167");
            CHECK(format_short(-1.5) == "−1.5");
            CHECK(format_short(1.9999999999999998) == "2");
            CHECK(format_short(3) == "3");
        }
        CHECK(format_number(1 / 6.0) == "0.167");
        set_number_style({99, false});
        CHECK(number_style().digits == most_digits);
        set_number_style({-1, true});
        CHECK(number_style() == NumberStyle{fewest_digits, true});
        set_number_style({});
    }
    TEST_CASE("a decimal comma everywhere, and never a comma between groups") {
        const Styled styled({4, true});
        CHECK(format_number(-11.8045) == "−11,80");
        CHECK(format_short(.5) == "0,5");
        CHECK(format_fixed(1.36788, 2) == "1,37");
        CHECK(format_full(0.1) == "0,1");
        CHECK(format_number(1.2345e-7) == "1,23×10⁻⁷");
        CHECK(format_size(1536) == "1,50 KiB");
        CHECK(format_size(1500) == "1,46 KiB");
        CHECK(format_time(1.5e-3) == "1,50 ms");
        CHECK(format_count(131072) == "131\u2009072");
        CHECK(format_apart(1.23411, 1.23412).second == "1,23412");
        CHECK(std::string(list_separator()) == "; ");
    }
    TEST_CASE("files are written without the style") {
        const Styled styled({6, true});
        {
            const PlainNumbers plain;
            CHECK(format_number(11.8045) == "11.80");
            CHECK(std::string(list_separator()) == ", ");
        }
        CHECK(format_number(11.8045) == "11,8045");
    }
    TEST_CASE("what is printed is the value, rounded, in every style") {
        Random random(62);
        for (const NumberStyle style : all_styles()) {
            const Styled styled(style);
            for (int n = 0; n < 1000; ++n) {
                const double v =
                    n % 2 ? any_double(random)
                          : pick(random, -99999999, 99999999) / 1e4 * choose(random, {1, 1e-3, 1e-6});
                if (std::isnan(v)) continue;
                for (const std::string& text :
                     {format_number(v), format_short(v), format_fixed(v, pick(random, 0, 17))}) {
                    const auto printed = read_number(text);
                    CHECK_MESSAGE((printed && rounds(*printed, v)), v, " as ", text);
                    const ShownNumber shown = read_shown(text);
                    const double size = std::abs(v);
                    if (printed &&
                        (std::abs(shown.value - static_cast<double>(printed->value)) > 1e-12 * size ||
                         (std::isfinite(v) && shown.unit <= 0)))
                        FAIL_CHECK(text, " is read as ", shown.value);
                    if (text.find(style.comma ? '.' : ',') != std::string::npos) FAIL_CHECK(text);
                    if (text == "−0" || text.starts_with("−0 ")) FAIL_CHECK(text);
                }
            }
        }
    }
    TEST_CASE("no lie on screen, in every style") {
        int formulas = 0;
        for (const NumberStyle style : all_styles()) {
            const Styled styled(style);
            CAPTURE(style.digits);
            CAPTURE(style.comma);
            for (const Problem& problem : small_problems())
                for (const Lesson& lesson : lessons())
                    if (const auto trace = build_trace(lesson, problem))
                        formulas += check_explanations(**trace);
        }
        CHECK(formulas > 10000);
    }
}

TEST_CASE("what is shown as a count, with spaces between the thousands, is read again") {
    for (const std::int64_t n : {0L, 9999L, 10000L, -16384L, 1048576L, 4398046511104L}) {
        CHECK(read_shown(format_count(n)).value == static_cast<double>(n));
        CHECK(read_shown(format_count(n)).unit == 1);
    }
}

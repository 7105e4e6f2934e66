#include "core/base/beside_matrix.h"
#include "core/walk/formula.h"
#include "core/walk/printed_sum.h"
#include "core/walk/printed_table.h"
#include "tests/core/expression.h"
#include "tests/core/problems.h"
#include "tests/core/steps.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace tilewalk::test;

namespace {

std::string shown(const Expr& e, double result) { return plain(write(e, result)); }

}  // namespace

TEST_SUITE("formula") {
    TEST_CASE("brackets stand where the arithmetic needs them, and only there") {
        CHECK(shown(sum({num(1), num(2), num(3)}), 6) == "1 + 2 + 3");
        CHECK(shown(product({num(2), sum({num(1), num(2)})}), 6) == "2 × (1 + 2)");
        CHECK(shown(sum({product({num(2), num(3)}), num(1)}), 7) == "2 × 3 + 1");
        CHECK(shown(sum({num(1), sum({num(2), num(3)})}), 6) == "1 + (2 + 3)");
        CHECK(shown(difference(num(5), difference(num(3), num(1))), 3) == "5 − (3 − 1)");
        CHECK(shown(quotient(num(8), quotient(num(4), num(2))), 4) == "8 ÷ (4 ÷ 2)");
        CHECK(shown(quotient(sum({num(1), num(2)}), num(2)), 1.5) == "(1 + 2) ÷ 2");
        CHECK(shown(product({num(2), exponential(num(0))}), 2) == "2 × exp(0)");
        CHECK(shown(sum({num(1), logarithm(num(1))}), 1) == "1 + ln(1)");
        CHECK(shown(maximum({num(1), num(-2)}), 1) == "max(1, −2)");
    }
    TEST_CASE("a negative number is bracketed after a sign, not at the start") {
        CHECK(shown(sum({num(-1), num(-2)}), -3) == "−1 + (−2)");
        CHECK(shown(difference(num(-1), num(-2)), 1) == "−1 − (−2)");
        CHECK(shown(product({num(2), num(-3)}), -6) == "2 × (−3)");
        CHECK(shown(exponential(difference(num(-1), num(3))), std::exp(-4)) == "exp(−1 − 3)");
        CHECK(shown(sum({num(1), num(-0.0)}), 1) == "1 + 0");
    }
    TEST_CASE("the numbers of one formula share their decimals") {
        CHECK(shown(sum({num(1), num(0.25)}), 1.25) == "1.00 + 0.25");
        CHECK(shown(sum({num(1), num(0.1353352832)}), 1.1353352832) == "1.000 + 0.135");
    }
    TEST_CASE("= stands where the shown numbers come to just the shown result, else ≈") {
        const auto sign = [](const Expr& e, double result) {
            return std::string(sign_before(write(e, result), format_short(result)));
        };
        CHECK(sign(sum({num(1), num(2)}), 3) == "=");
        CHECK(sign(exponential(num(-1)), std::exp(-1)) == "≈");
        CHECK(sign(product({num(0.5), num(-3)}), -1.5) == "=");
        CHECK(sign(exponential(num(0)), 1) == "=");
        // 0.368 × 1.368 + 1.135 would come to 1.638
        const double alpha = std::exp(-1), rest = 1 + std::exp(-2), l = alpha * (1 + alpha) + rest;
        CHECK(shown(sum({product({num(alpha), num(1 + alpha)}), num(rest)}), l) ==
              "0.3679 × 1.3679 + 1.1353");
        CHECK(sign(sum({product({num(alpha), num(1 + alpha)}), num(rest)}), l) == "≈");
        CHECK(std::string(sign_before(write(num(INFINITY), INFINITY), "∞")) == "=");
        CHECK(std::string(sign_before(write(num(NAN), NAN), "NaN")) == "=");
    }
    TEST_CASE("the shown numbers come to the shown result, with up to three decimals more") {
        // 0.225 × (10 − 34.816) would come to −5.584
        const double weight = .22448, mean = 34.81554;
        CHECK(shown(product({num(weight), difference(num(10), num(mean))}), weight * (10 - mean)) ==
              "0.2245 × (10.000 − 34.8155)");
        CHECK(shown(product({num(.3125), num(3)}), .9375) == "0.3125 × 3.000");
        // No number of decimals makes an even number of a third.
        CHECK(shown(quotient(num(1.0 / 3), num(1.0 / 3)), 1.5).size() < 45);
    }
    TEST_CASE("a formula has the numbers as their matrices have them") {
        const auto walk = walk_of("flash-forward", worked_example());
        const Explanation e = explain(*walk, 17);
        CHECK(plain(e.numbers) == "0.3679 × 2.8394 + 1.0000 × 9 + 0.1353 × 13");
        CHECK(plain(e.result) == "O[0,0] ≈ 11.804");
        CHECK(plain(explain(*walk, 14).result) == "α[0] ≈ 0.368");
    }
    TEST_CASE("each number of a formula is written as the matrix that holds it has it, also what is exact") {
        MatrixDigits whole, parts;
        whole.take(1), parts.take(1), parts.take(std::exp(-2));
        const auto of = [](double v, const MatrixDigits& digits) {
            Expr e = num(v);
            e.digits = &digits;
            return e;
        };
        CHECK(shown(sum({of(1, whole), of(1, parts), of(3, whole)}), 5) == "1 + 1.000 + 3");
        CHECK(shown(difference(num(1, Role::m), of(1, parts)), 0) == "1.000 − 1.000");
        CHECK(shown(product({num(1), of(1, parts)}), 1) == "1 × 1.000");  // a constant
        // With more decimals all of a matrix have them, but for one of which no number needs them.
        CHECK(shown(product({of(1, parts), of(std::exp(-2), parts), of(5, whole)}), .6769) ==
              "1.0000 × 0.1353 × 5");
        CHECK(text_alone(parts, 1) == "1.000");
        CHECK(text_alone(parts, 0) == "0.000");
        CHECK(text_alone(parts, 1e-5) == "1.00×10⁻⁵");
        CHECK(text_alone(whole, 3) == "3");
        // Powers of ten, ∞ and what stands in a matrix of powers of ten have no zeros behind them.
        CHECK(text_alone(parts, 1e6) == "1.00×10⁶");
        CHECK(text_alone(parts, infinity) == "∞");
        MatrixDigits powers;
        powers.take(1), powers.take(std::exp(-2)), powers.take(3e7);
        CHECK(text_alone(powers, 1) == format_short(1));
    }
    TEST_CASE("scores and their maxima, weights and what they are measured with, have the same decimals") {
        for (const char* lesson :
             {"flash-forward", "flash-forward-v1", "attention", "softmax-1pass", "ring"}) {
            const auto walk = walk_of(lesson, worked_example());
            for (const Slot slot : {Slot::alpha, Slot::l}) {
                INFO(lesson);
                CHECK(walk->digits(slot).decimals() == walk->digits(Slot::P).decimals());
            }
            CHECK(walk->digits(Slot::S).decimals() == walk->digits(Slot::m).decimals());
        }
    }
    TEST_CASE("one odd number among thousands decides the decimals of its matrix") {
        Problem p = *random_problem(60, 60, 1);
        p.Q.setZero(), p.K.setZero(), p.V.setOnes();
        p.Br = p.Bc = 60;
        p.V(1, 0) = .4137;
        const auto walk = walk_of("flash-forward", p);
        CHECK(walk->digits(Slot::V).text(.4137) == "0.414");
        CHECK(walk->digits(Slot::Vj).text(.4137) == "0.414");
    }
    TEST_CASE("numbers of millions are powers of ten, and what is shown of them comes to the result") {
        Problem p = *random_problem(7, 5, 1);
        p.scale = {Scale::Kind::number, 1e6};
        const auto walk = walk_of("flash-forward", p);
        for (int k = 0; k < walk->size(); ++k) {
            if (walk->step(k).op != Op::exponentials) continue;
            const Explanation e = explain(*walk, k);
            CAPTURE(plain(e.numbers));
            const double result = value_at(*holding(*walk, e.target, k).value, e.target);
            const double told = evaluate(plain(e.numbers))->value;
            if (result == 0)
                CHECK(told == 0);
            else
                CHECK(told == test::near(result, .011));
        }
    }
    TEST_CASE("more decimals where three would miss the result") {
        const double a = 1000.1234567, b = 1000.1230001;
        const std::string text = shown(difference(num(a), num(b)), a - b);
        CHECK(std::abs(static_cast<double>(evaluate(text)->value) - (a - b)) < .01 * (a - b));
        CHECK(text.size() > std::string("1000.123 − 1000.123").size());
    }
    TEST_CASE("the hue of a number is that of its quantity") {
        const Line line = write(product({num(2, Role::Q), num(3, Role::K)}), 6);
        REQUIRE(line.size() == 3);
        CHECK(line[0].role == Role::Q);
        CHECK(line[1].role == Role::none);
        CHECK(line[2].role == Role::K);
        CHECK(line[0].face == Span::Face::number);
    }
    TEST_CASE("whatever the numbers, the text is well formed") {
        Random random(50);
        for (int n = 0; n < 500; ++n) {
            const auto any = [&] {
                return choose(random, {0, -0.0, 1, -1, 0.5, 1e-320, -1e-7, 3e5, 1e6, -1e300, 1.0 / 3,
                                       INFINITY, -INFINITY, 999999.9999});
            };
            const Expr e =
                sum({product({num(any()), num(any())}),
                     quotient(num(any()), maximum({num(any()), difference(num(any()), num(any()))}))});
            const std::string text = shown(e, any());
            CHECK_MESSAGE(evaluate(text), text);
        }
    }
}

TEST_CASE("formula: a printed total is equal where the printed terms come to it, else about") {
    CHECK(std::string(sign_before_total({"0.5", "0.25"}, "0.75")) == "=");
    CHECK(std::string(sign_before_total({"0.368", "0.135", "1.000", "0.135"}, "1.639")) == "≈");
    CHECK(std::string(sign_before_total({}, "0")) == "=");
    CHECK(comes_to(1.6385, "1.639"));
    CHECK_FALSE(comes_to(1.638, "1.639"));
    CHECK(comes_to(-2.5, "−2.5"));
}

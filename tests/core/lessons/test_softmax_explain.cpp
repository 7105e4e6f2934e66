// No lie on screen in the softmax lessons: every printed line, worked out from its print alone, gives the
// number shown; its operands are the cells named as sources; and each sentence is true.
#include "core/lessons/softmax/softmax.h"
#include "tests/contains.h"
#include "tests/core/expression.h"
#include "tests/core/lessons/softmax_problems.h"

#include <cmath>
#include <map>

using namespace tilewalk::test;

TEST_SUITE("softmax explanations") {
    TEST_CASE("the lines of element 2 of row 0, as the picture shows them") {
        const auto trace = softmax_1pass(with_row(worked_example(), 0));
        const auto line = [&](Op op) {
            const Explanation e = explain(*trace, softmax_step(*trace, op, 3));
            CHECK(e.place == "element 2");
            return plain(e.formula) + " | " + plain(e.numbers) + " | " + plain(e.result);
        };
        CHECK(line(Op::load_x) == "x₂, V₂  ←  element 2 of x and of V | 1 × 4 + 4 × 4 | bytes read = 20");
        CHECK(line(Op::new_max) == "m₂  =  max(m₁, x₂) | max(1, 2) | m₂ = 2");
        CHECK(line(Op::correction) == "α₂  =  exp(m₁ − m₂) | exp(1 − 2) | α₂ ≈ 0.368");
        CHECK(line(Op::exponentials) == "p₂  =  exp(x₂ − m₂) | exp(2 − 2) | p₂ = 1.000");
        CHECK(line(Op::row_sum) == "d′₂  =  α₂ d′₁ + p₂ | 0.368 × 1.368 + 1.000 | d′₂ ≈ 1.503");
        CHECK(line(Op::output) == "o′₂  =  o′₁ (d′₁\u00A0÷\u00A0d′₂) α₂  +  (p₂\u00A0÷\u00A0d′₂) V₂ | 2.0758 "
                                  "× (1.3679 ÷ 1.5032) × 0.3679 + (1.000 ÷ 1.5032) × 9 | o′₂[0] ≈ 6.682");
        CHECK(explain(*trace, softmax_step(*trace, Op::new_max, 3)).title == "The maximum rises");
    }
    TEST_CASE("only the symbols change with the notation") {
        const auto formula = [&](Notation notation, int passes, Op op, int pass, bool normalised = true) {
            const auto trace = softmax_walk(with_row(worked_example(), 0, notation, normalised), passes);
            return plain(explain(*trace, softmax_step(*trace, op, 2, pass)).formula);
        };
        CHECK(formula(Notation::d_o, 3, Op::row_sum, 2) == "d₁  =  d₀ + p₁");
        CHECK(formula(Notation::d_o, 2, Op::divide, 2) == "a₁  =  exp(x₁ − m₃) ÷ d′₃");
        CHECK(formula(Notation::delta_omega, 2, Op::output, 2) == "o₁  =  o₀ + a₁ V₁");
        CHECK(formula(Notation::delta_omega, 1, Op::output, 1) ==
              "ω₁  =  ω₀ (δ₀\u00A0÷\u00A0δ₁) α₁  +  (p₁\u00A0÷\u00A0δ₁) V₁");
        CHECK(formula(Notation::l_O, 1, Op::output, 1, false) == "O\u0303₁  =  α₁ O\u0303₀ + p₁ V₁");
        Random random(63);
        for (int n = 0; n < 60; ++n) {
            const Problem p = any_row(random, 6);
            for (int passes : {3, 2, 1}) {
                const auto a = softmax_walk(with_row(p, p.options.row, Notation::d_o), passes),
                           b = softmax_walk(with_row(p, p.options.row, Notation::delta_omega), passes);
                REQUIRE(a->size() == b->size());
                for (int k = 0; k < a->size(); ++k) {
                    CHECK(plain(explain(*a, k).numbers) == plain(explain(*b, k).numbers));
                    CHECK(explain(*a, k).result.back().text == explain(*b, k).result.back().text);
                }
            }
        }
    }
    TEST_CASE("a maximum that starts, rises, stays or is not there yet is said to do so") {
        Random random(64);
        int seen[4] = {};
        for (int n = 0; n < 300; ++n) {
            const Problem p = any_row(random, 7);
            for (int passes : {2, 1}) {
                const auto trace = softmax_walk(p, passes);
                for (int element = 1; element <= p.N_kv(); ++element) {
                    const int k = softmax_step(*trace, Op::new_max, element);
                    const double before = trace->live(Slot::m, k - 1).value->data(0, 0),
                                 now = trace->live(Slot::m, k).value->data(0, 0);
                    const int kind = std::isinf(now) ? 3 : std::isinf(before) ? 2 : now > before ? 1 : 0;
                    const std::map<Op, std::vector<const char*>> words{
                        {Op::new_max, {"it stays", "is larger than", "is the first score", "no maximum yet"}},
                        {Op::correction,
                         {"did not change", "repairs the whole past", "empty start", "stands in"}},
                        {Op::row_sum,
                         {"did not move", "brings the old sum from", "starts the sum", "stays empty"}}};
                    for (const auto& [told, sentences] : words) {
                        const Op op = told;
                        const Explanation e = explain(*trace, softmax_step(*trace, op, element));
                        INFO(describe(p), ", element ", element, ", ", name(op), ": ", e.why);
                        CHECK(contains(e.why, sentences[static_cast<std::size_t>(kind)]));
                    }
                    ++seen[kind];
                }
            }
        }
        for (int times : seen) CHECK(times > 20);
    }
    TEST_CASE("masked elements are read, weigh nothing, and are said to be masked") {
        const Problem p = causal(with_row(worked_example(), 1));
        for (int passes : {3, 2, 1}) {
            const auto trace = softmax_walk(p, passes);
            for (int element : {3, 4}) {
                CHECK(contains(explain(*trace, softmax_step(*trace, Op::load_x, element)).why,
                               "mask hides element"));
                const Op weight = passes == 1 ? Op::exponentials : Op::divide;
                const int k = softmax_step(*trace, weight, element, passes);
                CHECK(trace->live(passes == 1 ? Slot::P : Slot::Prob, k).value->data(0, 0) == 0);
            }
            CHECK_FALSE(contains(explain(*trace, softmax_step(*trace, Op::load_x, 2)).why, "mask"));
        }
    }
    TEST_CASE("the shares of the old average and of the new value make 1") {
        Random random(65);
        int shares = 0;
        for (int n = 0; n < 100; ++n) {
            Problem p = any_row(random, 6);
            p.options.normalised = true;
            const auto trace = softmax_1pass(p);
            for (int k = 0; k < trace->size(); ++k) {
                const std::string why = explain(*trace, k).why;
                const std::size_t at = why.find("a share of ");
                if (at == std::string::npos) continue;
                const std::size_t comma = why.find(", and", at), rest = why.find("the rest, ");
                const auto old = read_number(why.substr(at + 11, comma - at - 11));
                const auto add = read_number(why.substr(rest + 10, why.size() - rest - 11));
                REQUIRE(old);
                REQUIRE(add);
                CHECK(std::abs(static_cast<double>(old->value + add->value) - 1) < 0.0011);
                ++shares;
            }
        }
        CHECK(shares > 50);
    }
}

// Derivation and proof: both sides of every equation agree, for every element and every cut of the row; the
// printed numbers give the printed result; and the values are those that the lessons record.
#include "core/lessons/softmax/softmax.h"
#include "tests/contains.h"
#include "tests/core/expression.h"
#include "tests/core/lessons/softmax_problems.h"

#include <cmath>

using namespace tilewalk::test;

namespace {

std::string where(const Problem& p, int at, const Argument& a) {
    return describe(p) + ", row " + std::to_string(p.options.row) + ", at " + std::to_string(at) + ": " +
           a.title + " | " + plain(a.formula) + " | " + plain(a.numbers) + " | " + plain(a.result) + " | " +
           a.why;
}

// How far two ways to the same number may lie apart: rounding, in the size of the terms.
bool same(double a, double b, double size) {
    if (std::isinf(a) || std::isinf(b)) return a == b;
    return std::abs(a - b) <= 1e-12 * std::max({std::abs(a), std::abs(b), size});
}

void check_print(const Problem& p, int at, const Argument& a) {
    const auto shown = read_number(a.result.back().text);
    if (!shown || !rounds(*shown, a.value)) FAIL_CHECK("not the value ", a.value, ": ", where(p, at, a));
    if (!shown || a.numbers.empty()) return;
    const std::string fault =
        fault_of(plain(a.numbers), sign_of_result(plain({a.result.begin(), std::prev(a.result.end())})),
                 *shown, a.value == std::round(a.value));
    if (!fault.empty()) FAIL_CHECK(fault, ": ", where(p, at, a));
}

void check_arguments(const Problem& p, int at, const std::vector<Argument>& lines, double size) {
    for (const Argument& a : lines) {
        check_print(p, at, a);
        if (!same(a.value, a.other, size))
            FAIL_CHECK("the sides differ, ", a.value, " and ", a.other, ": ", where(p, at, a));
        if (a.title.empty() || plain(a.formula).empty() || a.why.empty() || a.why.back() != '.')
            FAIL_CHECK("a part is missing: ", where(p, at, a));
        for (const char* bad : {"nan", "inf", "−−", "− −", "NaN"})
            if (contains((a.why + plain(a.numbers) + plain(a.result)), bad))
                FAIL_CHECK("'", bad, "' in ", where(p, at, a));
    }
}

void check_every_element_and_cut(const Problem& p) {
    const int R = p.options.row;
    Problem online = p;
    online.options.normalised = true;
    const auto trace = softmax_1pass(online);
    const double largest = p.V.cwiseAbs().maxCoeff();
    for (int col = 0; col < p.d(); ++col) {
        for (int n = 1; n <= p.N_kv(); ++n) {
            const auto lines = softmax_derivation(p, n, col);
            REQUIRE(lines.size() == 6);
            check_arguments(p, n, lines, largest);
            // The surrogates are what the one-pass lesson holds after element n.
            INFO(describe(p), ", row ", R, ", element ", n, ", column ", col);
            CHECK(same(lines[1].value, left_in(*trace, Slot::l, Op::row_sum, n), 0));
            const int k = softmax_step(*trace, Op::output, n);
            CHECK(same(lines[4].value, trace->live(Slot::Oi, k).value->data(0, col), largest));
            CHECK(lines[2].value == lines[1].value);
            CHECK(lines[5].value == lines[4].value);
        }
        // d′_N = d_N and o′_N = o_N
        const auto last = softmax_derivation(p, p.N_kv(), col);
        CHECK(last[0].value == last[1].value);
        CHECK(last[3].value == last[4].value);
        for (int split = 0; split <= p.N_kv(); ++split) {
            const auto lines = softmax_proof(p, split, col);
            REQUIRE(lines.size() == 8);
            check_arguments(p, split, lines, largest);
            CHECK(lines[2].value == trace->result(Slot::m)(0, 0));
            CHECK(same(lines[5].value, trace->result(Slot::l)(0, 0), 0));
            CHECK(same(lines[7].value, trace->result(Slot::O)(0, col), largest));
        }
    }
}

}  // namespace

TEST_SUITE("softmax derivation") {
    TEST_CASE("worked example, every row, element and cut") {
        for (int row = 0; row < 4; ++row)
            for (int notation = 0; notation < 3; ++notation)
                check_every_element_and_cut(with_row(worked_example(), row, static_cast<Notation>(notation)));
    }
    TEST_CASE("random problems") {
        Random random(66);
        for (int n = 0; n < 250; ++n) check_every_element_and_cut(any_row(random, 9));
    }
    TEST_CASE("logits that exp alone could not bear") {
        for (double factor : {1000.0, 1e9, 1e-12}) {
            Problem p = with_row(*random_problem(5, 2, 4), 3);
            p.Q *= factor;
            check_every_element_and_cut(p);
        }
    }
    TEST_CASE("a row that sees nothing") {
        Problem p = causal(*random_problem(6, 3, 1));
        keep_keys(p, 3);
        for (int row = 0; row < 6; ++row) check_every_element_and_cut(with_row(p, row));
    }
    // Seed 001: d′_i = d′_{i−1} · e^{m_{i−1} − m_i} + e^{x_i − m_i} and O′_i = O′_{i−1} (d′_{i−1} / d′_i ·
    // e^{m_{i−1} − m_i}) + V_i (e^{x_i − m_i} / d′_i); seed 002: d_N = d′_N, o′_N = o_N.
    TEST_CASE("the recurrences of the sources, at element 2 of row 0") {
        const auto lines = softmax_derivation(with_row(worked_example(), 0), 3, 0);
        CHECK(plain(lines[0].formula) == "d₂  =  Σ j ≤ 2  exp(x_j − m₃)");
        CHECK(plain(lines[2].formula) == "d′₂  =  d′₁ exp(m₁ − m₂) + exp(x₂ − m₂)");
        CHECK(plain(lines[2].numbers) == "1.368 × exp(1.000 − 2.000) + exp(2.000 − 2.000)");
        CHECK(plain(lines[2].result) == "d′₂ ≈ 1.503");
        CHECK(plain(lines[5].formula) == "o′₂  =  o′₁ (d′₁ ÷ d′₂) exp(m₁ − m₂)  +  (exp(x₂ − m₂) ÷ d′₂) V₂");
        CHECK(plain(lines[5].result) == "o′₂[0] ≈ 6.682");
    }
    // Seed 003: ω_i = ω_{i−1} exp(m_{i−1} − m_i) δ_{i−1} / δ_i + exp(x_i − m_i) / δ_i V_i
    TEST_CASE("the same with δ and ω") {
        const auto lines = softmax_derivation(with_row(worked_example(), 0, Notation::delta_omega), 3, 0);
        CHECK(plain(lines[5].formula) == "ω₂  =  ω₁ (δ₁ ÷ δ₂) exp(m₁ − m₂)  +  (exp(x₂ − m₂) ÷ δ₂) V₂");
    }
    // Seed 000, "Why This Works": ℓ⁽²⁾ = e^{m⁽¹⁾ − m⁽²⁾} ℓ⁽¹⁾ + ℓ⁽²⁾_new
    TEST_CASE("the proof for the tiles of the tutorial") {
        const auto lines = softmax_proof(with_row(worked_example(), 0, Notation::l_O), 2, 0);
        CHECK(plain(lines[0].result) == "ℓ(1) ≈ 1.368");
        CHECK(plain(lines[1].result) == "ℓ(2) ≈ 1.135");
        CHECK(plain(lines[2].numbers) == "max(1, 2)");
        CHECK(plain(lines[3].numbers) == "exp(1.000 − 2.000) × 1.368");
        CHECK(plain(lines[5].result) == "ℓ ≈ 1.639");
        CHECK(plain(lines[7].result) == "O[0] ≈ 7.204");
    }
    TEST_CASE("long rows are written with what came before in one number") {
        Problem p = with_row(*random_problem(40, 2, 9), 7);
        check_every_element_and_cut(p);
        const std::string numbers = plain(softmax_derivation(p, 30, 0)[1].numbers);
        CHECK(contains(numbers, "exp"));
        CHECK(numbers.size() < 200);
    }
}

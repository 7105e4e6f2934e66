// The lesson of standard attention, held against dense attention in long double and the tutorial's figures.
#include "core/lessons/dense/dense.h"
#include "tests/contains.h"
#include "tests/core/lessons/dense_checks.h"

#include <cmath>

using namespace tilewalk::test;

TEST_SUITE("attention") {
    TEST_CASE("the steps and the kernels they belong to") {
        const auto trace = attention(worked_example());
        CHECK(ops(*trace) == "0load 0scores 0store 1load 1row_max 1exponentials 1row_sum 1divide 1store "
                             "2load 2output 2store");
        Problem p = causal(worked_example());
        p.scale = {Scale::Kind::sqrt, 1};
        const auto more = attention(p);
        CHECK(more->size() == 14);
        CHECK(more->step(2).op == Op::scale);
        CHECK(more->step(5).op == Op::mask);
        p.causal = false;
        p.window = 3;  // wide enough to hide nothing
        CHECK(attention(p)->size() == 13);
    }
    TEST_CASE("S makes one round trip through HBM and P another: 4 passes over N × N_kv") {
        const auto trace = attention(*random_problem(12, 2, 1));
        const auto square = [](const Access& a) { return a.slot == Slot::S_hbm || a.slot == Slot::P_hbm; };
        std::ptrdiff_t pairs = 0;
        for (const int k : steps_of(*trace, Op::load))
            pairs += std::ranges::count_if(trace->reads(k), square);
        for (const int k : steps_of(*trace, Op::store))
            pairs += std::ranges::count_if(trace->writes(k), square);
        CHECK(pairs == 4);
    }
}

TEST_SUITE("the tutorial's attention") {
    TEST_CASE("part I.3, step 1: S = QKᵀ") {
        const auto trace = attention(worked_example());
        check_figures(after(*trace, Slot::S, Op::scores), {1, 0, 2, 0, 0, 1, 0, 2, 1, 0, 1, 0, 0, 1, 0, 1},
                      0);
        const Explanation e = explain(*trace, nth_step(*trace, Op::scores), CellRef{Slot::S, 0, 2});
        CHECK(plain(e.numbers) + " = " + e.result.back().text == "1 × 1 + 0 × 0 + 1 × 1 + 0 × 0 = 2");
        // "Token 0 has highest score (2) with Token 2"
        CHECK(why(*trace, Op::row_max, {Slot::m, 0, 0}).starts_with("Query 0 scores highest with key 2"));
    }
    TEST_CASE("part I.3, step 2: exponentials of row 0, measured from the maximum 2") {
        const auto trace = attention(worked_example());
        // The tutorial takes exp without the maximum: [2.718, 1, 7.389, 1], sum 12.107. Divided by e² they
        // are what the lesson shows.
        const double e2 = std::exp(2.0);
        check_figures(after(*trace, Slot::E, Op::exponentials).row(0), {2.718 / e2, 1 / e2, 1, 1 / e2},
                      0.0005);
        CHECK(std::abs(after(*trace, Slot::l, Op::row_sum)(0, 0) * e2 - 12.107) < 0.0005);
    }
    TEST_CASE("part I.3, step 2: P") {
        // Three decimals. One figure is cut off instead of rounded: e / (e + 2 + e²) = 0.22452 is printed as
        // 0.224; the others hold within half a unit.
        const Matrix P = attention(worked_example())->result(Slot::P_hbm);
        CHECK(std::abs(P(0, 0) - 0.2245152) < 5e-8);
        CHECK(P(1, 1) == P(0, 0));
        check_figures(P,
                      {0.2245152, 0.083, 0.610, 0.083, 0.083, 0.2245152, 0.083, 0.610, 0.366, 0.134, 0.366,
                       0.134, 0.134, 0.366, 0.134, 0.366},
                      0.0005);
    }
    TEST_CASE("part I.3, step 2: who attends to whom") {
        const auto trace = attention(worked_example());
        // "Token 0 attends 61% to Token 2, 22% to itself, and only 8% each to Tokens 1 and 3."
        CHECK(why(*trace, Op::divide, {Slot::Prob, 0, 2}) ==
              "Query 0 attends 61\u00A0% to key 2, more than to any other key.");
        CHECK(why(*trace, Op::divide, {Slot::Prob, 0, 0})
                  .starts_with("Query 0 attends 22\u00A0% to itself; the largest share goes to key 2 (61"));
        CHECK(why(*trace, Op::divide, {Slot::Prob, 0, 3}).starts_with("Query 0 attends 8.3\u00A0% to key 3"));
        CHECK(why(*trace, Op::divide, {Slot::Prob, 2, 0}) ==
              "Query 2 attends 37\u00A0% to key 0, its largest weight, given to 2 keys alike.");
    }
    TEST_CASE("part I.3, step 3: O = PV") {
        // Row 0 to 3 as printed, two decimals.
        check_figures(attention(worked_example())->result(Slot::O),
                      {7.20, 8.20, 9.20, 10.20, 9.88, 10.88, 11.88, 12.88, 6.08, 7.08, 8.08, 9.08, 7.92, 8.92,
                       9.92, 10.92},
                      0.005);
        CHECK(contains(why(*attention(worked_example()), Op::output, {Slot::Oi, 0, 0}), "towards key 2 (61"));
    }
}

TEST_SUITE("attention in words") {
    TEST_CASE("words name their tokens; a word that occurs twice carries its position") {
        Problem p = worked_example();
        p.tokens = {"the", "cat", "sat", "it"};
        CHECK(why(*attention(p), Op::divide, {Slot::Prob, 1, 3}) ==
              "“cat” attends 61\u00A0% to “it”, more than to any other key.");
        p.tokens = {"the", "cat", "the", "it"};
        CHECK(why(*attention(p), Op::divide, {Slot::Prob, 0, 2})
                  .starts_with("“the” (0) attends 61\u00A0% to “the” (2)"));
        CHECK(why(*attention(p), Op::row_max, {Slot::m, 2, 0}).starts_with("“the” (0) and “the” (2) tie"));
    }
    TEST_CASE("with fewer queries than keys they are not called tokens") {
        Problem p = worked_example();
        p.Q = p.Q.topRows(2).eval();
        CHECK(why(*attention(p), Op::divide, {Slot::Prob, 0, 2})
                  .starts_with("Query 0 attends 61\u00A0% to key 2"));
        p.tokens = {"a", "b", "c", "d"};  // the last query is the last token
        CHECK(why(*attention(p), Op::divide, {Slot::Prob, 0, 2}).starts_with("“c” attends 61\u00A0% to “c”"));
    }
    TEST_CASE("equal scores, a single key and no key are told apart") {
        Problem p = worked_example();
        p.Q.setZero();
        CHECK(why(*attention(p), Op::divide, {Slot::Prob, 0, 0}) ==
              "Query 0 attends 25\u00A0% to itself, and the same to every other key that it sees.");
        CHECK(why(*attention(p), Op::row_max, {Slot::m, 0, 0}).starts_with("4 keys tie"));
        CHECK(contains(why(*attention(p), Op::output, {Slot::Oi, 0, 0}), "plain mean"));
        p.causal = true;
        CHECK(why(*attention(p), Op::divide, {Slot::Prob, 0, 0}) ==
              "Query 0 attends 100\u00A0% to itself, the only key that it sees.");
        CHECK(why(*attention(p), Op::divide, {Slot::Prob, 0, 1}) ==
              "Query 0 must not look at key 1: weight 0.");
        keep_keys(p, 2);
        CHECK(contains(why(*attention(p), Op::divide, {Slot::Prob, 0, 0}), "sees no key"));
        CHECK(why(*attention(p), Op::output, {Slot::Oi, 0, 0}) == "Query 0 sees no key: its output is 0.");
    }
    TEST_CASE("no weight is rounded to 0 % or 100 % unless it is that") {
        Problem p = worked_example();
        p.K.setZero();
        p.Q.setOnes();
        p.K(0, 0) = 8;  // exp(−8) = 0.0003
        CHECK(contains(why(*attention(p), Op::divide, {Slot::Prob, 1, 1}), "less than 0.1\u00A0%"));
        p.K(0, 0) = 9;
        CHECK(contains(why(*attention(p), Op::divide, {Slot::Prob, 1, 0}), "more than 99.9\u00A0%"));
        p.K(0, 0) = 6;
        CHECK_FALSE(contains(why(*attention(p), Op::divide, {Slot::Prob, 1, 0}), "99.3\u00A0%"));
        p.K(0, 0) = 800;
        CHECK(contains(why(*attention(p), Op::divide, {Slot::Prob, 1, 0}), "100\u00A0%"));
        CHECK(contains(why(*attention(p), Op::exponentials, {Slot::E, 1, 1}), "cannot tell"));
    }
}

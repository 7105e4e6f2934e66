// The dense backward pass, held against Eigen in long double, central differences and the tutorial's figures.
#include "core/lessons/dense/dense.h"
#include "tests/contains.h"
#include "tests/core/lessons/contract.h"
#include "tests/core/lessons/dense_checks.h"

#include <cmath>

using namespace tilewalk::test;

TEST_SUITE("backward") {
    TEST_CASE("dQ, dK, dV equal central differences of the loss ⟨dO, O⟩") {
        Random random(61);
        int masked = 0, uneven = 0;
        for (int n = 0; n < 500; ++n) {
            const Problem p = gradient_problem(random, 4);
            const auto trace = attention_backward(p);
            check_differences(p, &Problem::Q, trace->result(Slot::dQ));
            check_differences(p, &Problem::K, trace->result(Slot::dK));
            check_differences(p, &Problem::V, trace->result(Slot::dV));
            masked += p.causal || p.window;
            uneven += p.N() != p.N_kv();
        }
        CHECK(masked > 100);
        CHECK(uneven > 100);
    }
    TEST_CASE("without dO the gradient of the sum of O is taken") {
        Problem p = tutorial_backward();
        p.dO.reset();
        const auto trace = attention_backward(p);
        CHECK(trace->live(Slot::dO, 0).value->data == Matrix::Ones(4, 4));
        check_results(*trace);
    }
    TEST_CASE("five kernels, six steps") {
        const auto trace = attention_backward(tutorial_backward());
        CHECK(ops(*trace) == "0dv 1dp 2row_dot 2ds 3dq 4dk");
        for (int kernel = 0; kernel < 5; ++kernel)
            CHECK(trace->lesson().lane(trace->problem(), kernel).size() == 2);
    }
    TEST_CASE("D is the same from dO and O, and the explanation says so") {
        Random random(63);
        for (int n = 0; n < 100; ++n) {
            const Problem p = gradient_problem(random);
            const auto trace = attention_backward(p);
            const int k = nth_step(*trace, Op::row_dot);
            const Matrix O = trace->result(Slot::O), D = trace->live(Slot::Di, k).value->data;
            CHECK((output_gradient(p).cwiseProduct(O).rowwise().sum() - D).cwiseAbs().maxCoeff() < 1e-12);
            CHECK(explain(*trace, k).asides.size() == 1);
        }
    }
    TEST_CASE("whether descent raises a score is told by the sign of its gradient") {
        Random random(64);
        int up = 0, down = 0, still = 0;
        for (int n = 0; n < 60; ++n) {
            const auto trace = attention_backward(gradient_problem(random));
            const Matrix dS = trace->result(Slot::dS_hbm);
            for (int r = 0; r < dS.rows(); ++r)
                for (int c = 0; c < dS.cols(); ++c) {
                    const std::string text = why(*trace, Op::ds, {Slot::dS_hbm, r, c});
                    const bool raise = contains(text, "descent will raise"),
                               lower = contains(text, "descent will lower");
                    CHECK_MESSAGE(raise == (dS(r, c) < 0), text);
                    CHECK_MESSAGE(lower == (dS(r, c) > 0), text);
                    ++(raise ? up : lower ? down : still);
                }
        }
        CHECK(up > 50);
        CHECK(down > 50);
        CHECK(still > 50);
    }
}

TEST_SUITE("the tutorial's backward pass") {
    TEST_CASE("part I.4: dV = Pᵀ dO, dP = dO Vᵀ, dS and dK") {
        const auto trace = attention_backward(tutorial_backward());
        check_figures(trace->result(Slot::dV),
                      {0.590, 0.590, 0.590, 0.590, 0.217, 0.217, 0.217, 0.217, 0.976, 0.976, 0.976, 0.976,
                       0.217, 0.217, 0.217, 0.217},
                      0.0006);
        // "Token 2's value embedding receives the largest gradient because tokens 0 and 2 attended heavily to
        // it."
        CHECK(contains(why(*trace, Op::dv, {Slot::dV, 2, 0}), "query 0, which attends 61\u00A0% to key 2"));
        check_figures(trace->result(Slot::dP_hbm), {10, 26, 42, 58, 0, 0, 0, 0, 10, 26, 42, 58, 0, 0, 0, 0},
                      0);
        check_figures(trace->result(Slot::dS_hbm),
                      {-5.57, -0.73, 4.38, 1.91, 0, 0, 0, 0, -7.42, -0.58, 4.28, 3.72, 0, 0, 0, 0}, 0.005);
        // "Token 0 wants to increase attention to tokens 2 and 3 (dS > 0)": true of the loss, not of descent,
        // which goes against the gradient.
        CHECK(contains(why(*trace, Op::ds, {Slot::dS_hbm, 0, 2}), "descent will lower this score"));
        CHECK(contains(why(*trace, Op::ds, {Slot::dS_hbm, 0, 0}), "descent will raise this score"));
        check_figures(trace->result(Slot::dK),
                      {-12.99, 0, -5.57, 0, -1.31, 0, -0.73, 0, 8.66, 0, 4.38, 0, 5.64, 0, 1.91, 0}, 0.005);
    }
    TEST_CASE("part I.4, step 3: D") {
        const auto trace = attention_backward(tutorial_backward());
        const Matrix D = trace->live(Slot::Di, nth_step(*trace, Op::row_dot)).value->data;
        check_figures(D.bottomRows(3), {0, 30.30, 0}, 0.005);
        // The tutorial prints D₀ = 34.83: it went on with P rounded to three digits. Exact is 34.8155.
        check_figures(D.topRows(1), {34.83}, 0.015);
        CHECK(std::abs(D(0, 0) - 34.8155) < 5e-5);
        const double by_hand = 0.224 * 10 + 0.083 * 26 + 0.610 * 42 + 0.083 * 58;
        CHECK(std::abs(by_hand - 34.83) < 0.005);
    }
    TEST_CASE("part I.4, step 4: dQ") {
        const Matrix dQ = attention_backward(tutorial_backward())->result(Slot::dQ);
        // Cut off or summed from rounded dS: 1.18 where 1.1868 is exact, −3.14 and 3.14 where ∓3.1458 is.
        check_figures(dQ, {-1.19, 1.18, 4.38, 1.91, 0, 0, 0, 0, -3.14, 3.14, 4.28, 3.72, 0, 0, 0, 0}, 0.007);
        CHECK(std::abs(dQ(0, 1) - 1.1868) < 5e-5);
        CHECK(std::abs(dQ(2, 0) + 3.1458) < 5e-5);
        CHECK(std::abs(dQ(2, 1) - 3.1458) < 5e-5);
        Matrix others = dQ;
        others(0, 1) = 1.18, others(2, 0) = -3.14, others(2, 1) = 3.14;
        check_figures(others, {-1.19, 1.18, 4.38, 1.91, 0, 0, 0, 0, -3.14, 3.14, 4.28, 3.72, 0, 0, 0, 0},
                      0.005);
    }
    TEST_CASE("equations of the notes: dK is dSᵀ Q; Q dSᵀ, as they print it, is another matrix") {
        const auto trace = attention_backward(tutorial_backward());
        const Matrix dS = trace->result(Slot::dS_hbm), wrong = tutorial_backward().Q * dS.transpose();
        CHECK((wrong - trace->result(Slot::dK)).cwiseAbs().maxCoeff() > 1);
        CHECK(contains(why(*trace, Op::dk, {Slot::dK, 0, 0}), "Q dSᵀ"));
    }
}

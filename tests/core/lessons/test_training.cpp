// One training step, held against its own definition, central differences and the tutorial's figures.
#include "core/lessons/dense/dense.h"
#include "tests/core/lessons/dense_checks.h"

#include <array>
#include <cmath>
#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

double loss_after(const Trace& trace, int pass) { return after(trace, Slot::loss, Op::loss, pass)(0, 0); }

constexpr std::array weights = {Slot::W_Q, Slot::W_K, Slot::W_V};
constexpr std::array gradients = {Slot::dW_Q, Slot::dW_K, Slot::dW_V};
using Weights = std::array<Matrix, 3>;

Weights given_weights(const Trace& trace) {
    Weights W;
    for (std::size_t n = 0; n < 3; ++n) W[n] = trace.live(weights[n], -1).value->data;
    return W;
}

// Of the same problem with other weights: Q = X W_Q and so on.
double loss_with(Problem p, const Weights& W) {
    const Matrix dO = output_gradient(p);
    const Matrix X = p.projection ? p.projection->X : Matrix();
    const auto projected = [&](const Matrix& of) { return p.projection ? Matrix(X * of) : of; };
    p.Q = projected(W[0]), p.K = projected(W[1]), p.V = projected(W[2]);
    return loss_of(p, dO);
}

void check_weight_differences(const Problem& p, const Trace& trace) {
    Weights W = given_weights(trace);
    const double h = 1e-5;
    for (std::size_t n = 0; n < 3; ++n) {
        const Matrix dW = trace.result(gradients[n]);
        REQUIRE(dW.rows() == W[n].rows());
        REQUIRE(dW.cols() == W[n].cols());
        for (Eigen::Index x = 0; x < dW.size(); ++x) {
            const double kept = W[n].data()[x];
            W[n].data()[x] = kept + h;
            const double up = loss_with(p, W);
            W[n].data()[x] = kept - h;
            const double slope = (up - loss_with(p, W)) / (2 * h);
            W[n].data()[x] = kept;
            CHECK_MESSAGE(std::abs(dW.data()[x] - slope) <= 1e-6 * (1 + std::abs(slope)), describe(p), ", ",
                          info(gradients[n]).name, " ", x);
        }
    }
}

}  // namespace

TEST_SUITE("training step") {
    TEST_CASE("dW equals central differences of the loss, with and without a projection") {
        Random random(70);
        int projected = 0;
        for (int n = 0; n < 500; ++n) {
            Problem p = gradient_problem(random, 4);
            if (p.N() == p.N_kv() && n % 2) p = projected_problem(random, 4);
            if (p.projection && p.N() != p.N_kv()) p = gradient_problem(random, 4);
            REQUIRE_FALSE(validate(p));
            const auto trace = training_step(p);
            check_weight_differences(p, *trace);
            projected += p.projection.has_value();
        }
        CHECK(projected > 50);
    }
    TEST_CASE("W − η dW, and the loss before and after, are what their definitions say") {
        Random random(71);
        for (int n = 0; n < 500; ++n) {
            Problem p = n % 3 ? gradient_problem(random, 6) : projected_problem(random, 6);
            if (p.N() != p.N_kv()) p.projection.reset();
            p.options.learning_rate = choose(random, {0.1, 0.5, 0, -0.25, 3});
            const auto trace = training_step(p);
            Weights W = given_weights(*trace);
            const double before = loss_with(p, W);
            for (std::size_t x = 0; x < 3; ++x) {
                W[x] -= p.options.learning_rate * trace->result(gradients[x]);
                CHECK((trace->result(weights[x]) - W[x]).cwiseAbs().maxCoeff() <=
                      1e-12 * (1 + W[x].cwiseAbs().maxCoeff()));
            }
            INFO(describe(p));
            for (const auto& [pass, loss] : {std::pair{0, before}, {1, loss_with(p, W)}})
                CHECK(std::abs(loss_after(*trace, pass) - loss) <= 1e-9 * (1 + std::abs(loss)));
        }
    }
    TEST_CASE("the order of the steps; the second pass repeats the first") {
        const auto trace = training_step(tutorial_backward());
        const auto pass = [](const std::string& lane) {
            std::string out;
            for (const char* op : {"project", "project", "project", "scores", "row_max", "exponentials",
                                   "row_sum", "divide", "output", "loss"})
                out += lane + op + " ";
            return out;
        };
        CHECK(ops(*trace) + " " ==
              pass("0") +
                  "1dv 1dp 1row_dot 1ds 1dq 1dk 2weight_gradient 2weight_gradient 2weight_gradient "
                  "2update 2update 2update " +
                  pass("3"));
    }
    TEST_CASE("where queries and keys are different positions, keys have an identity of their own") {
        Problem p = worked_example();
        p.Q = p.Q.topRows(2).eval();
        const auto trace = training_step(p);
        CHECK(trace->live(Slot::X, -1).value->data == Matrix::Identity(2, 2));
        CHECK(trace->live(Slot::X_kv, -1).value->data == Matrix::Identity(4, 4));
        CHECK(training_step(worked_example())->tiles(Slot::X_kv) == 0);
    }
    TEST_CASE("the last step sets the promise of the gradient beside what happened") {
        Problem p = tutorial_backward();
        p.options.learning_rate = 1e-4;
        const auto gentle = training_step(p);
        const Explanation e = explain(*gentle, gentle->size() - 1);
        REQUIRE(e.asides.size() == 2);
        CHECK(e.why.find("close to what the gradient promised") != std::string::npos);
        double squares = 0;
        for (Slot slot : gradients) squares += gentle->result(slot).squaredNorm();
        const double real = loss_after(*gentle, 1) - loss_after(*gentle, 0);
        CHECK(std::abs(real + 1e-4 * squares) < 0.01 * 1e-4 * squares);
        p.options.learning_rate = -1;
        CHECK(explain(*training_step(p), 31).why.find("The loss goes") == 0);
        p.options.learning_rate = 0;
        CHECK(explain(*training_step(p), 31).why.find("Nothing moved") == 0);
    }
}

TEST_SUITE("the tutorial's weight update") {
    TEST_CASE("with X = I the weights are Q, K, V, and their gradients dQ, dK, dV") {
        const auto trace = training_step(tutorial_backward());
        CHECK(trace->live(Slot::X, -1).value->data == Matrix::Identity(4, 4));
        for (const WeightPath& path : weight_paths) {
            CHECK(trace->live(path.weight, -1).value->data == after(*trace, path.matrix, Op::project, 2));
            CHECK(trace->result(path.weight_gradient) == trace->result(path.gradient));
        }
    }
    TEST_CASE("η = 0.1: the new W_V, and row 0 of the new W_Q and W_K") {
        const auto trace = training_step(tutorial_backward());
        check_figures(trace->result(Slot::W_V),
                      {0.94, 1.94, 2.94, 3.94, 4.98, 5.98, 6.98, 7.98, 8.90, 9.90, 10.90, 11.90, 12.98, 13.98,
                       14.98, 15.98},
                      0.005);
        // "Token 2's value decreased most (by 0.098)"
        CHECK(std::abs(9 - trace->result(Slot::W_V)(2, 0) - 0.098) < 0.0005);
        // Printed from the hand-rounded dQ, and still right to two decimals.
        check_figures(trace->result(Slot::W_Q).row(0), {1.12, -0.12, 0.56, -0.19}, 0.005);
        check_figures(trace->result(Slot::W_K).row(0), {2.30, 0, 0.56, 0}, 0.005);
    }
    TEST_CASE("the loss falls, but by less than the gradient promises: the step is long") {
        // 65.12 is the sum of D₀ and D₂: the rows of O that dO asks for.
        const auto trace = training_step(tutorial_backward());
        CHECK(std::abs(loss_after(*trace, 0) - 65.1186) < 5e-5);
        CHECK(std::abs(loss_after(*trace, 1) - 26.6561) < 5e-5);
        const Explanation e = explain(*trace, 31);
        CHECK(plain(e.asides[0].numbers) == "−0.100 × (77.653 + 331.786 + 5.578)");
        CHECK(plain(e.asides[0].result) == "change = −41.502");
        CHECK(plain(e.asides[1].result) == "change = −38.463");
        CHECK(e.why.find("The loss goes from 65.119 to 26.656.") == 0);
    }
}

// One training step, held against its own definition, central differences and the tutorial's figures.
#include "core/lessons/dense/dense.h"
#include "core/problem/heads.h"
#include "tests/contains.h"
#include "tests/core/lessons/contract.h"
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

namespace {

// H_kv groups of 1 to 3 heads, one of them shown; often with what models do to the scores.
Problem grouped_problem(Random& random, int largest, int n) {
    Problem p;
    do {
        p = gradient_problem(random, largest);
        const int H_kv = pick(random, 1, 2), size = pick(random, 2, 3);
        give_heads(p, H_kv * size, H_kv);
        show_head(p, pick(random, 0, H_kv * size - 1));
        if (n % 3 == 0) p.logits = any_logits(random);
    } while (validate(p));
    return p;
}

// The weights of a group, W_Q of each of its heads. X is I.
struct GroupWeights {
    std::vector<Matrix> Q;
    Matrix K, V;
};

std::vector<int> heads_beside(const Problem& p) {
    std::vector<int> out;
    for (int h = 0; h < query_heads(p); ++h)
        if (key_head(p, h) == key_head(p, shown_head(p))) out.push_back(h);
    return out;
}

GroupWeights group_weights(const Problem& p) {
    GroupWeights out{{}, p.K, p.V};
    for (const int h : heads_beside(p)) out.Q.push_back(head_alone(p, h).Q);
    return out;
}

double loss_of_group(const Problem& p, const GroupWeights& W) {
    double out = 0;
    std::size_t n = 0;
    for (const int h : heads_beside(p)) {
        Problem alone = head_alone(p, h);
        alone.Q = W.Q[n++], alone.K = W.K, alone.V = W.V;
        out += loss_of(alone, output_gradient(alone));
    }
    return out;
}

void check_group_differences(const Problem& p, const Trace& trace) {
    GroupWeights W = group_weights(p);
    const double h = 1e-5;
    const auto check = [&](Matrix& of, const Matrix& gradient) {
        REQUIRE(gradient.size() == of.size());
        for (Eigen::Index x = 0; x < of.size(); ++x) {
            const double kept = of.data()[x];
            of.data()[x] = kept + h;
            const double up = loss_of_group(p, W);
            of.data()[x] = kept - h;
            const double slope = (up - loss_of_group(p, W)) / (2 * h);
            of.data()[x] = kept;
            CHECK_MESSAGE(std::abs(gradient.data()[x] - slope) <= 1e-6 * (1 + std::abs(slope)), describe(p));
        }
    };
    const Matrix dW_Q = trace.result(Slot::dW_Q);
    for (std::size_t n = 0; n < W.Q.size(); ++n)
        check(W.Q[n], dW_Q.middleRows(static_cast<int>(n) * p.N(), p.N()));
    check(W.K, trace.result(Slot::dW_K));
    check(W.V, trace.result(Slot::dW_V));
}

// dQ of each head, and dK and dV added up over the heads, from dense attention of one head at a time.
void check_against_dense(const Problem& p, const Trace& trace) {
    const Matrix dQ = trace.result(Slot::dQ), O = trace.result(Slot::O);
    Dense::Table dK = Dense::Table::Zero(p.N_kv(), p.d()), dV = dK, size_dK = dK, size_dV = dK;
    long double precision = 0;
    int row = 0;
    for (const int h : heads_beside(p)) {
        const Problem alone = head_alone(p, h);
        const DenseGradients g = dense_gradients(alone, output_gradient(alone));
        CHECK_MESSAGE(close_to(dQ.middleRows(row, p.N()), g.dQ, g.size_dQ, g.precision), describe(p));
        dK += g.dK, dV += g.dV, size_dK += g.size_dK, size_dV += g.size_dV;
        precision = std::max(precision, g.precision);
        row += p.N();
    }
    CHECK(dQ.rows() == row);
    CHECK(O.rows() == row);
    CHECK_MESSAGE(close_to(trace.result(Slot::dK), dK, size_dK, precision), describe(p));
    CHECK_MESSAGE(close_to(trace.result(Slot::dV), dV, size_dV, precision), describe(p));
}

}  // namespace

TEST_SUITE("training step of heads that share K and V") {
    TEST_CASE(
        "500 random problems: dense attention, head by head, to 1e-12 and central differences to 1e-6") {
        Random random(72);
        for (int n = 0; n < 500; ++n) {
            const Problem p = grouped_problem(random, 3, n);
            const auto trace = training_step(p);
            check_against_dense(p, *trace);
            if (n % 5 == 0) check_group_differences(p, *trace);
        }
    }
    TEST_CASE("every weight moves by its gradient, and the loss is that of the whole group") {
        Random random(73);
        for (int n = 0; n < 200; ++n) {
            Problem p = grouped_problem(random, 5, n);
            p.logits.sink.reset();  // it moves, too
            p.options.learning_rate = choose(random, {0.1, 0.5, 0, -0.25, 3});
            if (refuse(training_step, p)) continue;
            const auto trace = training_step(p);
            GroupWeights W = group_weights(p);
            INFO(describe(p));
            CHECK(std::abs(loss_after(*trace, 0) - loss_of_group(p, W)) <=
                  1e-9 * (1 + std::abs(loss_of_group(p, W))));
            const double rate = p.options.learning_rate;
            const Matrix dW_Q = trace->result(Slot::dW_Q);
            for (std::size_t x = 0; x < W.Q.size(); ++x)
                W.Q[x] -= rate * dW_Q.middleRows(static_cast<int>(x) * p.N(), p.N());
            W.K -= rate * trace->result(Slot::dW_K), W.V -= rate * trace->result(Slot::dW_V);
            CHECK(std::abs(loss_after(*trace, 1) - loss_of_group(p, W)) <=
                  1e-9 * (1 + std::abs(loss_of_group(p, W))));
        }
    }
    TEST_CASE("it keeps the contract: bytes, operations, formulas, words") {
        Random random(74);
        for (int n = 0; n < 40; ++n) {
            Problem p = grouped_problem(random, 4, n);
            if (n % 4 == 0)
                for (int t = 0; t < std::max(p.N(), p.N_kv()); ++t)
                    p.tokens.push_back("w" + std::to_string(t));
            if (n % 2 == 0) p.causal = true;
            if (refuse(training_step, p)) continue;
            const auto trace = training_step(p);
            check_walk(*trace);
            check_costs(*trace);
            CHECK(check_explanations(*trace) > 0);
        }
    }
    TEST_CASE("the steps are those of one head; every head of the group has the same walk") {
        Problem p = tutorial_backward();
        const std::string one = ops(*training_step(p));
        give_heads(p, 4, 2);
        const auto trace = training_step(p);
        CHECK(ops(*trace) == one);
        CHECK(trace->result(Slot::O).rows() == 8);
        CHECK(trace->problem().N() == 4);
        CHECK(trace->walked().rows_of_head() == 4);
        show_head(p, 1);
        CHECK(training_step(p)->result(Slot::W_K) == trace->result(Slot::W_K));
        show_head(p, 2);
        CHECK(training_step(p)->result(Slot::W_K) != trace->result(Slot::W_K));
        give_heads(p, 4, 4);  // no head shares its keys: one head's walk
        CHECK(training_step(p)->result(Slot::O).rows() == 4);
    }
    TEST_CASE("queries are told with their head, and whose the loss is") {
        Problem p = causal(tutorial_backward());
        give_heads(p, 4, 2);
        show_head(p, 3);
        const auto trace = training_step(p);
        const auto why = [&](Op op, std::optional<CellRef> cell = {}) {
            for (int k = 0; k < trace->size(); ++k)
                if (trace->step(k).op == op) return explain(*trace, k, cell).why;
            return std::string();
        };
        check_contains(why(Op::project), {"heads that share K and V", "query 0 of head 2"});
        check_contains(why(Op::scores, CellRef{Slot::S_hbm, 6, 1}), {"query 2 of head 3"});
        check_contains(why(Op::mask, CellRef{Slot::S, 4, 1}),
                       {"query 0 of head 3", "key 1 lies in the future"});
        check_contains(why(Op::dv), {"the sum over heads"});
        check_contains(why(Op::dk), {"the sum over heads"});
        check_contains(why(Op::loss), {"2\u00A0heads together"});
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
        CHECK(plain(e.asides[0].result) == "change ≈ −41.502");
        CHECK(plain(e.asides[1].result) == "change = −38.463");
        CHECK(e.why.find("The loss goes from 65.119 to 26.656.") == 0);
    }
}

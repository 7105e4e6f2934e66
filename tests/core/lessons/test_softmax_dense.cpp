// The textbook softmax against dense attention in long double, and what becomes of scores that exp cannot
// hold.
#include "core/lessons/table.h"
#include "core/problem/mask.h"
#include "tests/contains.h"
#include "tests/core/lessons/softmax_problems.h"

#include <cmath>

using namespace tilewalk::test;

namespace {

// One query with these scores.
Problem with_scores(std::initializer_list<double> scores) {
    Problem p = worked_example();
    p.Q = Matrix::Constant(1, 1, 1);
    p.K.resize(static_cast<Eigen::Index>(scores.size()), 1);
    std::copy(scores.begin(), scores.end(), p.K.data());
    p.V = p.K;
    for (Eigen::Index j = 0; j < p.V.rows(); ++j) p.V(j, 0) = static_cast<double>(j + 1);
    return with_row(p, 0);
}

std::string why(const Trace& trace, Op op, int n, int pass) {
    return explain(trace, softmax_step(trace, op, n, pass)).why;
}

}  // namespace

TEST_SUITE("softmax lessons") {
    TEST_CASE("a row with a score that exp cannot hold has no output") {
        Random random(71);
        int lost = 0;
        for (int n = 0; n < 500; ++n) {
            const Problem p = any_row(random, 8);
            if (softmax_scores(p).maxCoeff() <= 709.78) continue;
            CHECK_MESSAGE(softmax_dense(p)->result(Slot::O).hasNaN(), describe(p), ", row ", p.options.row);
            ++lost;
        }
        CHECK(lost > 10);
    }

    TEST_CASE("a large score makes ∞ of the sum and NaN of the output, and every step says so") {
        const auto trace = softmax_dense(with_scores({1000, 0, 2}));
        CHECK(std::isinf(left_in(*trace, Slot::P, Op::exponentials, 1)));
        CHECK(left_in(*trace, Slot::P, Op::exponentials, 2) == 1);
        CHECK(std::isinf(left_in(*trace, Slot::l, Op::row_sum, 3)));
        CHECK(std::isnan(left_in(*trace, Slot::Prob, Op::divide, 1, 2)));
        CHECK(left_in(*trace, Slot::Prob, Op::divide, 2, 2) == 0);
        CHECK(trace->result(Slot::O).hasNaN());
        CHECK(contains(why(*trace, Op::exponentials, 1, 1), "is ∞"));
        CHECK(contains(why(*trace, Op::row_sum, 2, 1), "lost"));
        CHECK(contains(why(*trace, Op::divide, 1, 2), "∞ ÷ ∞ has no value"));
        CHECK(contains(why(*trace, Op::output, 3, 2), "stays NaN"));
        CHECK(contains(explain(*trace, trace->size() - 1).why, "A row of NaN"));
        // The safe softmax of the same row.
        CHECK(softmax_3pass(with_scores({1000, 0, 2}))->result(Slot::O)(0, 0) == 1);
    }

    TEST_CASE("scores that exp can hold may have a sum that it cannot: the row of zeros is called wrong") {
        const auto trace = softmax_dense(with_scores({709.5, 709.5, 709.5, 709.5}));
        CHECK(contains(why(*trace, Op::exponentials, 1, 1), "several close below it"));
        CHECK(trace->result(Slot::O).isZero(0));
        CHECK(contains(explain(*trace, trace->size() - 1).why, "it is wrong"));
    }

    TEST_CASE("scores that are all very small give 0 ÷ 0; a row that sees no key gives 0") {
        const auto small = softmax_dense(with_scores({-1000, -1001}));
        CHECK(left_in(*small, Slot::l, Op::row_sum, 2) == 0);
        CHECK(small->result(Slot::O).hasNaN());
        CHECK(contains(why(*small, Op::divide, 1, 2), "0 ÷ 0 has no value"));
        Problem blind = causal(with_scores({1, 2}));
        blind.Q = Matrix::Constant(4, 1, 1);  // four queries, two keys: the first two come before every key
        REQUIRE_FALSE(sees_some_key(blind, 0));
        const auto zeros = softmax_dense(with_row(blind, 0));
        CHECK(zeros->result(Slot::O).isZero(0));
        CHECK(contains(explain(*zeros, zeros->size() - 1).why, "hides every key"));
    }

    TEST_CASE("it stands before the three passes") {
        const auto all = lessons();
        const auto at =
            std::ranges::find_if(all, [](const Lesson& lesson) { return &lesson == &softmax_dense; });
        REQUIRE(at != all.end());
        CHECK(&std::next(at)->get() == &softmax_3pass);
        CHECK(softmax_dense.rival.model(worked_example()).total() >
              softmax_dense.model(worked_example()).total());
    }
}

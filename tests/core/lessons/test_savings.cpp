// What newer kernels save in the softmax of a tile: lazy rescaling and the cubic. The witnesses: dense
// attention in long double, a loop of its own over the tiles' maxima, and the bounds that follow from 2^τ and
// from the cubic's error.
#include "core/lessons/forward/forward.h"
#include "core/lessons/shared/faults.h"
#include "core/problem/precision.h"
#include "core/problem/savings.h"
#include "core/walk/compare.h"
#include "core/walk/savings_told.h"
#include "tests/contains.h"
#include "tests/core/lessons/broken.h"
#include "tests/core/lessons/contract.h"

#include <cmath>

using namespace tilewalk::test;

namespace {

// The largest |p(f) ÷ 2^f − 1| on [0, 1), found in a sweep of a million points outside of this program.
constexpr double cubic_bound = 8.8e-5;

Problem lazy(Problem p, double threshold) {
    p.savings.lazy = threshold;
    return p;
}

Problem cubic(Problem p) {
    p.savings.cubic = true;
    return p;
}

// m after tile j of a lazy walk, row by row, from the dense scores.
std::vector<double> maxima(const Dense& dense, const Problem& p, int row, double threshold) {
    std::vector<double> out;
    long double m = p.logits.sink ? static_cast<long double>(*p.logits.sink) : -INFINITY;
    for (int first = 0; first < p.N_kv(); first += p.Bc) {
        const int keys = std::min(p.Bc, p.N_kv() - first);
        const long double tile = dense.S.row(row).segment(first, keys).maxCoeff();
        if (tile > m && !(tile - m <= threshold * std::log(2.0L))) m = tile;
        out.push_back(static_cast<double>(m));
    }
    return out;
}

// A threshold that no rise of this problem meets by a hair, where rounding would decide.
bool decides_clearly(const Dense& dense, const Problem& p, double threshold) {
    for (int row = 0; row < p.N(); ++row) {
        const auto a = maxima(dense, p, row, threshold * (1 - 1e-9)),
                   b = maxima(dense, p, row, threshold * (1 + 1e-9));
        if (a != b) return false;
    }
    return true;
}

void check_maxima(const Trace& trace, const Dense& dense, double threshold) {
    const Problem& p = trace.problem();
    for (int k = 0; k < trace.size(); ++k) {
        const Step& step = trace.step(k);
        if (step.op != Op::new_max) continue;
        const Value& m = trace.value(trace.writes(k)[0].value);
        for (int r = 0; r < m.region.rows; ++r) {
            const double expected =
                maxima(dense, p, m.region.row + r, threshold)[static_cast<std::size_t>(step.j)];
            const bool same = m.data(r, 0) == expected ||
                              std::abs(m.data(r, 0) - expected) <= 1e-9 * (1 + std::abs(expected));
            CHECK_MESSAGE(same, describe(p), ", step ", k, ", row ", r);
        }
    }
}

void check_output(const Trace& trace, const Dense& dense) {
    const Dense::Table limit = tolerance_O(dense);
    const Matrix O = trace.result(Slot::O);
    for (Eigen::Index r = 0; r < O.rows(); ++r)
        for (Eigen::Index c = 0; c < O.cols(); ++c)
            CHECK_MESSAGE(std::abs(O(r, c) - dense.O(r, c)) <= limit(r, c), describe(trace.problem()));
}

// Two keys in two tiles: the second scores just below twelve powers of two above the first.
Problem peaked() {
    Problem p = worked_example();
    p.Q = Matrix::Ones(1, 1);
    p.K = Matrix(2, 1), p.K << 0, 8.3177;
    p.V = Matrix(2, 1), p.V << 0, 1;
    p.Br = p.Bc = 1;
    p.dO.reset();
    p.projection.reset();
    p.tokens.clear();
    return p;
}

Problem in_fp8(Problem p) {
    p.precision.weights = Format::e4m3;
    return p;
}

double O_of(const Problem& p) { return flash_forward(p)->result(Slot::O)(0, 0); }

}  // namespace

TEST_SUITE("savings") {
    TEST_CASE("with τ = 0 the lazy walk is the plain one to the last bit") {
        Random random(301);
        for (int n = 0; n < 100; ++n) {
            const Problem p = any_problem(random);
            const auto plain = flash_forward(p), lagging = flash_forward(lazy(p, 0));
            REQUIRE(plain->size() == lagging->size());
            for (int k = 0; k < plain->size(); ++k)
                for (std::size_t a = 0; a < plain->writes(k).size(); ++a)
                    CHECK_MESSAGE(same_bits(plain->value(plain->writes(k)[a].value).data,
                                            lagging->value(lagging->writes(k)[a].value).data),
                                  describe(p), ", step ", k);
        }
    }
    TEST_CASE("m rises only by more than τ, O is dense attention's, and no weight exceeds 2^τ") {
        Random random(302);
        int kept = 0;
        for (int n = 0; n < 200; ++n) {
            const Problem p = any_problem(random);
            const double threshold = choose(random, {0.3, 0.75, 1.7, 4.0, 8.0, 12.0, 100.0});
            const Dense dense = dense_attention(p);
            if (!decides_clearly(dense, p, threshold)) continue;
            const auto trace = flash_forward(lazy(p, threshold));
            check_maxima(*trace, dense, threshold);
            check_output(*trace, dense);
            kept += count_savings(*trace).rises < count_savings(*flash_forward(p)).rises;
            every_write(*trace, [&](Slot slot, const Value& value, int k) {
                if (slot == Slot::P)
                    CHECK_MESSAGE((value.data.array() <= std::exp2(threshold) * (1 + 1e-12)).all(),
                                  describe(p), ", step ", k);
                // A rescaling that is done shrinks by more than 2^τ; the others multiply by 1.
                if (slot == Slot::alpha)
                    CHECK_MESSAGE(
                        (value.data.array() == 1 || value.data.array() < std::exp2(-threshold) * (1 + 1e-12))
                            .all(),
                        describe(p), ", step ", k);
            });
        }
        CHECK(kept > 20);
    }
    TEST_CASE("the cubic is within its bound, exact at whole powers, and cut off where fp32 ends") {
        double most = 0;
        for (int n = -126 * 4096; n < 20 * 4096; ++n) {
            const double x = n / 4096.0, right = std::exp2(x);
            most = std::max(most, std::abs(cubic_exp2(x).value - right) / right);
        }
        CHECK(most <= cubic_bound);
        CHECK(most >= 0.99 * cubic_bound);
        for (int n = -126; n <= 127; ++n) CHECK(cubic_exp2(n).value == std::ldexp(1.0, n));
        CHECK(cubic_exp2(-127).value == 0);
        CHECK(cubic_exp2(-1e300).value == 0);
        CHECK(cubic_exp2(-INFINITY).value == 0);
        CHECK(cubic_exp2(INFINITY).value == INFINITY);
        CHECK(cubic_exp2(5000).value == INFINITY);
        CHECK(std::isnan(cubic_exp2(NAN).value));
    }
    TEST_CASE("the cubic's O is off by no more than its weights can make it") {
        Random random(303);
        double most = 0;
        for (int n = 0; n < 200; ++n) {
            Problem p = cubic(any_problem(random));
            if (pick(random, 0, 1)) p = lazy(p, choose(random, {1.0, 8.0}));
            const Dense dense = dense_attention(p);
            const Matrix O = flash_forward(p)->result(Slot::O);
            // Weights of 1 ± ε make an average of values that is off by 2 ε ÷ (1 − ε) of the largest at most.
            const double V = p.V.cwiseAbs().maxCoeff(),
                         limit = 2 * cubic_bound / (1 - cubic_bound) * V + 1e-12 * V;
            for (Eigen::Index r = 0; r < O.rows(); ++r)
                for (Eigen::Index c = 0; c < O.cols(); ++c) {
                    const double off = std::abs(O(r, c) - static_cast<double>(dense.O(r, c)));
                    CHECK_MESSAGE(off <= limit, describe(p));
                    if (V > 0) most = std::max(most, off / V);
                }
        }
        CHECK(most > 1e-6);
    }
    TEST_CASE("a walk that saves has the same steps, costs and true explanations, whatever else is broken") {
        Random random(304);
        for (int n = 0; n < 80; ++n) {
            Problem p = any_problem(random, 6);
            if (pick(random, 0, 2)) p = lazy(p, choose(random, {0.5, 2.0, 8.0}));
            if (pick(random, 0, 1) || !p.savings.any()) p = cubic(p);
            if (pick(random, 0, 2) == 0) p = random_precision(random, p);
            if (pick(random, 0, 3) == 0) p = random_faults(random, p);
            INFO(describe(p));
            const auto truth = flash_forward(without_faults(p)), saving = flash_forward(p);
            CHECK(compare(*truth, *saving).mismatch.empty());
            check_costs(*saving);
            check_explanations(*saving);
        }
    }
    TEST_CASE("in e4m3 the dominant key of a lagging row loses 89 % of its weight, and ℓ does not know") {
        const Problem p = peaked();
        CHECK(O_of(p) == doctest::Approx(0.99976).epsilon(1e-5));
        CHECK(O_of(lazy(p, 12)) == doctest::Approx(0.99976).epsilon(1e-5));
        CHECK(O_of(in_fp8(p)) == doctest::Approx(0.99976).epsilon(1e-3));
        // 448 of 4095.9 in the product, all of it in ℓ
        CHECK(O_of(lazy(in_fp8(p), 12)) == doctest::Approx(448 / (1 + std::exp(8.3177))).epsilon(1e-9));
        const auto lagging = flash_forward(lazy(in_fp8(p), 12));
        const SavingsCount count = count_savings(*lagging);
        CHECK(count.saturated == 1);
        CHECK(count.lost == doctest::Approx(0.89).epsilon(2e-3));
        CHECK(count.worst_saturated == CellRef{Slot::P, 0, 1});
        CHECK(lagging->result(Slot::L)(0, 0) == doctest::Approx(flash_forward(p)->result(Slot::L)(0, 0)));
        const Comparison found = compare(*flash_forward(p), *lagging);
        for (const char* words :
             {"Of 1 rescaling of a row none is done", "1 weight saturates at 448 in e4m3",
              "misses 89.062 % of P̃[0,1]",
              "Alone, against fp64, O is off by: lazy rescaling 1.11×10⁻¹⁶, the formats 0; together 0.890"})
            CHECK_MESSAGE(contains(found.sentence, words), found.sentence);
        const int k = find_step(*lagging, Op::output, 0, 1);
        CHECK_MESSAGE(contains(explain(*lagging, k).why, "saturates at 448"), explain(*lagging, k).why);
    }
    TEST_CASE("a threshold of log₂ 448 or less saturates nothing") {
        Random random(305);
        for (int n = 0; n < 200; ++n) {
            const Problem p = lazy(in_fp8(any_problem(random)), std::log2(448.0));
            CHECK_MESSAGE(count_savings(*flash_forward(p)).saturated == 0, describe(p));
        }
    }
    TEST_CASE(
        "the step that keeps m says by how much the score rose, and the line of code says when it rises") {
        const auto lagging = flash_forward(lazy(worked_example(), 8));
        const int k = find_step(*lagging, Op::new_max, 0, 1);
        const Explanation told = explain(*lagging, k);
        CHECK_MESSAGE(contains(told.why, "by 1.443 powers of two"), told.why);
        CHECK_MESSAGE(contains(told.why, "m stays 1"), told.why);
        const auto lines = forward().code(lagging->problem());
        CHECK(contains(lines[static_cast<std::size_t>(told.code_line)].text, "τ"));
        const int weights = find_step(*lagging, Op::exponentials, 0, 1);
        CHECK_MESSAGE(contains(explain(*lagging, weights).why, "exceeds 1"), explain(*lagging, weights).why);
        const auto with_cubic = flash_forward(cubic(worked_example()));
        const Explanation weight =
            explain(*with_cubic, find_step(*with_cubic, Op::exponentials, 0, 0), CellRef{Slot::P, 0, 1});
        CHECK_MESSAGE(contains(weight.why, "2^−1.443 = 2^−2 × 2^0.557"), weight.why);
    }
    TEST_CASE("lessons that do not know it pass over it; a threshold out of range is refused") {
        const Problem p = cubic(lazy(worked_example(), 8));
        for (const Lesson& lesson : lessons()) {
            if (lesson.uses(takes_savings)) continue;
            CHECK_FALSE(breaks(lesson, p));
            const auto plain = lesson.build(worked_example()), same = lesson.build(p);
            for (const Slot slot : lesson.results) CHECK(same_bits(plain->result(slot), same->result(slot)));
        }
        CHECK(breaks(forward(), p));
        CHECK_FALSE(breaks(forward(), without_faults(p)));
        for (const double wrong : {-1.0, 101.0, static_cast<double>(NAN), static_cast<double>(INFINITY)})
            CHECK(contains(validate(lazy(worked_example(), wrong)).value_or(""),
                           "threshold of lazy rescaling"));
    }
}

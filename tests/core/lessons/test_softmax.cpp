// The softmax lessons against dense attention, the printed figures, and what they move.
#include "tests/core/lessons/contract.h"
#include "tests/core/lessons/softmax_problems.h"
#include "tests/core/steps.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace tilewalk::test;

namespace {

// A printed figure was rounded to `decimals`, sometimes from rounded numbers: one unit of its last digit.
void check_figure(double got, double printed, int decimals) {
    CHECK_MESSAGE(std::abs(got - printed) <= 1.0001 * std::pow(10.0, -decimals), got, " is printed as ",
                  printed);
}

}  // namespace

TEST_SUITE("softmax lessons") {
    TEST_CASE("x is read 3N, 2N and N times, 2N by the textbook, and memory is that of the closed form") {
        Random random(61);
        for (int n = 0; n < 300; ++n) {
            const Problem p = any_row(random, 12);
            for (const auto& [walked, passes] : {std::pair(&softmax_3pass, 3),
                                                 {&softmax_2pass, 2},
                                                 {&softmax_1pass, 1},
                                                 {&softmax_dense, 2}}) {
                const Lesson* const lesson = walked;
                const auto trace = (*lesson)(p);
                INFO(describe(p), ", ", lesson->id);
                CHECK(static_cast<int>(steps_of(*trace, Op::load_x).size()) == passes * p.N_kv());
                CHECK(trace->step(trace->size() - 1).traffic.sram_live == lesson->model(p).sram_peak);
            }
        }
        const Problem p = worked_example();
        CHECK(softmax_with(3).model(p).hbm_read == 3 * 4 * 4 + 16 * 4);
        CHECK(softmax_with(2).model(p).hbm_read == 2 * 4 * 4 + 16 * 4);
        CHECK(softmax_with(1).model(p).hbm_read == 1 * 4 * 4 + 16 * 4);
        CHECK(softmax_with(1).model(p).hbm_write == 4 * 4);
        CHECK(softmax_dense.model(p).hbm_read == softmax_with(2).model(p).hbm_read);
    }
    TEST_CASE("a pass is a lane, an element a column, and the ops follow the loops of the paper") {
        const auto ops_of = [](int passes, bool normalised) {
            Problem p = with_row(worked_example(), 0, Notation::d_o, normalised);
            keep_keys(p, 1);
            const auto trace = softmax_walk(p, passes);
            for (int k = 0; k < trace->size(); ++k) CHECK(trace->step(k).i == -1);
            return ops(*trace);
        };
        CHECK(ops_of(3, true) == "0init 0load_x 0new_max 1init 1load_x 1exponentials 1row_sum 2init 2load_x "
                                 "2divide 2output 2store");
        CHECK(
            ops_of(2, true) ==
            "0init 0load_x 0new_max 0correction 0exponentials 0row_sum 1init 1load_x 1divide 1output 1store");
        CHECK(ops_of(1, true) == "0init 0load_x 0new_max 0correction 0exponentials 0row_sum 0output 0store");
        CHECK(ops_of(1, false) ==
              "0init 0load_x 0new_max 0correction 0exponentials 0row_sum 0output 0normalize 0store");
    }
    TEST_CASE("cells bear the number of the row") {
        const auto trace = softmax_1pass(with_row(worked_example(), 2));
        CHECK(trace->live(Slot::x, 3, 0).value->region == Region{2, 3, 1, 1});
        CHECK(trace->live(Slot::O, trace->size()).value->region == Region{2, 0, 1, 4});
        CHECK(trace->live(Slot::m, 0).value->region == Region{2, 0, 1, 1});
        // A row that the problem does not have is the last one.
        CHECK(softmax_row(with_row(worked_example(), 99)) == 3);
        CHECK(softmax_row(with_row(worked_example(), -1)) == 0);
    }
    TEST_CASE("a thousand elements of up to 1e5 keep their sum") {
        Problem p = *random_problem(1, 1, 3);
        p.K = Matrix(2000, 1);
        p.V = Matrix(2000, 1);
        for (int r = 0; r < 2000; ++r) p.K(r, 0) = (r * 7919 % 2000) / 100.0, p.V(r, 0) = r % 17;
        for (double q : {1.0, 1000.0, -1e5}) {
            p.Q(0, 0) = q;
            for (int passes : {3, 2, 1}) check_results(*softmax_walk(p, passes));
        }
    }
}

TEST_SUITE("softmax figures") {
    // Seed 004, section 3, "Row 0" and "All rows" of P and of O
    TEST_CASE("tutorial: scores of row 0, weights and output of all rows") {
        CHECK(softmax_scores(with_row(worked_example(), 0)) == Matrix{{1, 0, 2, 0}});
        const double P[4][4] = {{0.224, 0.083, 0.610, 0.083},
                                {0.083, 0.224, 0.083, 0.610},
                                {0.366, 0.134, 0.366, 0.134},
                                {0.134, 0.366, 0.134, 0.366}};
        const double O[] = {7.20, 9.88, 6.08, 7.92};  // and 1, 2, 3 more in the other columns
        for (int r = 0; r < 4; ++r) {
            const Problem p = with_row(worked_example(), r);
            for (int passes : {3, 2})
                for (int n = 1; n <= 4; ++n)
                    check_figure(left_in(*softmax_walk(p, passes), Slot::Prob, Op::divide, n, passes),
                                 P[r][n - 1], 3);
            for (int passes : {3, 2, 1})
                for (int c = 0; c < 4; ++c)
                    check_figure(softmax_walk(p, passes)->result(Slot::O)(0, c), O[r] + c, 2);
        }
    }
    // Seed 004, section 3: "exponentials = [e¹, e⁰, e², e⁰] = [2.718, 1, 7.389, 1], sum = 12.107"
    TEST_CASE("tutorial, row 0: m and d give the sum of the plain exponentials") {
        const auto trace = softmax_3pass(with_row(worked_example(), 0));
        const double m = trace->result(Slot::m)(0, 0), d = trace->result(Slot::l)(0, 0);
        check_figure(d * std::exp(m), 12.107, 3);
    }
    // The picture of the lesson, row 0: m 1, 1, 2, 2; d′ 1, 1.368, 1.503, 1.638; o′ 1, 2.076, 6.682, 7.204.
    TEST_CASE("element by element, row 0") {
        const auto trace = softmax_1pass(with_row(worked_example(), 0));
        const double m[] = {1, 1, 2, 2}, d[] = {1, 1.368, 1.503, 1.639}, o[] = {1, 2.076, 6.682, 7.204};
        for (int n = 1; n <= 4; ++n) {
            CHECK(left_in(*trace, Slot::m, Op::new_max, n) == m[n - 1]);
            check_figure(left_in(*trace, Slot::l, Op::row_sum, n), d[n - 1], 3);
            check_figure(left_in(*trace, Slot::Oi, Op::output, n), o[n - 1], 3);
        }
        check_figure(left_in(*trace, Slot::alpha, Op::correction, 3), 0.368, 3);
    }
    // Seed 004, "tile (0, 0)" and "tile (0, 1)", row 0: ℓ 1.368 → 1.638; O 2.84 → 11.81; O / ℓ = 7.20. After
    // elements 2 and 4 the unnormalised form holds just that.
    TEST_CASE("tutorial, tile by tile: the unnormalised form passes through the same values") {
        const auto trace = softmax_1pass(with_row(worked_example(), 0, Notation::l_O, false));
        check_figure(left_in(*trace, Slot::l, Op::row_sum, 2), 1.368, 3);
        check_figure(left_in(*trace, Slot::l, Op::row_sum, 4), 1.638, 3);
        check_figure(left_in(*trace, Slot::Oi, Op::output, 2), 2.84, 2);
        check_figure(left_in(*trace, Slot::Oi, Op::output, 4), 11.81, 2);
        check_figure(trace->result(Slot::O)(0, 0), 7.20, 2);
    }
    // Seed 000, "Visualization of State Evolution": after K₁ m = 5.2, ℓ = 2.3; after K₂ m = 6.1, ℓ = 2.3
    // e^(−0.9)
    // + 1.8 = 2.7; after K₃ m = 6.1, ℓ = 2.7 + 1.5 = 4.2. Scores chosen so that the three key blocks
    // weigh 2.3, 1.8 and 1.5.
    TEST_CASE("state evolution") {
        Problem p = *random_problem(1, 1, 1);
        p.Q(0, 0) = 1;
        p.K = Matrix(7, 1);
        p.K << 5.2, 5.2 + std::log(.65), 5.2 + std::log(.65), 6.1, 6.1 + std::log(.8), 6.1 + std::log(.75),
            6.1 + std::log(.75);
        p.V = Matrix::Ones(7, 1);
        const auto trace = softmax_1pass(p);
        const int last[] = {3, 5, 7};  // elements that end the three blocks
        const double m[] = {5.2, 6.1, 6.1}, l[] = {2.3, 2.7, 4.2};
        for (int n = 0; n < 3; ++n) {
            check_figure(left_in(*trace, Slot::m, Op::new_max, last[n]), m[n], 9);
            check_figure(left_in(*trace, Slot::l, Op::row_sum, last[n]), l[n], 1);
        }
        check_figure(left_in(*trace, Slot::alpha, Op::correction, 4), std::exp(-0.9), 9);
    }
}

#include "core/base/matrix.h"
#include "core/lessons/forward/forward.h"
#include "tests/core/lessons/dense_checks.h"

#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

const Matrix& written(const Trace& trace, Slot slot, Op op, int i, int j = -1) {
    const int k = find_step(trace, op, i, j);
    REQUIRE(k >= 0);
    return trace.live(slot, k).value->data;
}

}  // namespace

TEST_SUITE("flash forward") {
    TEST_CASE("no number of a trace is NaN or +∞, and no weight is above 1") {
        Random random(21);
        for (int n = 0; n < 200; ++n) {
            const Problem p = any_problem(random);
            const auto trace = flash_forward(p);
            every_write(*trace, [&](Slot slot, const Value& value, int k) {
                const auto A = value.data.array();
                CHECK_MESSAGE((A < infinity).all(), describe(p), ", step ", k);
                if (slot == Slot::P || slot == Slot::alpha)
                    CHECK_MESSAGE((A >= 0 && A <= 1).all(), describe(p), ", step ", k);
            });
        }
    }
    TEST_CASE("the worked example has the 40 steps of the plan, in this order") {
        const auto trace = flash_forward(worked_example());
        REQUIRE(trace->size() == 40);
        for (int i = 0, k = 0; i < 2; ++i) {
            k = check_ops(*trace, k, {Op::load_q, Op::init}, i, -1);
            for (int j = 0; j < 2; ++j)
                k = check_ops(*trace, k,
                              {Op::load_kv, Op::scores, Op::tile_max, Op::new_max, Op::correction,
                               Op::exponentials, Op::row_sum, Op::output},
                              i, j);
            k = check_ops(*trace, k, {Op::normalize, Op::store}, i, -1);
        }
    }
    TEST_CASE("a mask step stands in tiles that the mask cuts, a skip in place of those that it removes") {
        const auto trace = flash_forward(causal(worked_example()));
        CHECK(trace->size() == 1 * (4 + 9 + 1) + 1 * (4 + 8 + 9));
        const int mask = find_step(*trace, Op::mask, 0, 0);
        REQUIRE(mask > 0);
        CHECK(trace->step(mask - 1).op == Op::scores);
        CHECK(trace->step(mask + 1).op == Op::tile_max);
        CHECK(find_step(*trace, Op::skip, 0, 1) == mask + 7);
        CHECK(find_step(*trace, Op::mask, 1, 0) == -1);
        CHECK(find_step(*trace, Op::mask, 1, 1) > 0);
    }
}

TEST_SUITE("the tutorial's trace") {
    TEST_CASE("tile (0, 0)") {
        const auto trace = flash_forward(worked_example());
        check_figures(written(*trace, Slot::Qi, Op::load_q, 0), {1, 0, 1, 0, 0, 1, 0, 1}, 0);
        check_figures(written(*trace, Slot::Kj, Op::load_kv, 0, 0), {1, 0, 0, 0, 0, 1, 0, 0}, 0);
        check_figures(written(*trace, Slot::Vj, Op::load_kv, 0, 0), {1, 2, 3, 4, 5, 6, 7, 8}, 0);
        check_figures(written(*trace, Slot::S, Op::scores, 0, 0), {1, 0, 0, 1}, 0);
        check_figures(written(*trace, Slot::m_tile, Op::tile_max, 0, 0), {1, 1}, 0);
        check_figures(written(*trace, Slot::m, Op::new_max, 0, 0), {1, 1}, 0);
        check_figures(written(*trace, Slot::alpha, Op::correction, 0, 0), {0, 0}, 0);
        check_figures(written(*trace, Slot::P, Op::exponentials, 0, 0), {1, 0.368, 0.368, 1}, 0.001);
        check_figures(written(*trace, Slot::l, Op::row_sum, 0, 0), {1.368, 1.368}, 0.001);
        check_figures(written(*trace, Slot::Oi, Op::output, 0, 0),
                      {2.84, 4.21, 5.57, 6.94, 5.37, 6.74, 8.10, 9.47}, 0.01);
    }
    TEST_CASE("tile (0, 1)") {
        const auto trace = flash_forward(worked_example());
        check_figures(written(*trace, Slot::Vj, Op::load_kv, 0, 1), {9, 10, 11, 12, 13, 14, 15, 16}, 0);
        check_figures(written(*trace, Slot::S, Op::scores, 0, 1), {2, 0, 0, 2}, 0);
        check_figures(written(*trace, Slot::m, Op::new_max, 0, 1), {2, 2}, 0);
        check_figures(written(*trace, Slot::alpha, Op::correction, 0, 1), {0.368, 0.368}, 0.001);
        check_figures(written(*trace, Slot::P, Op::exponentials, 0, 1), {1, 0.135, 0.135, 1}, 0.001);
        check_figures(written(*trace, Slot::l, Op::row_sum, 0, 1), {1.638, 1.638}, 0.001);
        check_figures(written(*trace, Slot::Oi, Op::output, 0, 1),
                      {11.81, 13.44, 15.08, 16.71, 16.20, 17.83, 19.47, 21.10}, 0.015);
        check_figures(written(*trace, Slot::Oi, Op::normalize, 0),
                      {7.20, 8.20, 9.20, 10.20, 9.88, 10.88, 11.88, 12.88}, 0.01);
    }
    TEST_CASE("the whole output") {
        check_figures(flash_forward(worked_example())->result(Slot::O),
                      {7.20, 8.20, 9.20, 10.20, 9.88, 10.88, 11.88, 12.88, 6.08, 7.08, 8.08, 9.08, 7.92, 8.92,
                       9.92, 10.92},
                      0.01);
    }
}

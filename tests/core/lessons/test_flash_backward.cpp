#include "core/base/matrix.h"
#include "core/base/words.h"
#include "core/lessons/backward/backward.h"
#include "core/lessons/shared/memory_model.h"
#include "core/lessons/table.h"
#include "tests/contains.h"
#include "tests/core/lessons/dense_checks.h"
#include "tests/core/steps.h"

#include <set>
#include <vector>

using namespace tilewalk::test;

namespace {

constexpr BackwardOrder orders[] = {BackwardOrder::key_outer, BackwardOrder::query_outer};

// The tutorial's example (004, "Concrete Example: Computing All Gradients").
Problem tutorial(BackwardOrder order) {
    Problem p = tutorial_backward();
    p.options.order = order;
    return p;
}

}  // namespace

TEST_SUITE("flash backward") {
    TEST_CASE("steps are those of the closed form, in both orders") {
        Random random(60);
        for (int n = 0; n < 300; ++n) {
            Problem p = any_problem(random, n % 10 == 0 ? 20 : 9);
            for (BackwardOrder order : orders) {
                p.options.order = order;
                CHECK_MESSAGE(flash_backward(p)->size() == flash_backward_steps(p), describe(p));
            }
        }
    }
    TEST_CASE("no number is NaN, no weight above 1 by more than rounding; blind rows have P = 0") {
        Random random(62);
        int blind = 0;
        for (int n = 0; n < 150; ++n) {
            Problem p = any_problem(random);
            p.options.order = orders[n % 2];
            const auto trace = flash_backward(p);
            const Matrix L = trace->result(Slot::L);
            every_write(*trace, [&](Slot slot, const Value& value, int k) {
                CHECK_MESSAGE((value.data.array() < infinity).all(), describe(p), ", step ", k);
                if (slot != Slot::Prob) return;
                CHECK((value.data.array() <= 1 + 1e-6).all());
                for (int r = 0; r < value.region.rows; ++r)
                    if (L(value.region.row + r, 0) == -infinity) {
                        ++blind;
                        CHECK(value.data.row(r).isZero(0));
                    }
            });
        }
        CHECK(blind > 0);
    }
    TEST_CASE("the worked example: 40 steps with the key blocks outside, 41 with the query blocks outside") {
        const auto keys = flash_backward(tutorial(BackwardOrder::key_outer));
        REQUIRE(keys->size() == 40);
        int k = 0;
        for (int i = 0; i < 2; ++i) k = check_ops(*keys, k, {Op::preprocess}, i, -1);
        for (int j = 0; j < 2; ++j) {
            k = check_ops(*keys, k, {Op::load_kv, Op::init}, -1, j);
            for (int i = 0; i < 2; ++i) {
                CHECK(keys->step(k).phase == j);
                k = check_ops(*keys, k,
                              {Op::load_q, Op::scores, Op::recompute, Op::dv, Op::dp, Op::ds, Op::dq, Op::dk},
                              i, j);
            }
            k = check_ops(*keys, k, {Op::store}, -1, j);
        }
        const auto queries = flash_backward(tutorial(BackwardOrder::query_outer));
        CHECK(queries->size() == 2 + 1 + 2 * (2 + 2 * 8 + 1));
        CHECK(find_step(*queries, Op::load_q, 0, -1) == 3);
        CHECK(find_step(*queries, Op::load_kv, 0, 1) > 0);
    }
    TEST_CASE("a tile that the mask removes is one skip, and blocks without any tile are not loaded") {
        Problem p = causal(*random_problem(6, 2, 3));
        const auto trace = flash_backward(p);
        const int skip = find_step(*trace, Op::skip, 0, 1);
        REQUIRE(skip > 0);
        CHECK(trace->step(skip).traffic.hbm_read == trace->step(skip - 1).traffic.hbm_read);
        CHECK(trace->step(skip).traffic.hbm_write == trace->step(skip - 1).traffic.hbm_write);
        p.window = 0;
        p.Q = p.Q.topRows(2).eval(), p.dO.reset();
        CHECK(find_step(*flash_backward(p), Op::load_kv, -1, 0) == -1);
        CHECK(find_step(*flash_backward(p), Op::load_kv, -1, 2) > 0);
        p.options.order = BackwardOrder::query_outer;
        p.Q = (*random_problem(6, 2, 3)).Q, keep_keys(p, 2);
        CHECK(find_step(*flash_backward(p), Op::load_q, 0, -1) == -1);
        CHECK(find_step(*flash_backward(p), Op::load_q, 2, -1) > 0);
    }
    TEST_CASE("m and ℓ lie beside L and are never read") {
        const auto trace = flash_backward(tutorial(BackwardOrder::key_outer));
        const Matrix L = trace->result(Slot::L), m = trace->result(Slot::m_hbm),
                     l = trace->result(Slot::l_hbm);
        for (int r = 0; r < 4; ++r) CHECK(std::abs(m(r, 0) + std::log(l(r, 0)) - L(r, 0)) < 1e-15);
        for (int k = 0; k < trace->size(); ++k)
            for (const Access& a : trace->reads(k)) CHECK((a.slot != Slot::m_hbm && a.slot != Slot::l_hbm));
    }
    TEST_CASE("the worked example's bytes, counted by hand") {
        Problem p = tutorial(BackwardOrder::key_outer);
        // O, dO 128; two key blocks 64; four tiles: Q, dO 64, L, D 16, dQ 32.
        CHECK(flash_backward_model(p).hbm_read == 128 + 2 * 64 + 4 * (64 + 16 + 32));
        CHECK(flash_backward_model(p).hbm_write == 16 + 64 + 4 * 32 + 128);  // D; dQ = 0; dQ; dK, dV
        p.element_bytes = 2;                                                 // but dQ grows in fp32
        CHECK(flash_backward_model(p).hbm_read == 64 + 2 * 32 + 4 * (32 + 16 + 32));
        CHECK(flash_backward_model(p).hbm_write == 16 + 64 + 4 * 32 + 64);
        p.options.order = BackwardOrder::query_outer;
        CHECK(flash_backward_model(p).hbm_read == 64 + 2 * (32 + 16) + 4 * (32 + 64));
        CHECK(flash_backward_model(p).hbm_write == 16 + 128 + 4 * 64 + 32);
    }
}

TEST_SUITE("the tutorial's backward pass") {
    // 004, "Step 3: Compute dS (softmax backward)" and "Flash Attention Backward Pass", Precompute
    TEST_CASE("D, before the tiles") {
        for (BackwardOrder order : orders)
            check_figures(flash_backward(tutorial(order))->result(Slot::D), {34.83, 0, 30.30, 0}, 0.015);
    }
    // 004, "Step 2: Compute dP = dO · Vᵀ", "Step 3": dP and dS, here tile by tile
    TEST_CASE("dP and dS, put together from their tiles") {
        const auto trace = flash_backward(tutorial(BackwardOrder::key_outer));
        Matrix dP(4, 4), dS(4, 4);
        every_write(*trace, [&](Slot slot, const Value& tile, int) {
            const Region at = tile.region;
            if (slot == Slot::dP) dP.block(at.row, at.col, at.rows, at.cols) = tile.data;
            if (slot == Slot::dS) dS.block(at.row, at.col, at.rows, at.cols) = tile.data;
        });
        check_figures(dP, {10, 26, 42, 58, 0, 0, 0, 0, 10, 26, 42, 58, 0, 0, 0, 0}, 1e-9);
        check_figures(dS, {-5.57, -.73, 4.38, 1.91, 0, 0, 0, 0, -7.42, -.58, 4.28, 3.72, 0, 0, 0, 0}, 0.015);
    }
}

TEST_SUITE("explanations of flash backward") {
    TEST_CASE("P from L, and beside it the same from m and ℓ") {
        const auto trace = flash_backward(tutorial(BackwardOrder::key_outer));
        const Explanation e =
            explain(*trace, find_step(*trace, Op::recompute, 0, 1), CellRef{Slot::Prob, 0, 2});
        CHECK(plain(e.numbers) == "exp(2 − 2.494)");
        CHECK(plain(e.result) == "P[0,2] ≈ 0.610");
        REQUIRE(e.asides.size() == 1);
        CHECK(plain(e.asides[0].numbers) == "exp(2 − 2) ÷ 1.639");
        CHECK(plain(e.asides[0].result) == "P[0,2] ≈ 0.610");
    }
    TEST_CASE("a value that no query of the block weighed is told as another kind of row") {
        Random random(8);
        int weighed = 0, not_weighed = 0;
        for (int n = 0; n < 30; ++n) {
            const Problem p = causal(any_problem(random));
            const auto built = build_trace(*find_lesson("flash-backward"), p);
            if (!built) continue;
            for (const int k : steps_of(**built, Op::dv)) {
                const Region tile = step_region(**built, k);
                for (int row = tile.row; row < tile.row + tile.rows; ++row) {
                    const Value& P = *(**built).live(Slot::Prob, k).value;
                    const bool any = (P.data.col(row - P.region.col).array() != 0).any();
                    const Explanation e = explain(**built, k, CellRef{Slot::dVj, row, tile.col});
                    CHECK_MESSAGE((e.kind != 0) == !any, where(**built, k, e.target));
                    CHECK(contains(e.why, any ? "In the forward pass" : "No query of this block gave"));
                    ++(any ? weighed : not_weighed);
                }
            }
        }
        CHECK(weighed > 20);
        CHECK(not_weighed > 5);
    }

    // The cell whose sum needs most decimals decides for all of its tile.
    TEST_CASE("all scores' gradients of a tile are worked out with the same decimals") {
        const auto decimals = [](const std::string& text) {
            const std::size_t point = text.find('.');
            return point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
        };
        int four = 0;
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            Problem p = *random_problem(4, 4, seed);
            p.Br = p.Bc = 4;
            const auto walk = flash_backward(p);
            const int k = nth_step(*walk, Op::ds);
            const Region tile = step_region(*walk, k);
            std::vector<std::set<int>> seen;  // of each number of the formula
            every_cell(Slot::dS, tile, [&](const CellRef& cell) {
                std::size_t n = 0;
                for (const Span& span : explain(*walk, k, cell).numbers) {
                    if (span.face != Span::Face::number) continue;
                    if (++n > seen.size()) seen.resize(n);
                    if (contains(span.text, "."))
                        seen[n - 1].insert(decimals(replaced(replaced(span.text, "(", ""), ")", "")));
                }
            });
            REQUIRE(seen.size() ==
                    3);  // P (dP − D); what a cell shows exactly stays as it is there, but P is exact nowhere
            CHECK_MESSAGE(seen[0].size() == 1, seed);
            four += seen[0].contains(4);
        }
        CHECK(four > 0);
        CHECK(four < 40);
    }

    TEST_CASE("the reasons are true of the numbers shown") {
        const Problem p = tutorial(BackwardOrder::key_outer);
        const auto trace = flash_backward(p);
        int above = 0, below = 0, even = 0;
        for (const int k : steps_of(*trace, Op::ds)) {
            const Value &dP = *trace->live(Slot::dP, k).value, &D = *trace->live(Slot::Di, k).value;
            every_cell(Slot::dS, dP.region, [&](const CellRef& cell) {
                const std::string why = explain(*trace, k, cell).why;
                const double away = value_at(dP, cell) - D.data(cell.row - dP.region.row, 0);
                CHECK(contains(why, "would raise the loss") == (away > 0));
                CHECK(contains(why, "would lower the loss") == (away < 0));
                CHECK(contains(why, "exactly the mean") == (away == 0));
                ++(away > 0 ? above : away < 0 ? below : even);
            });
        }
        CHECK((above > 0 && below > 0 && even > 0));
        CHECK(contains(explain(*trace, 0, CellRef{Slot::D, 1, 0}).why, "No gradient arrives at query 1"));
        CHECK(contains(explain(*trace, 0, CellRef{Slot::D, 0, 0}).why, "equals dO · O"));
        const auto masked = flash_backward(causal(p));
        CHECK(contains(explain(*masked, find_step(*masked, Op::load_q, 0, 0)).why, "read once"));
        CHECK(contains(explain(*masked, find_step(*masked, Op::load_q, 1, 0)).why, "read 2 times"));
    }
}

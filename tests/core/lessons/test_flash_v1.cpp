#include "core/base/matrix.h"
#include "core/lessons/forward/forward.h"
#include "core/lessons/shared/memory_model.h"
#include "tests/contains.h"
#include "tests/core/problems.h"
#include "tests/core/steps.h"

using namespace tilewalk::test;

TEST_SUITE("flash forward, first version") {
    TEST_CASE("steps are those of the closed form, and O is FlashAttention-2's") {
        Random random(50);
        for (int n = 0; n < 300; ++n) {
            const Problem p = any_problem(random, n % 10 == 0 ? 24 : 9);
            const auto trace = flash_forward_v1(p);
            CHECK_MESSAGE(trace->size() == flash_forward_v1_steps(p), describe(p));
            CHECK(far_off(trace->result(Slot::O), flash_forward(p)->result(Slot::O).cast<long double>(),
                          2 * tolerance_O(dense_attention(p))) == "");
        }
    }
    TEST_CASE("the worked example: 43 steps, key blocks outside") {
        const auto trace = flash_forward_v1(worked_example());
        REQUIRE(trace->size() == 43);
        int k = check_ops(*trace, 0, {Op::init}, -1, -1);
        for (int j = 0; j < 2; ++j) {
            CHECK(trace->step(k).phase == j);
            k = check_ops(*trace, k, {Op::load_kv}, -1, j);
            for (int i = 0; i < 2; ++i)
                k = check_ops(*trace, k,
                              {Op::load_q, Op::load_state, Op::scores, Op::tile_max, Op::new_max,
                               Op::correction, Op::exponentials, Op::row_sum, Op::output, Op::store_state},
                              i, j);
        }
    }
    TEST_CASE("the worked example moves 736 bytes, FlashAttention-2 400") {
        const Problem p = worked_example();
        // K, V 128; four tiles with Q, O (32 each), m, ℓ (8 each); O, m, ℓ at the start; again for four
        // tiles.
        CHECK(flash_forward_v1_model(p).hbm_read == 128 + 4 * (32 + 32 + 16));
        CHECK(flash_forward_v1_model(p).hbm_write == 96 + 4 * 48);
        CHECK(flash_forward_v1_model(p).total() == 736);
        CHECK(flash_forward_model(p).total() == 400);
    }
    TEST_CASE("O in HBM is normalised after every tile: an average of the values seen so far") {
        Problem p = worked_example();
        const auto trace = flash_forward_v1(p);
        const int k = find_step(*trace, Op::store_state, 0, 0);
        keep_keys(p, 2);
        const Matrix half = flash_forward(p)->result(Slot::O);
        CHECK((trace->live(Slot::O, 0, k).value->data - half.topRows(2)).cwiseAbs().maxCoeff() < 1e-14);
        CHECK(trace->live(Slot::O, 1, k).value->data.isZero(0));
    }
    TEST_CASE("a key block that no query sees is not loaded") {
        Problem p = causal(*random_problem(6, 3, 1));
        p.Q = p.Q.topRows(2).eval();
        p.dO.reset();
        p.window = 0;  // queries 0, 1 see keys 4, 5 alone
        const auto trace = flash_forward_v1(p);
        CHECK(find_step(*trace, Op::load_kv, -1, 0) == -1);
        CHECK(find_step(*trace, Op::load_kv, -1, 1) == -1);
        CHECK(find_step(*trace, Op::load_kv, -1, 2) > 0);
        CHECK(find_step(*trace, Op::skip, 0, 0) > 0);
    }
    TEST_CASE("the closed form holds for sizes that no walk is made for") {
        Problem p;
        p.Q = p.K = p.V = Matrix::Zero(4096, 64);
        p.Br = 64, p.Bc = 128, p.element_bytes = 2;
        const std::int64_t Nd = 4096 * 64;
        CHECK(flash_forward_v1_model(p).hbm_read == 2 * Nd * 2 + 32 * (2 * Nd * 2 + 8 * 4096));
        CHECK(flash_forward_v1_model(p).hbm_write == 33 * (Nd * 2 + 8 * 4096));
        CHECK(flash_forward_v1_steps(p) == 1 + 32 + 64 * 32 * 10);
    }
    TEST_CASE("the reasons: how often a block is read, what α does, when O is final") {
        const auto trace = flash_forward_v1(worked_example());
        const auto why = [&](Op op, int i, int j) {
            return explain(*trace, find_step(*trace, op, i, j)).why;
        };
        CHECK(contains(why(Op::load_q, 0, 0), "read 2 times"));
        CHECK(contains(why(Op::load_state, 0, 0), "first key block"));
        CHECK(contains(why(Op::load_state, 0, 1), "as the key block before left it"));
        CHECK(contains(why(Op::store_state, 0, 0), "one more key block reads them again"));
        CHECK(contains(why(Op::store_state, 0, 1), "is final"));
        CHECK(contains(why(Op::output, 0, 0), "first keys of query 0"));
        CHECK(
            contains(why(Op::output, 0, 1), "Multiplying by the old ℓ = 1.368 takes the last division back"));
        CHECK(contains(why(Op::output, 1, 1), "stays (α = 1)"));
        const Explanation out = explain(*trace, find_step(*trace, Op::output, 0, 1), CellRef{Slot::Oi, 0, 0});
        CHECK(plain(out.numbers) == "(0.36788 × 1.36788 × 2.07577 + 1.00000 × 9 + 0.13534 × 13) ÷ 1.63855");
        CHECK(plain(out.result) == "O[0,0] ≈ 7.204");
        const auto masked = flash_forward_v1(causal(worked_example()));
        CHECK(contains(explain(*masked, find_step(*masked, Op::load_q, 0, 0)).why, "read once"));
        CHECK(contains(explain(*masked, find_step(*masked, Op::store_state, 0, 0)).why, "is final"));
    }
}

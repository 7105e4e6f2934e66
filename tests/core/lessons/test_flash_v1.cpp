#include "core/base/matrix.h"
#include "core/lessons/forward/forward.h"
#include "core/lessons/shared/memory_model.h"
#include "core/walk/explain.h"
#include "tests/core/problems.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace tilewalk;
using namespace tilewalk::test;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int find_step(const Trace& trace, Op op, int i, int j) {
    for (int k = 0; k < trace.size(); ++k)
        if (trace.step(k).op == op && trace.step(k).i == i && trace.step(k).j == j) return k;
    return -1;
}

// The steps and the most that lies on chip at once are those of the closed forms.
void check_model(const Problem& p, const Trace& trace) {
    const TrafficModel model = flash_forward_v1_model(p);
    CHECK_MESSAGE(trace.size() == flash_forward_v1_steps(p), describe(p));
    std::int64_t most = 0;
    for (int k = 0; k < trace.size(); ++k) most = std::max(most, trace.step(k).traffic.sram_live);
    // Without a ragged tail the reserve is used in full.
    if (p.N() % std::min(p.Br, p.N()) == 0 && p.N_kv() % std::min(p.Bc, p.N_kv()) == 0)
        CHECK_MESSAGE(most == model.sram_peak, describe(p));
}

}  // namespace

TEST_SUITE("flash forward, first version") {
    TEST_CASE("steps and memory are those of the closed forms, and O is FlashAttention-2's") {
        Random random(50);
        for (int n = 0; n < 300; ++n) {
            const Problem p = any_problem(random, n % 10 == 0 ? 24 : 9);
            const auto trace = flash_forward_v1(p);
            check_model(p, *trace);
            const Dense dense = dense_attention(p);
            const Matrix first = trace->result(Slot::O), second = flash_forward(p)->result(Slot::O);
            for (int r = 0; r < p.N(); ++r)
                for (int c = 0; c < p.d(); ++c)
                    CHECK(std::abs(first(r, c) - second(r, c)) <= 2 * tolerance_O(dense, r, c));
        }
    }
    TEST_CASE("the worked example: 43 steps, key blocks outside") {
        const auto trace = flash_forward_v1(worked_example());
        REQUIRE(trace->size() == 43);
        const Op tile[] = {Op::load_q,     Op::load_state,   Op::scores,  Op::tile_max, Op::new_max,
                           Op::correction, Op::exponentials, Op::row_sum, Op::output,   Op::store_state};
        int k = 0;
        CHECK(trace->step(k++).op == Op::init);
        for (int j = 0; j < 2; ++j) {
            CHECK(trace->step(k).op == Op::load_kv);
            CHECK(trace->step(k).phase == j);
            CHECK(trace->step(k++).j == j);
            for (int i = 0; i < 2; ++i)
                for (Op op : tile) {
                    CHECK(trace->step(k).op == op);
                    CHECK(trace->step(k).i == i);
                    CHECK(trace->step(k++).j == j);
                }
        }
    }
    TEST_CASE("the worked example moves 976 bytes, FlashAttention-2 400") {
        const Problem p = worked_example();
        // K, V 128; four tiles with Q, O (32 each), m, ℓ (8 each); O, m, ℓ at the start; again for four
        // tiles.
        CHECK(flash_forward_v1_model(p).hbm_read == 128 + 4 * (32 + 32 + 16));
        CHECK(flash_forward_v1_model(p).hbm_write == 96 + 4 * 48);
        CHECK(flash_forward_model(p).total() == 400);
    }
    TEST_CASE("O in HBM is normalised after every tile: an average of the values seen so far") {
        Problem p = worked_example();
        const auto trace = flash_forward_v1(p);
        const int k = find_step(*trace, Op::store_state, 0, 0);
        p.K = p.K.topRows(2).eval(), p.V = p.V.topRows(2).eval();
        const Matrix half = flash_forward(p)->result(Slot::O);
        CHECK((trace->live(Slot::O, 0, k).value->data - half.topRows(2)).cwiseAbs().maxCoeff() < 1e-14);
        CHECK(trace->live(Slot::O, 1, k).value->data.isZero(0));
    }
    TEST_CASE("a key block that no query sees is not loaded") {
        Problem p = *random_problem(6, 3, 1);
        p.Q = p.Q.topRows(2).eval();
        p.dO.reset();
        p.causal = true;
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
    TEST_CASE("huge sizes are estimated without overflow") {
        Problem p;
        p.Q = p.K = p.V = Matrix::Zero(4096, 1024);
        p.Br = p.Bc = 1;
        CHECK(flash_forward_v1.estimate(p) > step_budget_bytes);
    }
    TEST_CASE("the reasons: how often a block is read, what α does, when O is final") {
        Problem p = worked_example();
        const auto trace = flash_forward_v1(p);
        const auto why = [&](Op op, int i, int j) {
            return explain(*trace, find_step(*trace, op, i, j)).why;
        };
        CHECK(has(why(Op::load_q, 0, 0), "read 2 times"));
        CHECK(has(why(Op::load_state, 0, 0), "first key block"));
        CHECK(has(why(Op::load_state, 0, 1), "1\u00A0key block left of"));
        CHECK(has(why(Op::store_state, 0, 0), "1\u00A0key block will ask"));
        CHECK(has(why(Op::store_state, 0, 1), "is final"));
        CHECK(has(why(Op::output, 0, 0), "first keys of query 0"));
        CHECK(has(why(Op::output, 0, 1), "Times ℓ_old = 1.368"));
        CHECK(has(why(Op::output, 1, 1), "stays (α = 1)"));
        const Explanation out = explain(*trace, find_step(*trace, Op::output, 0, 1), CellRef{Slot::Oi, 0, 0});
        CHECK(plain(out.numbers) ==
              "(0.3679 × 1.3679 × 2.0758 + 1.0000 × 9.0000 + 0.1353 × 13.0000) ÷ 1.6386");
        CHECK(plain(out.result) == "O[0,0] = 7.204");
        p.causal = true;
        const auto masked = flash_forward_v1(p);
        CHECK(has(explain(*masked, find_step(*masked, Op::load_q, 0, 0)).why, "read once"));
        CHECK(has(explain(*masked, find_step(*masked, Op::store_state, 0, 0)).why, "is final"));
    }
}

#include "core/base/matrix.h"
#include "core/lessons/backward/backward.h"
#include "core/lessons/shared/memory_model.h"
#include "core/walk/explain.h"
#include "tests/core/lessons/dense_checks.h"
#include "tests/core/problems.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace tilewalk;
using namespace tilewalk::test;

namespace {

constexpr BackwardOrder orders[] = {BackwardOrder::key_outer, BackwardOrder::query_outer};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int find_step(const Trace& trace, Op op, int i, int j) {
    for (int k = 0; k < trace.size(); ++k)
        if (trace.step(k).op == op && trace.step(k).i == i && trace.step(k).j == j) return k;
    return -1;
}

Problem with_gradient(Random& random, Problem p) {
    Matrix dO(p.N(), p.d());
    for (int r = 0; r < p.N(); ++r)
        for (int c = 0; c < p.d(); ++c) dO(r, c) = pick(random, -2000, 2000) / 1000.0;
    if (pick(random, 0, 3) == 0) dO.row(pick(random, 0, p.N() - 1)).setZero();
    p.dO = dO;
    return p;
}

// The tutorial's example (004, "Concrete Example: Computing All Gradients").
Problem tutorial(BackwardOrder order) {
    Problem p = worked_example();
    p.dO = Matrix(4, 4);
    *p.dO << 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0;
    p.options.order = order;
    return p;
}

void check_model(const Problem& p, const Trace& trace) {
    const TrafficModel model = flash_backward_model(p);
    CHECK_MESSAGE(trace.size() == flash_backward_steps(p), describe(p));
    std::int64_t most = 0;
    for (int k = 0; k < trace.size(); ++k) most = std::max(most, trace.step(k).traffic.sram_live);
    if (p.N() % std::min(p.Br, p.N()) == 0 && p.N_kv() % std::min(p.Bc, p.N_kv()) == 0)
        CHECK_MESSAGE(most == model.sram_peak, describe(p));
}

// The loss whose gradient with respect to O is dO.
long double loss(const Problem& p) {
    const Dense dense = dense_attention(p);
    long double out = 0;
    for (int r = 0; r < p.N(); ++r)
        for (int c = 0; c < p.d(); ++c)
            out += dense.O[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)] *
                   static_cast<long double>((*p.dO)(r, c));
    return out;
}

void check_differences(Problem p, Matrix Problem::*input, const Matrix& gradient, const char* what) {
    const double h = 0x1p-14;
    const Problem here = p;
    for (Eigen::Index n = 0; n < gradient.size(); ++n) {
        (p.*input).data()[n] = (here.*input).data()[n] + h;
        const long double above = loss(p);
        (p.*input).data()[n] = (here.*input).data()[n] - h;
        const long double slope = (above - loss(p)) / (2 * h);
        (p.*input).data()[n] = (here.*input).data()[n];
        const double off = std::abs(static_cast<double>(slope) - gradient.data()[n]);
        CHECK_MESSAGE(off <= 1e-6 * std::max(1.0, std::abs(gradient.data()[n])), describe(p), ", ", what,
                      " element ", n);
    }
}

}  // namespace

TEST_SUITE("flash backward") {
    TEST_CASE("steps and memory are those of the closed forms, in both orders") {
        Random random(60);
        for (int n = 0; n < 300; ++n) {
            Problem p = with_gradient(random, any_problem(random, n % 10 == 0 ? 20 : 9));
            for (BackwardOrder order : orders) {
                p.options.order = order;
                check_model(p, *flash_backward(p));
            }
        }
    }
    TEST_CASE("dQ, dK and dV are the slopes of the loss: central differences") {
        Random random(61);
        for (int n = 0; n < 500; ++n) {
            Problem p =
                *random_problem(pick(random, 1, 6), pick(random, 1, 4), static_cast<std::uint64_t>(n));
            const int M = pick(random, 1, 6);
            const Problem keys = *random_problem(M, p.d(), static_cast<std::uint64_t>(n) + 1000);
            p.K = keys.K, p.V = keys.V;
            p = with_gradient(random, p);
            p.Br = pick(random, 1, 4), p.Bc = pick(random, 1, 4);
            p.causal = pick(random, 0, 1) == 1;
            if (pick(random, 0, 2) == 0) p.window = pick(random, 0, 3);
            if (pick(random, 0, 1)) p.scale = {Scale::Kind::sqrt, 1};
            p.options.order = orders[pick(random, 0, 1)];
            const auto trace = flash_backward(p);
            check_differences(p, &Problem::Q, trace->result(Slot::dQ), "dQ");
            check_differences(p, &Problem::K, trace->result(Slot::dK), "dK");
            check_differences(p, &Problem::V, trace->result(Slot::dV), "dV");
        }
    }
    TEST_CASE("no number is NaN, no weight above 1 by more than rounding; blind rows have P = 0") {
        Random random(62);
        int blind = 0;
        for (int n = 0; n < 150; ++n) {
            Problem p = with_gradient(random, any_problem(random));
            p.options.order = orders[n % 2];
            const auto trace = flash_backward(p);
            const Matrix L = trace->result(Slot::L);
            for (int k = 0; k < trace->size(); ++k)
                for (const Access& a : trace->writes(k)) {
                    const Value& value = trace->value(a.value);
                    CHECK_MESSAGE((value.data.array() < infinity).all(), describe(p), ", step ", k);
                    if (a.slot != Slot::Prob) continue;
                    CHECK((value.data.array() <= 1 + 1e-6).all());
                    for (int r = 0; r < value.region.rows; ++r)
                        if (L(value.region.row + r, 0) == -infinity) {
                            ++blind;
                            CHECK(value.data.row(r).isZero(0));
                        }
                }
        }
        CHECK(blind > 0);
    }
    TEST_CASE("the worked example: 40 steps with the key blocks outside, 41 with the query blocks outside") {
        const auto keys = flash_backward(tutorial(BackwardOrder::key_outer));
        REQUIRE(keys->size() == 40);
        const Op tile[] = {Op::load_q, Op::scores, Op::recompute, Op::dv, Op::dp, Op::ds, Op::dq, Op::dk};
        int k = 0;
        for (int i = 0; i < 2; ++i) CHECK(keys->step(k++).op == Op::preprocess);
        for (int j = 0; j < 2; ++j) {
            CHECK(keys->step(k++).op == Op::load_kv);
            CHECK(keys->step(k++).op == Op::init);
            for (int i = 0; i < 2; ++i)
                for (Op op : tile) {
                    CHECK(keys->step(k).op == op);
                    CHECK(keys->step(k).i == i);
                    CHECK(keys->step(k).phase == j);
                    CHECK(keys->step(k++).j == j);
                }
            CHECK(keys->step(k++).op == Op::store);
        }
        const auto queries = flash_backward(tutorial(BackwardOrder::query_outer));
        CHECK(queries->size() == 2 + 1 + 2 * (2 + 2 * 8 + 1));
        CHECK(find_step(*queries, Op::load_q, 0, -1) == 3);
        CHECK(find_step(*queries, Op::load_kv, 0, 1) > 0);
    }
    TEST_CASE("a tile that the mask removes is one skip, and blocks without any tile are not loaded") {
        Problem p = *random_problem(6, 2, 3);
        p.causal = true;
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
        p.Q = (*random_problem(6, 2, 3)).Q, p.K = p.K.topRows(2).eval(), p.V = p.V.topRows(2).eval();
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
    TEST_CASE("huge sizes are estimated without overflow") {
        Problem p;
        p.Q = p.K = p.V = Matrix::Zero(4096, 1024);
        p.Br = p.Bc = 1;
        CHECK(flash_backward.estimate(p) > step_budget_bytes);
    }
}

TEST_SUITE("the tutorial's backward pass") {
    // 004, "Step 3: Compute dS (softmax backward)" and "Flash Attention Backward Pass", Precompute
    TEST_CASE("D, before the tiles") {
        for (BackwardOrder order : orders)
            check_figures(flash_backward(tutorial(order))->result(Slot::D), {34.83, 0, 30.30, 0}, 0.015);
    }
    // 004, "Step 1: Compute dV = Pᵀ · dO", "Step 4: Compute dQ and dK"
    TEST_CASE("dV, dQ and dK") {
        for (BackwardOrder order : orders) {
            const auto trace = flash_backward(tutorial(order));
            check_figures(trace->result(Slot::dV),
                          {.590, .590, .590, .590, .217, .217, .217, .217, .976, .976, .976, .976, .217, .217,
                           .217, .217},
                          0.001);
            check_figures(trace->result(Slot::dQ),
                          {-1.19, 1.18, 4.38, 1.91, 0, 0, 0, 0, -3.14, 3.14, 4.28, 3.72, 0, 0, 0, 0}, 0.015);
            check_figures(trace->result(Slot::dK),
                          {-12.99, 0, -5.57, 0, -1.31, 0, -.73, 0, 8.66, 0, 4.38, 0, 5.64, 0, 1.91, 0},
                          0.015);
        }
    }
    // 004, "Step 2: Compute dP = dO · Vᵀ", "Step 3": dP and dS, here tile by tile
    TEST_CASE("dP and dS, put together from their tiles") {
        const auto trace = flash_backward(tutorial(BackwardOrder::key_outer));
        Matrix dP(4, 4), dS(4, 4);
        for (int k = 0; k < trace->size(); ++k)
            for (const Access& a : trace->writes(k)) {
                const Value& tile = trace->value(a.value);
                const Region at = tile.region;
                if (a.slot == Slot::dP) dP.block(at.row, at.col, at.rows, at.cols) = tile.data;
                if (a.slot == Slot::dS) dS.block(at.row, at.col, at.rows, at.cols) = tile.data;
            }
        check_figures(dP, {10, 26, 42, 58, 0, 0, 0, 0, 10, 26, 42, 58, 0, 0, 0, 0}, 1e-9);
        check_figures(dS, {-5.57, -.73, 4.38, 1.91, 0, 0, 0, 0, -7.42, -.58, 4.28, 3.72, 0, 0, 0, 0}, 0.015);
    }
}

TEST_SUITE("explanations of flash backward") {
    TEST_CASE("P from L, and beside it the same from m and ℓ") {
        const auto trace = flash_backward(tutorial(BackwardOrder::key_outer));
        const Explanation e =
            explain(*trace, find_step(*trace, Op::recompute, 0, 1), CellRef{Slot::Prob, 0, 2});
        CHECK(plain(e.numbers) == "exp(2.000 − 2.494)");
        CHECK(plain(e.result) == "P[0,2] = 0.610");
        REQUIRE(e.asides.size() == 1);
        CHECK(plain(e.asides[0].numbers) == "exp(2.000 − 2.000) ÷ 1.639");
        CHECK(plain(e.asides[0].result) == "P[0,2] = 0.610");
    }
    TEST_CASE("the reasons are true of the numbers shown") {
        const Problem p = tutorial(BackwardOrder::key_outer);
        const auto trace = flash_backward(p);
        int above = 0, below = 0, even = 0;
        for (int k = 0; k < trace->size(); ++k) {
            if (trace->step(k).op != Op::ds) continue;
            const Value &dP = *trace->live(Slot::dP, k).value, &D = *trace->live(Slot::Di, k).value;
            for (int r = 0; r < dP.region.rows; ++r)
                for (int c = 0; c < dP.region.cols; ++c) {
                    const std::string why =
                        explain(*trace, k, CellRef{Slot::dS, dP.region.row + r, dP.region.col + c}).why;
                    const double away = dP.data(r, c) - D.data(r, 0);
                    CHECK(has(why, "would raise the loss") == (away > 0));
                    CHECK(has(why, "would lower the loss") == (away < 0));
                    CHECK(has(why, "exactly the mean") == (away == 0));
                    ++(away > 0 ? above : away < 0 ? below : even);
                }
        }
        CHECK((above > 0 && below > 0 && even > 0));
        CHECK(has(explain(*trace, 0, CellRef{Slot::D, 1, 0}).why, "No gradient arrives at query 1"));
        CHECK(has(explain(*trace, 0, CellRef{Slot::D, 0, 0}).why, "equals dO · O"));
        Problem once = p;
        once.causal = true;
        const auto masked = flash_backward(once);
        CHECK(has(explain(*masked, find_step(*masked, Op::load_q, 0, 0)).why, "read once"));
        CHECK(has(explain(*masked, find_step(*masked, Op::load_q, 1, 0)).why, "read 2 times"));
    }
}

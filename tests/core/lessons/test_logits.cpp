// Softcap, ALiBi slope and sink in every lesson: held against dense attention and central differences, and
// what is said of them.
#include "core/problem/logits.h"

#include "core/lessons/backward/backward.h"
#include "core/lessons/dense/dense.h"
#include "core/lessons/forward/forward.h"
#include "core/lessons/shared/memory_model.h"
#include "tests/contains.h"
#include "tests/core/lessons/contract.h"
#include "tests/core/lessons/dense_checks.h"
#include "tests/core/steps.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

Problem drawn(Random& random, int largest) {
    Problem p;
    do {
        p = gradient_problem(random, largest);
        p.logits = any_logits(random);
    } while (p.logits == Logits{} || validate(p));
    choose_rows(random, p);
    p.options.normalised = pick(random, 0, 1) == 0;
    p.options.order = static_cast<BackwardOrder>(pick(random, 0, 1));
    return p;
}

// All of them, with a mask: every step of a tile.
Problem with_all() {
    Problem p = causal(tutorial_backward());
    p.logits = {2, 0.5, 1};
    return p;
}

double slope_of(Problem p, Matrix Problem::*input, Eigen::Index n, double h) {
    const Matrix dO = output_gradient(p);
    (p.*input).data()[n] += h;
    const double up = loss_of(p, dO);
    (p.*input).data()[n] -= 2 * h;
    return (up - loss_of(p, dO)) / (2 * h);
}

void check_sink_difference(const Problem& problem, const Trace& trace) {
    Problem p = problem;
    const Matrix dO = output_gradient(p);
    const double gradient = trace.result(Slot::dsink)(0, 0), h = 1e-5;
    *p.logits.sink += h;
    const double up = loss_of(p, dO);
    *p.logits.sink -= 2 * h;
    const double slope = (up - loss_of(p, dO)) / (2 * h);
    CHECK_MESSAGE(std::abs(gradient - slope) <= 1e-6 * (1 + std::abs(slope)), describe(p), ", sink");
}

void check_differences(const Problem& p, const Trace& trace) {
    if (p.logits.sink) check_sink_difference(p, trace);
    constexpr std::pair<Matrix Problem::*, Slot> inputs[] = {
        {&Problem::Q, Slot::dQ}, {&Problem::K, Slot::dK}, {&Problem::V, Slot::dV}};
    for (const auto& [input, gradient_of] : inputs) {
        const Slot slot = gradient_of;
        const Matrix gradient = trace.result(slot);
        for (Eigen::Index n = 0; n < gradient.size(); ++n) {
            const double slope = slope_of(p, input, n, 1e-5);
            CHECK_MESSAGE(std::abs(gradient.data()[n] - slope) <= 1e-6 * (1 + std::abs(slope)), describe(p),
                          ", ", std::string(info(slot).name), " ", n);
        }
    }
}

}  // namespace

TEST_SUITE("softcap, ALiBi and sink") {
    TEST_CASE("500 random problems: every lesson is dense attention within 1e-12") {
        Random random(81);
        for (int n = 0; n < 500; ++n) {
            const Problem p = drawn(random, 7);
            for (const Lesson& lesson : lessons())
                CHECK(check_results(*lesson.build(as_taken(lesson, p))) > 0);
        }
    }
    TEST_CASE("500 random problems: dQ, dK, dV and dsink are central differences within 1e-6") {
        Random random(82);
        for (int n = 0; n < 500; ++n) {
            const Problem p = drawn(random, 4);
            check_differences(p, *attention_backward(p));
            check_differences(p, *flash_backward(p));
        }
    }
    TEST_CASE("they are steps of their own where the problem has them, in FlashAttention's order") {
        Problem p = with_all();
        const auto trace = flash_forward(p);
        int k = find_step(*trace, Op::scores, 0, 0);
        check_ops(*trace, k, {Op::scores, Op::softcap, Op::bias, Op::mask, Op::tile_max}, 0, 0);
        const auto back = flash_backward(p);
        k = find_step(*back, Op::ds, 1, 0);
        check_ops(*back, k, {Op::ds, Op::cap_gradient, Op::dq, Op::dk}, 1, 0);
        p.logits = {};
        for (const Lesson& lesson : lessons())
            for (const Op op : {Op::softcap, Op::bias, Op::sink_gradient, Op::cap_gradient})
                CHECK(steps_of(*lesson.build(p), op).empty());
    }
    TEST_CASE("the gradient of the capped scores is dS_cap, that of the scores dS") {
        for (const char* lesson : {"backward", "flash-backward", "ring-backward"}) {
            Problem p = with_all();
            p.logits.sink.reset();
            for (const bool capped : {true, false}) {
                if (!capped) p.logits.softcap.reset();
                const auto trace = walk_of(lesson, p);
                INFO(std::string(lesson), capped);
                const int ds = steps_of(*trace, Op::ds).front();
                const char* const name = capped ? "dS_cap" : "dS";
                CHECK(plain(explain(*trace, ds).formula).starts_with(name + std::string("  ←")));
                CHECK(plain(explain(*trace, ds).result).starts_with(name + std::string("[")));
                CHECK(plain(slot_symbol(*trace, Slot::dS, ds)) == name);
                if (!capped) continue;
                const Explanation bent = explain(*trace, steps_of(*trace, Op::cap_gradient).front());
                CHECK(plain(bent.formula).starts_with("dS  ←  dS_cap ⊙"));
                CHECK(plain(bent.result).starts_with("dS["));
            }
        }
    }
    TEST_CASE("the softcap bends scores below the cap, the bias takes off what the distance costs") {
        Problem p = with_all();
        p.causal = false;
        const auto trace = flash_forward(p);
        // Query 0 scores 2 with key 2, two positions ahead.
        const int tile = find_step(*trace, Op::softcap, 0, 1);
        const Matrix& S = trace->live(Slot::S, tile).value->data;
        CHECK(std::abs(S(0, 0) - 2 * std::tanh(1.0)) < 1e-15);
        CHECK(plain(explain(*trace, tile, CellRef{Slot::S, 0, 2}).numbers) == "2 × tanh(2.000 ÷ 2)");
        CHECK(std::abs(trace->live(Slot::S, tile + 1).value->data(0, 0) - (2 * std::tanh(1.0) - 1)) < 1e-15);
        check_contains(explain(*trace, tile + 1, CellRef{Slot::S, 0, 2}).why, {"Key 2 is 2", "loses 1"});
        check_contains(explain(*trace, tile + 1, CellRef{Slot::S, 1, 2}).why, {"Key 2 is 1", "loses 0.5"});
    }
    TEST_CASE("positions count from the end where there are more keys than queries") {
        Problem p = worked_example();
        p.Q = p.Q.topRows(2).eval();
        CHECK(distance(p, 1, 3) == 0);
        CHECK(distance(p, 0, 0) == 2);
        CHECK(distance(p, 0, 3) == 1);
    }
    TEST_CASE("a sink is one more key without a value: the same O and L as with such a key") {
        Random random(84);
        for (int n = 0; n < 100; ++n) {
            Problem p = gradient_problem(random, 6);
            p.causal = false, p.window.reset();
            p.logits = {.softcap = {}, .alibi = {}, .sink = choose(random, {-1, 0, 0.5, 3})};
            // A key that scores `sink` with every query: one column more, of ones in Q and 0 in the other
            // keys.
            Problem q = p;
            const double scale = p.softmax_scale();
            q.scale = {Scale::Kind::number, 1.0};
            q.logits = {};
            q.Q.conservativeResize(p.N(), p.d() + 1), q.Q *= scale, q.Q.col(p.d()).setOnes();
            q.K = Matrix::Zero(p.N_kv() + 1, p.d() + 1), q.K.topLeftCorner(p.N_kv(), p.d()) = p.K;
            q.K(p.N_kv(), p.d()) = *p.logits.sink;
            q.V = Matrix::Zero(p.N_kv() + 1, p.d() + 1), q.V.topLeftCorner(p.N_kv(), p.d()) = p.V;
            q.dO.reset();
            const auto with_sink = flash_forward(p), with_key = flash_forward(q);
            CHECK((with_sink->result(Slot::O) - with_key->result(Slot::O).leftCols(p.d()))
                      .cwiseAbs()
                      .maxCoeff() < 1e-12);
            CHECK((with_sink->result(Slot::L) - with_key->result(Slot::L)).cwiseAbs().maxCoeff() < 1e-12);
        }
    }
    TEST_CASE("m starts at the sink and ℓ at 1, and a row without keys stays there") {
        Problem p = causal(*random_problem(4, 2, 3));
        keep_keys(p, 2);
        p.logits.sink = 1.5;
        const auto trace = flash_forward(p);
        const int start = find_step(*trace, Op::init, 0);
        CHECK(trace->live(Slot::m, start).value->data == Matrix::Constant(2, 1, 1.5));
        CHECK(trace->live(Slot::l, start).value->data == Matrix::Ones(2, 1));
        check_contains(explain(*trace, start).why, {"The sink comes first", "1.5", "without a value"});
        CHECK(trace->result(Slot::L)(0, 0) == 1.5);
        CHECK(trace->result(Slot::O).row(0).isZero(0));
        CHECK(trace->step(start).traffic.hbm_read - trace->step(start - 1).traffic.hbm_read == 4);
    }
    TEST_CASE("a training step moves the sink against its gradient") {
        Problem p = with_all();
        const auto trace = training_step(p);
        const double before = trace->live(Slot::sink, -1).value->data(0, 0);
        CHECK(before == 1);
        CHECK(trace->result(Slot::sink)(0, 0) == before - 0.1 * trace->result(Slot::dsink)(0, 0));
        CHECK(trace->result(Slot::dsink)(0, 0) != 0);
    }
    TEST_CASE("the gradient of a sink far below the scores keeps its digits, down to exp(−700)") {
        for (const double sink : {-10., -34., -40., -100., -350., -700.})
            for (const char* id : {"backward", "flash-backward", "training-step", "ring-backward"}) {
                Problem p = tutorial_backward();
                p.logits.sink = sink;
                const auto trace = find_lesson(id)->build(p);
                const DenseGradients g = dense_gradients(p, *p.dO);
                REQUIRE(g.dsink != 0);
                CHECK_MESSAGE(std::abs(trace->result(Slot::dsink)(0, 0) / static_cast<double>(g.dsink) - 1) <
                                  1e-12,
                              std::string(id), ", sink ", sink);
            }
    }
    TEST_CASE("lessons of one row have no sink, and say so") {
        Problem p = worked_example();
        p.logits.sink = 1;
        check_contains(*refuse(*find_lesson("softmax-1pass"), p), {"no sink", "Attention in one pass"});
        CHECK_FALSE(refuse(flash_forward, p));
    }
    TEST_CASE("every step can be explained, asked about and counted") {
        for (const bool masked : {false, true}) {
            Problem p = with_all();
            p.causal = masked;
            for (const Lesson& lesson : lessons()) {
                const auto trace = lesson.build(as_taken(lesson, p));
                CHECK(check_explanations(*trace) > 0);
                check_costs(*trace);
                check_walk(*trace);
            }
        }
    }
    TEST_CASE(
        "the steps are those of the closed forms, and the backward pass reserves room for capped scores") {
        Random random(83);
        for (int n = 0; n < 100; ++n) {
            const Problem p = drawn(random, 9);
            INFO(describe(p));
            CHECK(flash_forward(p)->size() == flash_forward_steps(p));
            CHECK(flash_forward_v1(p)->size() == flash_forward_v1_steps(p));
            CHECK(flash_backward(p)->size() == flash_backward_steps(p));
        }
        Problem p = tutorial_backward();
        const TrafficModel without = flash_backward_model(p);
        p.logits.softcap = 2;
        CHECK(flash_backward_model(p).sram_peak == without.sram_peak + 4 * 2 * 2);
        CHECK(flash_backward_model(p).total() == without.total());
        // Standard attention reads its capped scores once more: 4 × 4 numbers of 4 bytes.
        p.logits = {};
        const std::int64_t dense = backward_model(p).hbm_read;
        p.logits.softcap = 2;
        CHECK(backward_model(p).hbm_read == dense + 64);
    }
    TEST_CASE("kernels have none of it, and say so") {
        CHECK_FALSE(kernels_lack(worked_example()));
        check_contains(*kernels_lack(with_all()), {"a softcap, an ALiBi slope and a sink", "leave that out"});
    }
}

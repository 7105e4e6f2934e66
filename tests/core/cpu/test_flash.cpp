// flash against dense attention, on every instruction set of this machine.
#include "core/cpu/kernel.h"
#include "core/cpu/lanes.h"
#include "tests/core/cpu/kernels.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace tilewalk::cpu;
using namespace tilewalk::test;

namespace {

Workload workload(std::int64_t N_q, std::int64_t N_kv, std::int64_t d, bool causal = false,
                  std::optional<std::int64_t> window = std::nullopt, std::int64_t heads = 1,
                  std::int64_t kv_heads = 1, std::int64_t batch = 1) {
    Workload w;
    w.direction = Direction::backward;
    w.N_q = N_q, w.N_kv = N_kv, w.d = d, w.causal = causal, w.window = window;
    w.heads = heads, w.kv_heads = kv_heads, w.batch = batch;
    return w;
}

AllErrors run_and_compare(const Workload& w, const Tensors& inputs, const DenseTensors<float>& standard,
                          const DenseTensors<double>& truth) {
    Setup s(flash(), w, inputs, 2);
    s.run();
    return errors_of(s, standard, truth);
}

void check_against_dense(const Workload& w, unsigned seed) {
    const Tensors inputs = make_inputs(w, seed);
    const auto truth = dense_attention<double>(w, inputs);
    const auto standard = dense_attention<float>(w, inputs);
    INFO(named(w));
    on_every_instruction_set([&] { check(run_and_compare(w, inputs, standard, truth)); });
}

}  // namespace

TEST_SUITE("flash") {
    TEST_CASE("random workloads equal dense attention, gradients as well") {
        std::mt19937 random(41);
        for (unsigned n = 0; n < 60; ++n)
            check_against_dense(random_workload(random, Direction::backward), n);
    }

    TEST_CASE("every head dimension from 1 on, and the largest") {
        for (std::int64_t d = 1; d <= 40; ++d) check_against_dense(workload(33, 45, d, d % 2 == 0), 7);
        for (const std::int64_t d : {64, 65, 127, 128, 192, 256, 320, 1000, 1024})
            check_against_dense(workload(37, 70, d), 8);
    }

    TEST_CASE("one query, one key, and lengths around the tiles") {
        check_against_dense(workload(1, 1, 1), 1);
        check_against_dense(workload(1, 1, 64), 2);
        check_against_dense(workload(1, 700, 16), 3);
        check_against_dense(workload(700, 1, 16), 4);
        for (const std::int64_t N : {15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257})
            check_against_dense(workload(N, N, 12, true), 5);
        check_against_dense(workload(600, 530, 8, true, 140), 6);
    }

    TEST_CASE("rows that see no key: O and the gradients are 0, L is −∞") {
        const Workload w = workload(150, 90, 10, true);
        check_against_dense(w, 1);
        on_every_instruction_set([&] {
            Setup s(flash(), w, make_inputs(w, 1), 2);
            s.run();
            for (std::size_t k = 0; k < 60 * 10; ++k) {
                CHECK(s.t.O[k] == 0);
                CHECK(s.t.dQ[k] == 0);
            }
            for (std::size_t i = 0; i < 60; ++i) CHECK(s.t.L[i] == -std::numeric_limits<float>::infinity());
        });
        check_against_dense(workload(200, 3, 5, false, 4), 2);
        check_against_dense(workload(5, 300, 5, false, 0), 3);
    }

    // Where scores are 10² and more, one near tie in a problem decides its largest error, and how the
    // rounding of two scores meets it is chance, for flash as for standard attention. Over many problems it
    // is not.
    TEST_CASE("a score that is no number leaves none in its row, wherever its key stands") {
        for (const std::int64_t key : {0, 7, 39}) {
            Workload w = workload(5, 40, 24);
            w.direction = Direction::forward;
            Tensors inputs = make_inputs(w, 1);
            inputs.K[static_cast<std::size_t>(key * w.d)] = std::numeric_limits<float>::quiet_NaN();
            on_every_instruction_set([&] {
                Setup s(flash(), w, inputs, 1);
                s.run();
                for (const float O : s.t.O) CHECK(std::isnan(O));
                for (const float L : s.t.L) CHECK(std::isnan(L));
            });
        }
    }

    TEST_CASE("large logits: over many problems no less exact than standard attention, gradients as well") {
        for (const float spread : {10.0f, 30.0f, 100.0f, 1000.0f})
            for (const Workload& w : {workload(40, 45, 1), workload(60, 50, 3, true), workload(40, 70, 64)}) {
                INFO(named(w), ", spread ", spread);
                std::vector<AllErrors> sums(instruction_sets().size(), AllErrors(5));
                for (unsigned seed = 0; seed < 40; ++seed) {
                    const Tensors inputs = make_inputs(w, seed, spread);
                    const auto truth = dense_attention<double>(w, inputs);
                    const auto standard = dense_attention<float>(w, inputs);
                    std::size_t set = 0;
                    on_every_instruction_set([&] {
                        const AllErrors errors = run_and_compare(w, inputs, standard, truth);
                        for (std::size_t k = 0; k < errors.size(); ++k) sums[set][k] += errors[k];
                        ++set;
                    });
                }
                for (const AllErrors& errors : sums) check(errors);
            }
    }

    TEST_CASE("the same bits every time, with any number of threads") {
        for (const Workload& w :
             {workload(300, 500, 24), workload(700, 700, 16, true), workload(400, 800, 16, false, 100),
              workload(200, 300, 8, true, std::nullopt, 6, 2, 2)}) {
            on_every_instruction_set([&] { check_repetition(flash(), w); });
        }
    }

    TEST_CASE("stopped anywhere it returns, and runs again afterwards") { check_stopping(flash()); }

    TEST_CASE("the memory that it takes is the memory that the model says, and no run takes more") {
        std::mt19937 random(43);
        for (int n = 0; n < 30; ++n) {
            const Workload w = random_workload(random, n % 2 == 0 ? Direction::forward : Direction::backward);
            const int threads = 1 + n % 5;
            INFO(named(w));
            on_every_instruction_set([&] {
                Setup s(flash(), w, make_inputs(w, 1), threads);
                CHECK(s.memory.held() == flash().workspace(w, threads));
                s.run();
                CHECK(s.memory.peak() == flash().workspace(w, threads));
                s.kernel.reset();
                CHECK(s.memory.held() == 0);
            });
        }
    }

    TEST_CASE("forward it takes less than a megabyte for each thread, however long the sequence") {
        on_every_instruction_set([] {
            for (std::int64_t N = 1; N <= std::int64_t{1} << 20; N *= 4)
                for (std::int64_t d = 1; d <= 1024; d += d < 256 ? 1 : 16)
                    for (const int threads : {1, 2, 64}) {
                        Workload w = workload(N, N, d);
                        w.direction = Direction::forward;
                        w.heads = w.kv_heads = 8;
                        REQUIRE(flash().workspace(w, threads) < threads * std::int64_t{1000000});
                    }
        });
    }
}

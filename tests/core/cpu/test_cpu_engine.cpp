#include "core/bench/verify.h"
#include "core/cpu/kernel.h"
#include "core/cpu/product.h"
#include "core/engine/report.h"
#include "tests/core/cpu/kernels.h"

#include <atomic>
#include <cmath>
#include <doctest/doctest.h>
#include <thread>

using namespace tilewalk::test;

namespace {

std::vector<float> random_numbers(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> numbers(static_cast<std::size_t>(count));
    for (float& x : numbers) x = normal(random);
    return numbers;
}

using Multiply = void (*)(const cpu::Product&);

// All four ways to transpose, with and without adding, against sums in double.
void check_products(Multiply multiply) {
    std::mt19937 random(3);
    for (unsigned n = 0; n < 60; ++n) {
        const std::int64_t rows = 1 + random() % 70, columns = 1 + random() % 70, depth = 1 + random() % 70;
        const bool A_t = n % 2 != 0, B_t = n / 2 % 2 != 0, add = n / 4 % 2 != 0;
        const std::int64_t A_stride = (A_t ? rows : depth) + 3, B_stride = (B_t ? depth : columns) + 5;
        const auto A = random_numbers(100 * 100, n), B = random_numbers(100 * 100, n + 1000);
        const auto before = random_numbers(100 * 100, n + 2000);
        auto C = before;
        const std::int64_t stride = columns + 2;
        multiply({rows,
                  columns,
                  depth,
                  0.5f,
                  {A.data(), A_stride, A_t},
                  {B.data(), B_stride, B_t},
                  C.data(),
                  stride,
                  add});
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t c = 0; c < stride; ++c) {
                const auto at = static_cast<std::size_t>(r * stride + c);
                double sum = c < columns && !add ? 0 : before[at];  // past the last column nothing changes
                for (std::int64_t k = 0; k < depth && c < columns; ++k)
                    sum += 0.5 * A[static_cast<std::size_t>(A_t ? k * A_stride + r : r * A_stride + k)] *
                           B[static_cast<std::size_t>(B_t ? c * B_stride + k : k * B_stride + c)];
                CHECK(C[at] == doctest::Approx(sum).epsilon(1e-4).scale(1));
            }
    }
}

}  // namespace

TEST_CASE("products are right, with the library of standard attention and with Eigen") {
    check_products(cpu::multiply);
    check_products(cpu::eigen_functions().multiply);
}

TEST_CASE("products are the same when many threads multiply at once") {
    // An OpenBLAS without locks hands two threads the same buffer now and then.
    constexpr std::int64_t n = 48;
    const auto A = random_numbers(n * n, 1), B = random_numbers(n * n, 2);
    const auto product = [&](std::vector<float>& C) {
        cpu::multiply({n, n, n, 1, {A.data(), n}, {B.data(), n}, C.data(), n});
    };
    std::vector<float> alone(n * n);
    product(alone);
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
            std::vector<float> C(n * n);
            for (int repeat = 0; repeat < 1000; ++repeat) {
                product(C);
                wrong += C != alone;
            }
        });
    threads.clear();
    CHECK(wrong == 0);
}

TEST_CASE("the engine of the CPU has its ladder, from slow to fast, and says what it does not take") {
    const auto engine = cpu::make_engine(2);
    CHECK(engine->device() == "cpu");
    CHECK_FALSE(engine->why_not());
    REQUIRE(engine->kernels().size() == 5);
    CHECK(engine->kernels()[0].name == "standard");
    CHECK(engine->kernels()[1].name == "flash-eigen");
    CHECK(engine->kernels()[2].name == "flash");
    CHECK(engine->kernels()[3].name == reading_kv);
    CHECK(engine->kernels()[4].name == "split-kv");
    CHECK(engine->kernels()[0].materialises);
    CHECK_FALSE(engine->kernels()[2].materialises);
    Workload w;
    CHECK_FALSE(engine->why_not(engine->kernels()[0], w));
    for (const DType type : {DType::f16, DType::bf16}) {
        w.dtype = type;
        CHECK_FALSE(engine->why_not(engine->kernels()[0], w));
    }
    Machine machine;
    engine->describe(machine);
    CHECK(machine.threads == 2);
    CHECK(machine.product_library == cpu::product_library());
    CHECK_FALSE(machine.instructions.empty());
}

TEST_CASE("each kernel of the engine gives the outputs of its direction, and holds what its model says") {
    const auto engine = cpu::make_engine(3);
    const auto check = [&](const KernelInfo& info, Direction direction, DType type) {
        CAPTURE(info.name);
        const Workload w{.direction = direction,
                         .dtype = type,
                         .heads = 4,
                         .kv_heads = 2,
                         .N_q = 130,
                         .N_kv = 200,
                         .d = 24};
        if (engine->why_not(info, w)) return;
        const Tensors in = make_inputs(w, 3);
        const auto prepared = engine->prepare(info, w, in, {});
        REQUIRE(prepared);
        const auto seconds = prepared->run({});
        REQUIRE(seconds);
        CHECK(*seconds > 0);
        CHECK(prepared->workspace_bytes() == engine->model_bytes(info, w));
        const Tensors first = prepared->outputs();
        CHECK(first.O.size() == 4 * 130 * 24);
        CHECK(first.L.size() == 4 * 130);
        CHECK(first.dQ.size() == (direction == Direction::backward ? first.O.size() : 0));
        CHECK(first.dV.size() == (direction == Direction::backward ? 2 * 200 * 24 : 0));
        CHECK(std::abs(first.O[77]) > 0);
        for (const auto* const tensor : {&first.O, &first.dQ, &first.dK, &first.dV})
            for (const float x : *tensor) REQUIRE(x == rounded(x, type));
        CHECK(prepared->run({}));
        CHECK(prepared->outputs().O == first.O);
        CHECK(prepared->outputs().dK == first.dK);
        CHECK(prepared->workspace_bytes() == engine->model_bytes(info, w));
    };
    for (const Direction direction : {Direction::forward, Direction::backward})
        for (const KernelInfo& info : engine->kernels())
            for (const DType type : {DType::f32, DType::f16, DType::bf16}) check(info, direction, type);
}

TEST_CASE(
    "inputs of 16 bits are those of the tensors that a kernel was prepared for, whatever others had before") {
    const auto engine = cpu::make_engine(2);
    const KernelInfo& flash = engine->kernels()[2];
    Workload w{.dtype = DType::bf16, .N_q = 40, .N_kv = 50};
    const Tensors in = make_inputs(w, 1), others = make_inputs(w, 2);
    const auto first = engine->prepare(flash, w, in, {}), again = engine->prepare(flash, w, in, {}),
               of_others = engine->prepare(flash, w, others, {});
    for (Prepared* const prepared : {first.get(), again.get(), of_others.get()}) REQUIRE(prepared->run({}));
    CHECK(first->outputs().O == again->outputs().O);
    CHECK(first->outputs().O != of_others->outputs().O);
    CHECK(verify_outputs(of_others->outputs(), w, others).passed);
    // The same numbers in the other type, while those are there
    w.dtype = DType::f16;
    const auto in_f16 = engine->prepare(flash, w, in, {});
    REQUIRE(in_f16->run({}));
    CHECK(verify_outputs(in_f16->outputs(), w, in).passed);
}

TEST_CASE("what is stopped returns nothing, neither prepared nor seconds") {
    auto engine = cpu::make_engine(2);
    const Workload w{.direction = Direction::backward, .N_q = 200, .N_kv = 200};
    const Tensors in = make_inputs(w, 1);
    for (const KernelInfo& info : engine->kernels()) {
        CAPTURE(info.name);
        if (engine->why_not(info, w)) continue;
        CHECK_FALSE(engine->prepare(info, w, in, stopped()));
        const auto prepared = engine->prepare(info, w, in, {});
        REQUIRE(prepared);
        CHECK_FALSE(prepared->run(stopped()));
        CHECK(prepared->run({}));
    }
}

TEST_CASE("what was prepared outlives its engine") {
    auto engine = cpu::make_engine(2);
    const Workload w{.N_q = 64, .N_kv = 64};
    const Tensors in = make_inputs(w, 1);
    const auto prepared = engine->prepare(engine->kernels().front(), w, in, {});
    engine.reset();
    CHECK(prepared->run({}));
}

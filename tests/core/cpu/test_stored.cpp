// Tensors of 16 bits: how they are converted, and that kernels compute with them what they compute in
// float32.
#include "core/bench/verify.h"
#include "core/cpu/lanes.h"
#include "core/cpu/stored.h"
#include "tests/core/cpu/kernels.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace tilewalk::cpu;
using namespace tilewalk::test;

namespace {

constexpr DType types[] = {DType::f16, DType::bf16};

float rounded_plainly(float x, DType type) {
    return type == DType::f16 ? to_float(from_float<f16>(x)) : to_float(from_float<bf16>(x));
}
std::uint16_t bits_plainly(float x, DType type) {
    return type == DType::f16 ? from_float<f16>(x).bits : from_float<bf16>(x).bits;
}
bool same(float a, float b) { return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0; }

std::vector<float> floats_of(const std::vector<std::uint16_t>& halves, DType type) {
    std::vector<float> x(halves.size());
    to_floats({halves.data(), type}, static_cast<std::int64_t>(halves.size()), x.data());
    return x;
}
std::vector<std::uint16_t> halves_of(const std::vector<float>& x, DType type) {
    std::vector<std::uint16_t> halves(x.size());
    from_floats(x.data(), static_cast<std::int64_t>(x.size()), {halves.data(), type});
    return halves;
}

// Every number of the type, both floats beside it, and that half-way to the next, with both beside that; both
// signs, infinity and NaN among them
std::vector<float> around_all_numbers(DType type) {
    using gpu::emulator::bits_of, gpu::emulator::float_of;
    std::vector<float> all;
    for (std::uint32_t bits = 0; bits < 0x8000; ++bits) {
        const auto value = [&](std::uint32_t of) {
            const auto half = static_cast<std::uint16_t>(of);
            return bits_of(type == DType::f16 ? to_float(f16{half}) : to_float(bf16{half}));
        };
        const std::uint32_t here = value(bits), next = bits < 0x7FFF ? value(bits + 1) : here;
        for (const std::uint32_t at : {here, here + (next - here) / 2})
            for (const std::uint32_t beside : {at == 0 ? at : at - 1, at, at + 1})
                all.push_back(float_of(beside)), all.push_back(float_of(beside | 0x80000000));
    }
    return all;
}

// The same in float32: O is rounded before the gradients, which read it
Tensors in_float32(const Rung& rung, Workload w, const Tensors& in, int threads) {
    const DType type = w.dtype;
    w.dtype = DType::f32;
    Setup s(rung, w, in, threads);
    s.kernel->forward(s.views(), {});
    for (float& x : s.t.O) x = rounded_plainly(x, type);
    if (w.direction == Direction::backward) s.kernel->backward(s.views(), {});
    for (std::vector<float>* const gradient : {&s.t.dQ, &s.t.dK, &s.t.dV})
        for (float& x : *gradient) x = rounded_plainly(x, type);
    return s.t;
}

void check_same_as_float32(const Rung& rung, Workload w, std::uint64_t seed, int threads) {
    for (const DType type : types) {
        w.dtype = type;
        INFO(named(w));
        const Tensors in = make_inputs(w, seed);
        on_every_instruction_set([&] {
            Setup s(rung, w, in, threads);
            s.run();
            CHECK(same_outputs(s.t, in_float32(rung, w, in, threads)));
        });
    }
}

Workload few_queries(std::mt19937& random) {
    const auto up_to = [&](unsigned most) { return static_cast<std::int64_t>(1 + random() % most); };
    constexpr std::int64_t groups[] = {1, 1, 2, 3, 4, 8};
    Workload w{.N_q = random() % 2 == 0 ? 1 : up_to(16), .N_kv = up_to(1200)};
    w.d = random() % 2 == 0 ? 16 * up_to(8) : up_to(140);
    w.batch = up_to(2), w.kv_heads = up_to(2), w.heads = w.kv_heads * groups[random() % 6];
    w.causal = random() % 2 == 0;
    if (random() % 3 == 0) w.window = up_to(700) - 1;
    return w;
}

}  // namespace

TEST_SUITE("16 bits") {
    TEST_CASE("every number of 16 bits has the float that it means, on every instruction set") {
        std::vector<std::uint16_t> all(1 << 16);
        for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<std::uint16_t>(k);
        all.push_back(0x3C01);  // one that fills no vector
        for (const DType type : types)
            on_every_instruction_set([&] {
                const std::vector<float> x = floats_of(all, type);
                std::size_t wrong = 0;
                for (std::size_t k = 0; k < all.size(); ++k)
                    wrong += !same(x[k], type == DType::f16 ? to_float(f16{all[k]}) : to_float(bf16{all[k]}));
                CHECK(wrong == 0);
            });
    }

    TEST_CASE("floats are rounded to the nearest, ties to even, with the bits of float16.h") {
        std::mt19937 random(61);
        for (const DType type : types) {
            std::vector<float> all = around_all_numbers(type);
            for (int n = 0; n < 100001; ++n)
                all.push_back(gpu::emulator::float_of(static_cast<std::uint32_t>(random())));
            on_every_instruction_set([&] {
                const std::vector<std::uint16_t> halves = halves_of(all, type);
                std::size_t wrong = 0;
                for (std::size_t k = 0; k < all.size(); ++k) wrong += halves[k] != bits_plainly(all[k], type);
                CHECK(wrong == 0);
            });
        }
    }

    TEST_CASE("any number of them is converted, and none beside them is touched") {
        for (const DType type : types)
            on_every_instruction_set([&] {
                for (std::int64_t count = 0; count < 70; ++count) {
                    std::vector<float> x(80, 1.25f), back(80, -7);
                    std::vector<std::uint16_t> halves(80, 0x1234);
                    from_floats(x.data(), count, {halves.data() + 3, type});
                    to_floats({halves.data() + 3, type}, count, back.data() + 5);
                    for (std::int64_t k = 0; k < 80; ++k) {
                        const auto at = static_cast<std::size_t>(k);
                        CHECK((halves[at] != 0x1234) == (k >= 3 && k < 3 + count));
                        CHECK(back[at] == (k >= 5 && k < 5 + count ? 1.25f : -7.0f));
                    }
                }
            });
    }

    TEST_CASE("flash computes the bits of float32, and rounds O and the gradients once") {
        std::mt19937 random(62);
        for (unsigned n = 0; n < 40; ++n)
            check_same_as_float32(flash(), random_workload(random, Direction::backward), n,
                                  1 + static_cast<int>(n % 3));
        for (const std::int64_t d : {1, 8, 64, 128, 256})
            check_same_as_float32(
                flash(), {.direction = Direction::backward, .N_q = 300, .N_kv = 280, .d = d, .causal = true},
                7, 2);
        const Workload forward{.heads = 6, .kv_heads = 2, .N_q = 333, .N_kv = 700, .d = 64};
        check_same_as_float32(flash(), forward, 8, 3);
    }

    TEST_CASE("split-kv computes the bits of float32, and rounds O once") {
        std::mt19937 random(63);
        for (unsigned n = 0; n < 40; ++n)
            check_same_as_float32(split_kv(), few_queries(random), n, 1 + static_cast<int>(n % 3));
        for (const std::int64_t d : {16, 32, 64, 128, 1024})
            check_same_as_float32(split_kv(), {.heads = 2, .kv_heads = 2, .N_q = 1, .N_kv = 700, .d = d}, 9,
                                  2);
    }

    TEST_CASE("every kernel is right by the rule of its type, both ways, and holds what its model says") {
        std::mt19937 random(64);
        for (unsigned n = 0; n < 16; ++n) {
            Workload w = random_workload(random, n % 2 == 0 ? Direction::forward : Direction::backward);
            w.dtype = types[n / 2 % 2];
            for (const Rung* const rung : {&standard(), &flash_eigen(), &flash()}) {
                INFO(rung->info.name);
                check_kernel(*rung, w, n, 1 + static_cast<int>(n % 3));
            }
            Workload few = few_queries(random);
            few.N_kv = 1 + few.N_kv / 3, few.dtype = w.dtype;
            check_kernel(split_kv(), few, n, 2);
        }
    }

    TEST_CASE("rows that see no key have O = 0 and L = −∞") {
        for (const DType type : types) {
            const Workload w{
                .dtype = type, .heads = 2, .kv_heads = 1, .N_q = 16, .N_kv = 5, .d = 24, .causal = true};
            for (const Rung* const rung : {&standard(), &flash_eigen(), &flash(), &split_kv()})
                on_every_instruction_set([&] {
                    INFO(rung->info.name);
                    Setup s(*rung, w, make_inputs(w, 1), 2);
                    s.run();
                    for (std::size_t i = 0; i < 11; ++i) {
                        CHECK(s.t.L[i] == -std::numeric_limits<float>::infinity());
                        for (std::size_t k = 0; k < 24; ++k) CHECK(s.halves.O[i * 24 + k] == 0);
                    }
                });
        }
    }

    TEST_CASE("the same bits every time, with any number of threads") {
        for (const DType type : types)
            on_every_instruction_set([&] {
                check_repetition(flash(), {.direction = Direction::backward,
                                           .dtype = type,
                                           .heads = 4,
                                           .kv_heads = 2,
                                           .N_q = 300,
                                           .N_kv = 333,
                                           .d = 24,
                                           .causal = true});
                check_repetition(split_kv(),
                                 {.dtype = type, .heads = 4, .kv_heads = 2, .N_q = 1, .N_kv = 3000});
            });
    }

    TEST_CASE("the yardstick reads every number of K and V, and one that it did not read is found") {
        const auto engine = make_engine(2);
        const KernelInfo& info = engine->kernels()[3];
        REQUIRE(info.yardstick);
        for (const DType type : types) {
            // An odd number of them: half a word is left at the end
            const Workload w{.dtype = type, .heads = 3, .kv_heads = 3, .N_q = 1, .N_kv = 5001, .d = 67};
            Tensors in = make_inputs(w, 14);
            on_every_instruction_set([&] {
                const auto prepared = engine->prepare(info, w, in, {});
                REQUIRE(prepared->run({}));
                const Tensors out = prepared->outputs();
                CHECK(verify_outputs(out, w, in, info).passed);
                for (std::vector<float>* const tensor : {&in.K, &in.V})
                    for (const std::size_t at : {std::size_t{0}, tensor->size() / 2, tensor->size() - 1}) {
                        const float before = std::exchange((*tensor)[at], 0.0f);
                        CHECK_FALSE(verify_outputs(out, w, in, info).passed);
                        (*tensor)[at] = before;
                    }
            });
        }
    }

    TEST_CASE("the smallest numbers of f16 keep their last digit") {
        const Workload w{.dtype = DType::f16, .heads = 1, .kv_heads = 1, .N_q = 1, .N_kv = 1, .d = 16};
        Tensors in = make_inputs(w, 1);
        for (std::size_t k = 0; k < 16; ++k) in.V[k] = std::ldexp(1.0f, -9 - static_cast<int>(k));
        for (const Rung* const rung : {&flash(), &split_kv()})
            on_every_instruction_set([&] {
                Setup s(*rung, w, in, 1);
                s.run();
                CHECK(s.t.O == in.V);  // one key has all the weight: 2⁻²⁴ is the smallest number
            });
    }
}

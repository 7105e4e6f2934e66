// What the vectors of the CPU kernels compute, one by one, and the rate that the kernels are measured
// against.
#include "core/cpu/lanes.h"
#include "tests/core/cpu/kernels.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace tilewalk::cpu;
using namespace tilewalk::test;

namespace {

std::vector<float> exp2_all(const std::vector<float>& x) {
    std::vector<float> y(x.size(), -1);
    exp2_of(x.data(), y.data(), static_cast<std::int64_t>(x.size()));
    return y;
}

}  // namespace

TEST_SUITE("vectors") {
    TEST_CASE("2ˣ is right to 1.5e-7 from −100 to 127, on every instruction set") {
        std::vector<float> x;
        for (float at = -100; at <= 127; at += 0.00173f) x.push_back(at);
        on_every_instruction_set([&] {
            const std::vector<float> y = exp2_all(x);
            double worst = 0;
            for (std::size_t k = 0; k < x.size(); ++k) {
                const double exact = std::exp2(static_cast<double>(x[k]));
                worst = std::max(worst, std::abs(static_cast<double>(y[k]) - exact) / exact);
            }
            CHECK(worst < 1.5e-7);
        });
    }

    TEST_CASE("2ˣ is exact at whole numbers, 0 below −100.5, and never denormal or NaN") {
        const float lowest = std::numeric_limits<float>::lowest();
        on_every_instruction_set([&] {
            for (int n = -100; n <= 127; ++n)
                CHECK(exp2_all({static_cast<float>(n)})[0] == std::ldexp(1.0f, n));
            for (const float x :
                 {-100.6f, -126.5f, -127.0f, -149.0f, -1e4f, -4.2e6f, -1e9f, -1e30f, -3e38f, lowest})
                CHECK_MESSAGE(exp2_all({x})[0] == 0, x);
        });
    }

    TEST_CASE("an instruction set can be chosen; an unknown one is the best") {
        const std::vector<std::string> names = instruction_sets();
        REQUIRE(!names.empty());
        CHECK(instruction_set() == names.front());
        for (const std::string& name : names) {
            use_instruction_set(name);
            CHECK(instruction_set() == name);
            CHECK(panel_width() >= 2);
        }
        use_instruction_set("abacus");
        CHECK(instruction_set() == names.front());
        use_instruction_set("");
        CHECK(instruction_set() == names.front());
    }

    TEST_CASE("the peak is the rate of a machine, and 0 when stopped") {
        ThreadPool pool(2);
        const double peak = multiply_add_peak(pool, {});
        CHECK(peak > 1e8);
        CHECK(peak < 1e14);
        CHECK(multiply_add_peak(pool, stopped()) == 0);
    }
}

#include "core/base/exactly.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace tilewalk;

namespace {

struct Known {
    double x, y;
};

}  // namespace

// Worked out with 60 decimal digits; most of them are places where glibc 2.36 has another last digit.
TEST_CASE("exp, ln and tanh are the true number, rounded once") {
    const Known of_exp[] = {
        {-0x1.7b32fb88f89d4p+0, 0x1.d19f032e16f36p-3}, {-0x1.32859ff18d3d8p+2, 0x1.108b6445e491cp-7},
        {-0x1.fad7ee81c1124p+0, 0x1.1ace5eea73f6ep-3}, {-0x1.cdb73614c682p-1, 0x1.9f955bb426151p-2},
        {0x1.b5ef65c391fap+7, 0x1.ded9c6edc66f0p+315}, {0x1.0df1a63e61df8p+9, 0x1.db971f95d392bp+778}};
    for (const auto& [x, y] : of_exp) CHECK(exp_exactly(x) == y);
    const Known of_log[] = {{0x1.eb35a2167ef1p+1, 0x1.584776ebf370ep+0},
                            {0x1.452c00f4362e5p+0, 0x1.e9d55cf115519p-3},
                            {0x1.c4a426e497889p+1, 0x1.4358866ba6d58p+0},
                            {0x1.0028df378124cp+0, 0x1.46dfa4c02107bp-11},
                            {0x1.cd918f130f08ap-1, -0x1.a8baff46e4ce7p-4}};
    for (const auto& [x, y] : of_log) CHECK(log_exactly(x) == y);
    const Known of_tanh[] = {
        {-0x1.dd41cb0fe56d8p-1, -0x1.769321c412984p-1}, {0x1.f81d115ff312p-3, 0x1.ee2c4eab01db5p-3},
        {-0x1.aa3c0dd80b08p-3, -0x1.a42f6dd95cf39p-3},  {-0x1.8f0c5ac635a6p-4, -0x1.8dca5fca1c22fp-4},
        {0x1.063be93a9dbebp-20, 0x1.063be93a9d62fp-20}, {0x1.cea1b1afa5056p-27, 0x1.cea1b1afa5056p-27}};
    for (const auto& [x, y] : of_tanh) {
        CHECK(tanh_exactly(x) == y);
        CHECK(tanh_exactly(-x) == -y);
    }
}

TEST_CASE("exp, ln and tanh are next to those of the C library everywhere") {
    const auto near = [](double a, double b, int steps) {
        return a == b || std::abs(a - b) <= steps * (std::nextafter(std::abs(b), infinity) - std::abs(b));
    };
    for (double x = -750; x < 712; x += 0.0937) CHECK(near(exp_exactly(x), std::exp(x), 1));
    for (double x = 1e-310; x < 1e300; x *= 1.37) CHECK(near(log_exactly(x), std::log(x), 1));
    for (double x = 0.98; x < 1.02; x += 0.000137) CHECK(near(log_exactly(x), std::log(x), 1));
    for (double x = 1e-300; x < 30; x *= 1.19) CHECK(near(tanh_exactly(x), std::tanh(x), 3));
}

TEST_CASE("exp, ln and tanh at their ends") {
    CHECK(exp_exactly(minus_infinity) == 0);
    CHECK(exp_exactly(-1e300) == 0);
    CHECK(exp_exactly(0) == 1);
    CHECK(exp_exactly(-0.0) == 1);
    CHECK(exp_exactly(709.7) < infinity);
    CHECK(exp_exactly(710) == infinity);
    CHECK(exp_exactly(infinity) == infinity);
    CHECK(std::isnan(exp_exactly(std::nan(""))));
    CHECK(log_exactly(0) == minus_infinity);
    CHECK(log_exactly(1) == 0);
    CHECK(log_exactly(infinity) == infinity);
    CHECK(std::isnan(log_exactly(-1)));
    CHECK(std::isnan(log_exactly(std::nan(""))));
    CHECK(tanh_exactly(0) == 0);
    CHECK(tanh_exactly(infinity) == 1);
    CHECK(tanh_exactly(-1e300) == -1);
    CHECK(std::isnan(tanh_exactly(std::nan(""))));
    const Matrix A = (Matrix(1, 2) << minus_infinity, 0).finished();
    CHECK(exp_exactly(A) == (Matrix(1, 2) << 0, 1).finished());
    CHECK(log_exactly(exp_exactly(A)) == A);
}

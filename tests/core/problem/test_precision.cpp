// Rounding to GPU formats, bit by bit, against three other ways: the list of all numbers of the format, the
// compiler's own float, and Eigen's half and bfloat16.
#include "core/problem/precision.h"
#include "tests/core/problem/formats.h"
#include "tests/core/problems.h"

#include <Eigen/Core>
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

using namespace tilewalk::test;

namespace {

bool same(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);  // tells −0 from 0
}

double listed(Format format, double value) { return static_cast<double>(nearest(format, value)); }

// Calls look(x) around each number of the format and around each midpoint between two of them.
template <class Look> void at_every_edge(Format format, Look look) {
    const std::vector<double>& all = numbers_of(format);
    for (std::size_t n = 0; n < all.size(); ++n) {
        const double next = n + 1 < all.size() ? all[n + 1] : 2 * all[n] - all[n - 1];
        for (double edge : {all[n], (all[n] + next) / 2})
            for (double x : {edge, std::nextafter(edge, -infinity), std::nextafter(edge, infinity)}) {
                look(x);
                look(-x);
            }
    }
}

// How a conversion by hardware or library does on every edge.
template <class Small> int disagreements(Format format) {
    int count = 0;
    at_every_edge(format, [&](double x) {
        // These libraries convert from float; a double that float cannot hold would be rounded twice.
        if (static_cast<double>(static_cast<float>(x)) != x) return;
        count += !same(round_to(format, x), static_cast<double>(Small(static_cast<float>(x))));
    });
    return count;
}

}  // namespace

TEST_SUITE("precision") {
    TEST_CASE("every number of a format, every midpoint and their neighbours, by the list of all numbers") {
        for (Format format : {Format::fp16, Format::bf16, Format::e4m3, Format::tf32}) {
            int wrong = 0, seen = 0;
            at_every_edge(format, [&](double x) {
                ++seen;
                wrong += !same(round_to(format, x), listed(format, x));
            });
            CHECK_MESSAGE(wrong == 0, name(format));
            CHECK(seen > 12 * 120);
        }
    }
    TEST_CASE("fp16 and bf16 as Eigen rounds them") {
        CHECK(disagreements<Eigen::half>(Format::fp16) == 0);
        CHECK(disagreements<Eigen::bfloat16>(Format::bf16) == 0);
    }
#if defined(__FLT16_MAX__) && defined(__GNUC__) && !defined(__clang__)
    TEST_CASE("fp16 as the compiler's own type rounds it") {
        __extension__ typedef _Float16 Half;
        int wrong = 0;
        at_every_edge(Format::fp16, [&](double x) {
            wrong += !same(round_to(Format::fp16, x), static_cast<double>(static_cast<Half>(x)));
        });
        CHECK(wrong == 0);
    }
#endif
    TEST_CASE("fp32 as the processor rounds it") {
        Random random(70);
        int wrong = 0;
        for (int n = 0; n < 400000; ++n) {
            // Any float bit pattern, then a double at it, beside it, or halfway to the next.
            const auto bits = static_cast<std::uint32_t>(random());
            float f = 0;
            std::memcpy(&f, &bits, sizeof f);
            const double x = f, next = std::nextafter(f, std::numeric_limits<float>::infinity());
            for (double value : {x, std::nextafter(x, infinity), x + (next - x) / 2,
                                 std::nextafter(x + (next - x) / 2, -infinity)})
                wrong += !same(round_to(Format::fp32, value), static_cast<double>(static_cast<float>(value)));
        }
        CHECK(wrong == 0);
    }
    TEST_CASE("the 256 patterns of e4m3") {
        const std::vector<double>& all = numbers_of(Format::e4m3);
        REQUIRE(all.size() == 127);
        CHECK(all.front() == 0);
        CHECK(all[1] == 0x1p-9);   // the smallest subnormal
        CHECK(all[8] == 0x1p-6);   // the smallest normal number
        CHECK(all.back() == 448);  // 1.75 · 2⁸; 1.875 · 2⁸ would be the pattern of NaN
        for (double x : all) CHECK(same(round_to(Format::e4m3, -x), -x));
    }
    TEST_CASE("beyond the largest number") {
        CHECK(round_to(Format::fp16, 65519.999) == 65504);
        CHECK(round_to(Format::fp16, 65520) == infinity);
        CHECK(round_to(Format::fp16, -1e300) == -infinity);
        CHECK(round_to(Format::e4m3, 464) == 448);
        CHECK(round_to(Format::e4m3, 1e300) == 448);
        CHECK(round_to(Format::e4m3, -infinity) == -448);
        CHECK(std::isnan(round_to(Format::e4m3, NAN)));
        CHECK(std::isnan(round_to(Format::bf16, NAN)));
        CHECK(round_to(Format::bf16, infinity) == infinity);
        CHECK(round_to(Format::fp32, 1e39) == infinity);
        CHECK(round_to(Format::fp64, 1e300) == 1e300);
    }
    TEST_CASE("small numbers are subnormal before they are 0") {
        CHECK(round_to(Format::fp16, 0x1p-24) == 0x1p-24);
        CHECK(round_to(Format::fp16, 0x1p-25) == 0);  // halfway to 0, which is even
        CHECK(round_to(Format::fp16, 0x1.1p-25) == 0x1p-24);
        CHECK(std::signbit(round_to(Format::fp16, -1e-300)));
        CHECK(smallest(Format::fp16) == 0x1p-24);
        CHECK(smallest(Format::e4m3) == 0x1p-9);
        CHECK(smallest(Format::fp64) == std::numeric_limits<double>::denorm_min());
    }
    TEST_CASE("names lead to formats and back") {
        for (Format format : formats()) CHECK(find_format(name(format)) == format);
        CHECK(formats().size() == 6);
        CHECK(find_format("fp16") == Format::fp16);
        CHECK_FALSE(find_format("fp17"));
        CHECK_FALSE(find_format(""));
    }
    TEST_CASE("a format contains another when rounding to it changes none of its numbers") {
        for (Format wide : formats())
            for (Format narrow : {Format::fp16, Format::bf16, Format::e4m3, Format::tf32}) {
                bool all = true;
                for (double x : numbers_of(narrow)) all = all && round_to(wide, x) == x;
                all = all && (narrow == Format::e4m3 || std::isinf(round_to(wide, infinity)));
                CHECK_MESSAGE(contains(wide, narrow) == all, name(wide), " and ", name(narrow));
            }
        CHECK(contains(Format::fp64, Format::fp32));
        CHECK_FALSE(contains(Format::fp32, Format::fp64));
    }
    TEST_CASE("a matrix is rounded element by element") {
        Matrix A(2, 2);
        A << 0.1, 1e6, -infinity, 3;
        const Matrix B = round_to(Format::fp16, A);
        for (Eigen::Index n = 0; n < 4; ++n) CHECK(same(B.data()[n], round_to(Format::fp16, A.data()[n])));
        CHECK(round_to(Format::fp64, A) == A);
    }
}

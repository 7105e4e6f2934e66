#include "tests/core/hardware.h"

#include <doctest/doctest.h>

#include <set>

using namespace tilewalk;

TEST_SUITE("hardware") {
    TEST_CASE("every figure has a source, and what no source gives is empty") {
        std::set<std::string> ids;
        for (const Hardware& h : hardware_list()) {
            CHECK(ids.insert(h.id).second);
            for (const Figure* f : {&h.capacity, &h.bandwidth, &h.sms, &h.shared, &h.sram, &h.registers,
                                    &h.on_chip, &h.host, &h.fp32, &h.fp16, &h.fp8})
                CHECK_MESSAGE(f->given() != f->source.empty(), h.id);
            for (const Figure* f :
                 {&h.capacity, &h.bandwidth, &h.sms, &h.shared, &h.sram, &h.registers, &h.fp32, &h.fp16})
                CHECK_MESSAGE(f->given(), h.id);
            CHECK(h.shared.value < h.sram.value);
            CHECK(h.fp32.value < h.fp16.value);
        }
    }
    // Seed 004, Part II, "The Memory Hierarchy Problem"
    TEST_CASE("the tutorial's picture of the memory is the two A100s") {
        const Hardware &small = test::hardware("a100-40"), &large = test::hardware("a100-80");
        constexpr double gib = 1024.0 * 1024 * 1024;  // as the driver counts
        CHECK(small.capacity.value == 40 * gib);      // "40-80 GB"
        CHECK(large.capacity.value == 80 * gib);
        CHECK(small.bandwidth.value / 1e12 == doctest::Approx(1.5).epsilon(0.04));  // "1.5-2.0 TB/s"
        CHECK(large.bandwidth.value / 1e12 == doctest::Approx(2.0).epsilon(0.02));
        for (const Hardware* h : {&small, &large}) {
            CHECK(h->sms.value * h->sram.value / (1 << 20) ==
                  doctest::Approx(20).epsilon(0.02));  // "~20 MB total"
            CHECK(h->on_chip.value == 19e12);          // "~19 TB/s"
            CHECK(h->fp16.value == 312e12);            // "312 TFLOPS"
        }
    }
    TEST_CASE("the peak of a format; fp16 stands in where there are no fp8 units") {
        const Hardware &a100 = test::hardware("a100-40"), &h100 = test::hardware("h100");
        CHECK(a100.peak(4) == 19.5e12);
        CHECK(a100.peak(2) == 312e12);
        CHECK(a100.peak(1) == 312e12);
        CHECK_FALSE(a100.has_own_peak(1));
        CHECK(h100.peak(1) == 2 * h100.peak(2));
        CHECK(h100.has_own_peak(1));
        CHECK(std::string(format_name(4)) == "fp32");
        CHECK(std::string(format_name(2)) == "fp16");
        CHECK(std::string(format_name(1)) == "fp8");
    }
}

// The machine of PTX itself, on small programs: what it computes, and what it refuses of that which PTX
// leaves undefined: addresses outside of the allocations, races of warps in shared memory, lanes that never
// come. It does not refuse all: not races of lanes of one warp, different masks in one shfl, a division by 0
// or registers that nobody wrote. And it is stricter than PTX where lanes with one mask stand at two places.
// docs/kernels.md has the list.
#include "tests/cuda/ptx/machine.h"
#include "tests/cuda/ptx/turns.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

using namespace tilewalk::ptx;

namespace {

/// A kernel of so many threads that gets the address of `words` 32-bit words, here all 0, in %base (%at: of
/// this thread's own), and shared memory in %shared. `body` is what comes between.
struct Program {
    std::string body;
    int threads = 32, words = 64;
    std::uint64_t shared_bytes = 1024;
    Machine machine = {};
    std::vector<std::uint32_t> result = {};

    std::string text() const {
        return ".version 8.0\n.target sm_80\n.address_size 64\n"
               ".extern .shared .align 16 .b8 space[];\n"
               ".visible .entry program(.param .u64 program_0)\n{\n"
               ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<30>; .reg .f32 %f<9>; .reg .b64 %q<9>;\n"
               ".reg .b64 %base, %at; .reg .b32 %tid, %shared, %own;\n"
               "ld.param.u64 %base, [program_0];\ncvta.to.global.u64 %base, %base;\nmov.u32 %tid, %tid.x;\n"
               "mul.wide.u32 %at, %tid, 4;\nadd.s64 %at, %base, %at;\nmov.u32 %shared, space;\n"
               "shl.b32 %own, %tid, 2;\nadd.s32 %own, %own, %shared;\n" +
               body + "\nret;\n}\n";
    }
    /// The sentence of what went wrong.
    std::string run() {
        try {
            Module module(text());
            const std::uint64_t memory = machine.memory.allocate(4 * static_cast<std::uint64_t>(words));
            // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the device
            const void* const there = reinterpret_cast<const void*>(memory);
            unsigned char* const bytes = machine.memory.at(there, 4 * static_cast<std::uint64_t>(words));
            std::memset(bytes, 0, 4 * static_cast<std::size_t>(words));
            const void* const arguments[] = {&memory};
            machine.launch(module.kernel("program"), {{1, 1, 1}, threads, shared_bytes}, arguments);
            result.resize(static_cast<std::size_t>(words));
            std::memcpy(result.data(), bytes, 4 * result.size());
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }
};

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The lowest 32 bits that an instruction leaves in %r0 (%q0), where its operands are numbers
std::uint32_t value_of(const std::string& instructions) {
    Program program{instructions + "\nst.global.u32 [%at], %r0;"};
    const std::string wrong = program.run();
    CHECK_MESSAGE(wrong == "", instructions);
    return program.result.empty() ? 0 : program.result[5];
}
std::string bits(float x) {
    char text[16];
    std::snprintf(text, sizeof text, "0f%08X", std::bit_cast<std::uint32_t>(x));
    return text;
}
float float_of(const std::string& instructions) {
    return std::bit_cast<float>(value_of(instructions + "\nmov.b32 %r0, %f0;"));
}

}  // namespace

TEST_CASE("ptx machine: integers wrap, shift and divide as the manual says") {
    CHECK(value_of("mul.lo.s32 %r0, -3, 7;") == 0u - 21);
    CHECK(value_of("mul.wide.s32 %q0, -2, 3; shr.u64 %q0, %q0, 32; cvt.u32.u64 %r0, %q0;") == 0xFFFFFFFFu);
    CHECK(value_of("mul.wide.u32 %q0, -2, 3; shr.u64 %q0, %q0, 32; cvt.u32.u64 %r0, %q0;") == 2);
    CHECK(value_of("mov.u64 %q1, -1; mul.hi.u64 %q0, %q1, %q1; cvt.u32.u64 %r0, %q0;") == 0xFFFFFFFEu);
    CHECK(value_of("div.s32 %r0, -7, 2;") == 0u - 3);
    CHECK(value_of("div.u32 %r0, -7, 2;") == 0x7FFFFFFCu);
    CHECK(value_of("shr.s32 %r0, -8, 32;") == 0xFFFFFFFFu);
    CHECK(value_of("shr.u32 %r0, -8, 32;") == 0);
    CHECK(value_of("shl.b32 %r0, 1, 32;") == 0);
    CHECK(value_of("bfi.b32 %r0, 5, 0, 4, 28;") == 0x50);
    CHECK(value_of("bfi.b32 %r0, 255, 0, 28, 8;") == 0xF0000000u);
    CHECK(value_of("mov.u16 %h1, -1; mul.wide.u16 %r0, %h1, %h1;") == 0xFFFE0001u);
    CHECK(value_of("rem.s32 %r0, -7, 4;") == 0u - 3);
    CHECK(value_of("mad.wide.s32 %q0, -2, 3, 7; cvt.u32.u64 %r0, %q0;") == 1);
    CHECK(value_of("shf.l.wrap.b32 %r0, 0x80000000, 1, 33;") == 3);
    CHECK(value_of("shf.r.clamp.b32 %r0, 5, 6, 40;") == 6);
    CHECK(value_of("prmt.b32 %r0, 0x33221100, 0x77665544, 0xF617;") == 0x00661177);
    CHECK(value_of("prmt.b32 %r0, 0x80, 0, 0x8888;") == 0xFFFFFFFFu);
    CHECK(value_of("popc.b32 %r0, 0xF0F0;") == 8);
    CHECK(value_of("clz.b32 %r0, 1;") == 31);
    CHECK(value_of("setp.lt.u32 %p1, %tid, 3; vote.sync.ballot.b32 %r0, %p1, -1;") == 7);
    CHECK(value_of("setp.lt.u32 %p1, %tid, 3; vote.sync.any.pred %p2, %p1, -1; selp.b32 %r0, 1, 0, %p2;") ==
          1);
    CHECK(value_of("setp.lt.u32 %p1, %tid, 3; vote.sync.all.pred %p2, %p1, -1; selp.b32 %r0, 1, 0, %p2;") ==
          0);
    CHECK(value_of("cvt.s64.s32 %q0, -1; shr.u64 %q0, %q0, 60; cvt.u32.u64 %r0, %q0;") == 15);
    CHECK(value_of("mov.u16 %h1, 7; mov.b32 %r0, {2, %h1};") == 0x70002);
    CHECK(value_of("setp.lt.s32 %p1, -1, 1; selp.b32 %r0, 4, 9, %p1;") == 4);
    CHECK(value_of("setp.lt.u32 %p1, -1, 1; selp.b32 %r0, 4, 9, %p1;") == 9);
}

TEST_CASE("ptx machine: floating point rounds once, and knows what is no number") {
    const float x = 1 + 0x1p-23f, infinite = std::numeric_limits<float>::infinity(), nan = NAN;
    // x² − (1 + 2⁻²²) is 2⁻⁴⁶, and nothing when the product is rounded first
    CHECK(float_of("fma.rn.f32 %f0, " + bits(x) + ", " + bits(x) + ", " + bits(-1 - 0x1p-22f) + ";") ==
          0x1p-46f);
    // Down: to the number below, from both sides of 0
    CHECK(float_of("fma.rm.f32 %f0, " + bits(1) + ", " + bits(1) + ", " + bits(0x1p-30f) + ";") == 1);
    CHECK(float_of("fma.rm.f32 %f0, " + bits(1) + ", " + bits(1) + ", " + bits(-0x1p-30f) + ";") ==
          1 - 0x1p-24f);
    CHECK(float_of("fma.rm.f32 %f0, " + bits(-1) + ", " + bits(1) + ", " + bits(-0x1p-30f) + ";") ==
          -1 - 0x1p-23f);
    CHECK(float_of("max.f32 %f0, " + bits(nan) + ", " + bits(-2) + ";") == -2);
    CHECK(float_of("max.f32 %f0, " + bits(-2) + ", " + bits(nan) + ";") == -2);
    CHECK_FALSE(std::signbit(float_of("max.f32 %f0, " + bits(-0.0f) + ", " + bits(0) + ";")));
    CHECK(value_of("add.f32 %f0, " + bits(infinite) + ", " + bits(-infinite) + "; mov.b32 %r0, %f0;") ==
          0x7FFFFFFFu);
    CHECK(float_of("ex2.approx.ftz.f32 %f0, " + bits(-infinite) + ";") == 0);
    CHECK(float_of("ex2.approx.ftz.f32 %f0, " + bits(-3) + ";") == 0.125f);
    CHECK(float_of("ex2.approx.ftz.f32 %f0, " + bits(-127) + ";") == 0);
    CHECK(float_of("ex2.approx.f32 %f0, " + bits(-127) + ";") == 0x1p-127f);
    CHECK(float_of("lg2.approx.ftz.f32 %f0, " + bits(8) + ";") == 3);
    CHECK(float_of("rsqrt.approx.ftz.f32 %f0, " + bits(4) + ";") == 0.5f);
    CHECK(float_of("rcp.approx.ftz.f32 %f0, " + bits(0) + ";") == infinite);
    CHECK(value_of("cvt.rzi.s32.f32 %r0, " + bits(-2.75f) + ";") == 0u - 2);
    CHECK(value_of("setp.neu.f32 %p1, " + bits(nan) + ", " + bits(1) + "; selp.b32 %r0, 1, 0, %p1;") == 1);
    CHECK(float_of("cvt.sat.f32.f32 %f0, " + bits(nan) + ";") == 0);
    CHECK(float_of("cvt.sat.f32.f32 %f0, " + bits(3) + ";") == 1);
    for (const char* compare : {"eq", "ne", "lt", "ge"}) {
        CAPTURE(compare);
        CHECK(value_of(std::string("setp.") + compare + ".f32 %p1, " + bits(nan) + ", " + bits(nan) +
                       "; selp.b32 %r0, 1, 0, %p1;") == 0);
    }
}

TEST_CASE("ptx machine: sums of atomics in global memory flush subnormal numbers") {
    const auto sum = [](float old, float x) {
        const std::string words = "st.global.u32 [%at], " +
                                  std::to_string(std::bit_cast<std::uint32_t>(old)) + ";\nmov.f32 %f1, " +
                                  bits(x) + ";\n";
        Program red{words + "red.global.add.f32 [%at], %f1;"};
        CHECK(red.run() == "");
        // What was there before is given as it was
        Program atom{words + "atom.global.add.f32 %f0, [%at], %f1;\nld.global.u32 %r1, [%at];\n"
                             "st.global.f32 [%at], %f0;\nst.global.u32 [%base], %r1;"};
        CHECK(atom.run() == "");
        CHECK(atom.result[5] == std::bit_cast<std::uint32_t>(old));
        CHECK(atom.result[0] == red.result[5]);
        return red.result[5];
    };
    CHECK(sum(1, 2) == std::bit_cast<std::uint32_t>(3.0f));
    CHECK(sum(0x1p-149f, 0x1p-149f) == 0);
    CHECK(sum(-0x1p-149f, -0x1p-127f) == 0x80000000u);
    CHECK(sum(0x1p-126f, 0x1p-127f) == std::bit_cast<std::uint32_t>(0x1p-126f));
    CHECK(sum(0x1.8p-126f, -0x1p-126f) == 0);
    CHECK(sum(-0x1.8p-126f, 0x1p-126f) == 0x80000000u);
    CHECK(sum(std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()) ==
          0x7FFFFFFFu);
}

TEST_CASE("ptx machine: 16 bits round to nearest, ties to even") {
    const auto half = [](const std::string& type, float x) {
        return value_of("cvt.rn." + type + ".f32 %h0, " + bits(x) + "; cvt.u32.u16 %r0, %h0;");
    };
    CHECK(half("f16", 1 + 0x1p-11f) == 0x3C00);
    CHECK(half("f16", 1 + 3 * 0x1p-11f) == 0x3C02);
    CHECK(half("f16", 65519) == 0x7BFF);
    CHECK(half("f16", -65520) == 0xFC00);
    CHECK(half("f16", 0x1p-24f) == 1);
    CHECK(half("f16", 0x1p-25f) == 0);
    CHECK(half("f16", 3 * 0x1p-25f) == 2);
    CHECK(half("f16", 0x1p-14f - 0x1p-26f) == 0x0400);
    CHECK(half("f16", NAN) == 0x7FFF);
    CHECK(half("bf16", 1 + 0x1p-8f) == 0x3F80);
    CHECK(half("bf16", 1 + 3 * 0x1p-8f) == 0x3F82);
    CHECK(half("bf16", std::numeric_limits<float>::max()) == 0x7F80);
    // The first operand is the upper half
    CHECK(value_of("cvt.rn.f16x2.f32 %r0, " + bits(1) + ", " + bits(2) + ";") == 0x3C004000);
    CHECK(float_of("mov.u16 %h1, 0x8001; cvt.f32.f16 %f0, %h1;") == -0x1p-24f);
}

TEST_CASE("ptx machine: lanes that part meet again") {
    // Each lane counts to its own number; then all add up over the warp, which needs all of them.
    Program program{
        "mov.u32 %r1, 0;\nagain:\nsetp.ge.u32 %p1, %r1, %tid;\n@%p1 bra out;\nadd.s32 %r1, %r1, 1;\n"
        "bra again;\nout:\n"
        "shfl.sync.bfly.b32 %r2|%p2, %r1, 1, 31, -1; add.s32 %r1, %r1, %r2;\n"
        "shfl.sync.bfly.b32 %r2|%p2, %r1, 2, 31, -1; add.s32 %r1, %r1, %r2;\n"
        "shfl.sync.bfly.b32 %r2|%p2, %r1, 4, 31, -1; add.s32 %r1, %r1, %r2;\n"
        "shfl.sync.bfly.b32 %r2|%p2, %r1, 8, 31, -1; add.s32 %r1, %r1, %r2;\n"
        "shfl.sync.bfly.b32 %r2|%p2, %r1, 16, 31, -1; add.s32 %r1, %r1, %r2;\n"
        "st.global.u32 [%at], %r1;"};
    REQUIRE(program.run() == "");
    for (int lane = 0; lane < 32; ++lane) CHECK(program.result[static_cast<std::size_t>(lane)] == 496);
    // Together: 31 times around the loop, not once for each lane
    CHECK(program.machine.executed < 200);
    // What follows an if and its else is done once
    std::string tail;
    for (int n = 0; n < 100; ++n) tail += "add.s32 %r1, %r1, 1;\n";
    Program join{"setp.lt.u32 %p1, %tid, 16;\n@%p1 bra other;\nmov.u32 %r1, 5;\nbra.uni join;\nother:\n"
                 "mov.u32 %r1, 6;\njoin:\n" +
                 tail + "st.global.u32 [%at], %r1;"};
    REQUIRE(join.run() == "");
    CHECK(join.result[15] == 106);
    CHECK(join.result[16] == 105);
    CHECK(join.machine.executed < 150);
}

TEST_CASE("ptx machine: what needs all lanes is an error without them") {
    // The first is stricter than PTX, which from sm_70 on lets two places be one shfl.sync with one mask
    const std::string half = "setp.lt.u32 %p1, %tid, 16;\n@%p1 bra out;\n";
    Program shuffle{half + "shfl.sync.idx.b32 %r2|%p2, %tid, 20, 31, -1;\nbra.uni end;\nout:\n"
                           "shfl.sync.idx.b32 %r2|%p2, %tid, 3, 31, -1;\nend:"};
    CHECK(says(shuffle.run(), "its lanes wait for others that never come"));
    Program left{half + "ret;\nout:\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%shared];"};
    CHECK(says(left.run(), "a lane of the warp has left"));
    // Those that have left are not waited for
    Program barrier{half + "ret;\nout:\nbar.sync 0;\nst.global.u32 [%at], 7;"};
    CHECK(barrier.run() == "");
    CHECK(barrier.result[3] == 7);
}

TEST_CASE("ptx machine: every address is held against what was allocated") {
    const auto wrong = [](const std::string& body) { return Program{body}.run(); };
    CHECK(wrong("ld.global.u32 %r1, [%base+252];") == "");
    const std::string beyond =
        wrong("setp.ne.u32 %p1, %tid, 9;\n@%p1 bra out;\nst.global.u32 [%base+256], %r1;\nout:");
    CAPTURE(beyond);
    for (const char* part :
         {"st.global.u32 [%base+256], %r1;", "warp 0, lane 9", "4 bytes at 0x7000000100", "PTX line"})
        CHECK(says(beyond, part));
    CHECK(says(wrong("ld.global.u32 %r1, [%base+-4];"), "before every allocation"));
    CHECK(says(wrong("ld.global.u64 %q1, [%base+252];"), "not aligned to 8"));
    CHECK(says(wrong("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%base+8];"), "not aligned to 16"));
    CHECK(wrong("ld.shared.u32 %r1, [%shared+1020];") == "");
    CHECK(says(wrong("ld.shared.u32 %r1, [%shared+1024];"), "outside of its 1024 bytes"));
    CHECK(says(wrong("cvt.u64.u32 %q1, %shared;\nld.global.u32 %r1, [%q1];"), "global memory"));
    CHECK(says(wrong("ld.param.u64 %q1, [program_0+8];"), "parameter memory"));
    // The last bytes that an address can name, whose end wraps to 0
    const std::string last = wrong("mov.u64 %q1, 0;\nld.global.u32 %r1, [%q1+-4];");
    CHECK(says(last, "4 bytes at 0xfffffffffffffffc of global memory"));
    CHECK(says(last, "behind an allocation of 256"));
    CHECK(says(wrong("ld.global.u32 %r1, [%base];\nmov.u64 %q1, 0;\nst.global.u32 [%q1+-4], %r1;"),
               "behind an allocation of 256"));
    CHECK(says(wrong("ld.global.u32 %r1, [%q1+-3];"), "behind an allocation of 256"));
    CHECK(says(wrong("mov.u64 %q1, 0;\nld.shared.u32 %r1, [%q1+-4];"), "outside of its 1024 bytes"));
    // An address of 32 bits wraps at 32 bits
    CHECK(says(wrong("mov.u32 %r1, 0;\nld.shared.u32 %r1, [%r1+-4];"),
               "4 bytes at 0xfffffffc of shared memory: outside of its 1024 bytes"));
    CHECK(wrong("add.s32 %r1, %shared, -8;\nadd.s32 %r1, %r1, 12;\nld.shared.u32 %r1, [%r1+-4];") == "");
}

TEST_CASE("ptx machine: a kernel that never ends is an error that names the line") {
    for (const auto warps :
         {Schedule::Warps::in_turns, Schedule::Warps::first_ahead, Schedule::Warps::last_ahead}) {
        Program endless{"again:\nadd.s32 %r1, %r1, 1;\nbra.uni again;", 64};
        endless.machine.schedule.warps = warps;
        endless.machine.budget = 1000;
        const std::string wrong = endless.run();
        CAPTURE(wrong);
        CHECK(says(wrong, "PTX line"));
        CHECK((says(wrong, "add.s32 %r1, %r1, 1;") || says(wrong, "bra.uni again;")));
        CHECK(says(wrong, "the launch has not ended after 1000 instructions of warps"));
        CHECK(endless.machine.executed == 1001);
    }
    // Each launch has its own
    Program twice{"st.global.u32 [%at], 7;"};
    REQUIRE(twice.run() == "");
    twice.machine.budget = twice.machine.executed;
    CHECK(twice.run() == "");
    --twice.machine.budget;
    CHECK(says(twice.run(), "the launch has not ended"));
}

TEST_CASE("ptx machine: an unknown instruction or a wrong register is named") {
    const auto wrong = [](const std::string& body) { return Program{body}.run(); };
    CHECK(says(wrong("sin.approx.f32 %f1, %f2;"), "unknown instruction sin.approx.f32"));
    // What is not understood begins differently from what a kernel did wrong: mutants.sh tells them by it
    for (const char* text : {"sin.approx.f32 %f1, %f2;", "add.s32 %r1, %r2, 12xyz;", "add.s32 %r1, {%r2;",
                             "bra nowhere;", "ld.shared.u32 %r1, [%shared;"}) {
        CAPTURE(text);
        CHECK(wrong(text).rfind("Not understood: ", 0) == 0);
        CHECK_FALSE(says(wrong(text), "PTX line"));
    }
    CHECK(wrong("trap;").rfind("PTX line ", 0) == 0);
    CHECK(says(wrong("add.s32 %r1, %r2, %q1;"), "%q1 is a register of another width"));
    CHECK(says(wrong("add.s32 %r1, %r2, %nothing;"), "unknown name %nothing"));
    CHECK(says(wrong("add.s32 %r1, %r2;"), "another number of operands"));
    CHECK(says(wrong("bra nowhere;"), "there is no label nowhere"));
    CHECK(says(wrong("bar.sync 1;"), "only barrier 0"));
    CHECK(says(wrong("trap;"), "the kernel stopped itself"));
}

TEST_CASE("ptx machine: an asynchronous copy arrives with its wait and not before") {
    // 16 bytes by each of the first four lanes, of which `bytes` come from the source
    const auto copies = [](const std::string& waits, bool late, int bytes = 16) {
        Program program{"st.global.u32 [%at], 5;\nshl.b32 %r1, %tid, 4;\nadd.s32 %r2, %shared, %r1;\n"
                        "cvt.u64.u32 %q1, %r1;\nadd.s64 %q1, %base, %q1;\nsetp.gt.u32 %p1, %tid, 3;\n"
                        "st.shared.u32 [%own], 9;\nbar.sync 0;\n@%p1 bra out;\n"
                        "cp.async.cg.shared.global [%r2], [%q1], 16, " +
                        std::to_string(bytes) + ";\ncp.async.commit_group;\ncp.async.commit_group;\n" +
                        waits + "\nout:\nbar.sync 0;\nld.shared.u32 %r3, [%own];\nst.global.u32 [%at], %r3;"};
        program.machine.schedule.late_copies = late;
        CHECK(program.run() == "");
        return program.result.empty() ? std::vector<std::uint32_t>(4) : program.result;
    };
    CHECK(copies("", true)[3] == 9);
    CHECK(copies("", false)[3] == 5);
    CHECK(copies("cp.async.wait_group 2;", true)[3] == 9);
    CHECK(copies("cp.async.wait_group 1;", true)[3] == 5);
    CHECK(copies("cp.async.wait_group 0;", true)[3] == 5);
    CHECK(copies("cp.async.wait_all;", true)[3] == 5);
    CHECK(copies("cp.async.wait_group 0;", true, 4)[0] == 5);
    CHECK(copies("cp.async.wait_group 0;", true, 4)[3] == 0);
}

TEST_CASE("ptx machine: warps that touch the same bytes without a barrier race, in every order") {
    // The first warp writes a word for each thread of the second, which reads it
    const auto race = [](const std::string& between, Schedule::Warps warps, bool look = true) {
        Program program{"setp.gt.u32 %p1, %tid, 31;\n@%p1 bra met;\nadd.s32 %r1, %own, 128;\n"
                        "st.shared.u32 [%r1], 8;\nmet:\n" +
                            between +
                            "\n@!%p1 bra end;\nld.shared.u32 %r2, [%own];\nst.global.u32 [%at], %r2;\nend:",
                        64};
        program.machine.schedule.warps = warps;
        program.machine.find_races = look;
        const std::string wrong = program.run();
        return wrong.empty() ? std::to_string(program.result[40]) : wrong;
    };
    for (const auto warps :
         {Schedule::Warps::in_turns, Schedule::Warps::first_ahead, Schedule::Warps::last_ahead}) {
        CHECK(race("bar.sync 0;", warps) == "8");
        CHECK(says(race("", warps), "with no barrier between the two"));
    }
    // Without looking for it, it depends on the order whether it shows
    CHECK(race("", Schedule::Warps::first_ahead, false) == "8");
    CHECK(race("", Schedule::Warps::last_ahead, false) != "8");
}

TEST_CASE("ptx machine: what nvcc calls names of one file alone is told apart from its path") {
    CHECK(plain_name(
              "_ZN8tilewalk3gpu7on_cuda45_GLOBAL__N__7172d85d_12_f5_flash2_cu_26a657316flash2I6__halfEEv") ==
          "_ZN8tilewalk3gpu7on_cuda{f5_flash2_cu}6flash2I6__halfEEv");
    CHECK(plain_name("_Z3foov") == "_Z3foov");
}

TEST_CASE(
    "ptx machine: the cases are every shape in every layout, every head dimension under every schedule") {
    constexpr std::size_t shapes = 9, layouts = 3, schedules = 4;
    for (std::size_t dims = 1; dims <= 5; ++dims) {
        CAPTURE(dims);
        std::set<std::array<std::size_t, 2>> in_layouts, under_schedules, shapes_dims, shapes_schedules;
        for (const Turn& turn : turns(shapes, layouts, dims, schedules)) {
            in_layouts.insert({turn.shape, turn.layout});
            under_schedules.insert({turn.d, turn.schedule});
            shapes_dims.insert({turn.shape, turn.d});
            shapes_schedules.insert({turn.shape, turn.schedule});
        }
        CHECK(in_layouts.size() == shapes * layouts);
        CHECK(under_schedules.size() == dims * schedules);
        // No shape is locked to one of the others
        for (std::size_t shape = 0; shape < shapes; ++shape) {
            const auto of_shape = [shape](const auto& pair) { return pair[0] == shape; };
            CHECK((dims == 1 || std::count_if(shapes_dims.begin(), shapes_dims.end(), of_shape) > 1));
            CHECK(std::count_if(shapes_schedules.begin(), shapes_schedules.end(), of_shape) > 1);
        }
    }
    CHECK(turns(shapes, layouts, 0, schedules).empty());
}

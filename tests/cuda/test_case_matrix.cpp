// Every kernel of the ladder over the shapes, masks, heads and layouts that the FlashAttention tests use, on
// the emulator, against attention in fp64. tests/cuda/check_kernels.cpp runs many more of them.
#include "tests/cuda/kernel_cases.h"
#include "tests/part.h"
#include "tests/skip.h"

#include <cfloat>
#include <doctest/doctest.h>

using namespace tilewalk;

namespace {

// The sanitizers: small shapes, and f16 as bf16.
constexpr std::int64_t most_scores = test::in_full ? 128 * 640 : 1000;

// `like`: its sizes; the kernel says direction and type.
KernelCase case_of(const std::string& kernel, DType type, Workload like) {
    like.direction = kernel[0] == 'b' ? Direction::backward : Direction::forward, like.dtype = type;
    return {kernel, like};
}

void check(const KernelCase& c) {
    CAPTURE(c);
    const KernelVerdict verdict = verify_case(c);
    CHECK_MESSAGE(verdict.passed, verdict.sentence);
}

}  // namespace

TEST_SUITE("kernels on the emulator") {
    TEST_CASE("the case matrix") {
        test::Part part("TILEWALK_KERNELS", 4);
        for (const auto& [kernel, type] : kernels_and_types()) {
            if (!test::in_full && type == DType::f16) continue;
            for (const KernelCase& c : case_matrix(kernel, type, most_scores, 1))
                if (part.takes()) check(c);
        }
    }

    TEST_CASE("a thousand keys, ragged") {
        if (!test::in_full) return test::skip("too long for the sanitizers");
        for (const auto& [kernel, type] : kernels_and_types()) {
            if (type == DType::f16) continue;
            check(case_of(kernel, type,
                          {.heads = 1, .kv_heads = 1, .N_q = 515, .N_kv = 1023, .d = 64, .causal = true}));
        }
    }

    TEST_CASE("extreme inputs") {
        test::Part part("TILEWALK_KERNELS", 4);
        for (const auto& [kernel, type] : kernels_and_types())
            for (Inputs inputs : {Inputs::overflow, Inputs::outliers, Inputs::equal_rows, Inputs::one_logit,
                                  Inputs::large, Inputs::denormals})
                for (std::int64_t N_kv : {70, 150}) {
                    if (!test::in_full && (type == DType::f16 || N_kv == 150)) continue;
                    if (!test::in_full && inputs != Inputs::one_logit && inputs != Inputs::large) continue;
                    if (!part.takes()) continue;
                    KernelCase c = case_of(
                        kernel, type,
                        {.heads = 2, .kv_heads = 1, .N_q = 130, .N_kv = N_kv, .d = 64, .causal = N_kv == 70});
                    c.inputs = inputs, c.layout = Layout::padded, c.seed = 3;
                    // With equal scores all rows of a head are one: the largest error needs more heads.
                    if (inputs == Inputs::equal_rows) c.w.batch = 8;
                    check(c);
                }
    }

    TEST_CASE("scale 0 gives the mean of the values that a query sees") {
        for (const auto& [kernel, type] : kernels_and_types()) {
            if (kernel[0] == 'b') continue;
            const KernelCase c = case_of(
                kernel, type, {.heads = 1, .kv_heads = 1, .N_q = 40, .N_kv = 33, .d = 64, .causal = true});
            CAPTURE(c);
            const Tensors in = inputs_of(c);
            std::string wrong;
            const Tensors out = run_case(c, in, wrong, {}, [](auto& a, auto&) { a.scale = FLT_MIN; });
            REQUIRE(wrong.empty());
            for (std::int64_t i = 0; i < c.w.N_q; ++i)
                for (std::int64_t column = 0; column < c.w.d; ++column) {
                    double sum = 0;
                    for (std::int64_t j = 0; j <= c.w.last_key(i); ++j)
                        sum += in.V[static_cast<std::size_t>(j * c.w.d + column)];
                    const double mean = sum / std::max<double>(1, static_cast<double>(c.w.last_key(i) + 1));
                    CHECK(out.O[static_cast<std::size_t>(i * c.w.d + column)] ==
                          doctest::Approx(mean).epsilon(type == DType::f32 ? 1e-5 : 1e-2));
                }
        }
    }

    TEST_CASE("the same bits in every run, whatever the order of warps and blocks") {
        for (const auto& [kernel, type] : kernels_and_types()) {
            if (!test::in_full && type == DType::f16) continue;
            KernelCase c =
                case_of(kernel, type, {.heads = 2, .kv_heads = 2, .N_q = 150, .N_kv = 200, .d = 64});
            CAPTURE(c);
            const Tensors in = inputs_of(c);
            std::string wrong;
            const Tensors one = run_case(c, in, wrong);
            c.seed = 77;
            c.copies = gpu::emulator::Options::Copies::early;
            const Tensors two = run_case(c, in, wrong);
            CHECK(wrong.empty());
            CHECK(one.O == two.O);
            CHECK(one.dK == two.dK);
            CHECK(one.dV == two.dV);
            if (kernel != "b1-recompute-fp32" && kernel != "b2-tensor-core") CHECK(one.dQ == two.dQ);
        }
    }

    TEST_CASE("chips with less shared memory are refused or served") {
        for (const auto& [kernel, type] : kernels_and_types())
            for (const auto& [the_capability, kilobytes] : {std::pair{75, 64}, {86, 99}})
                for (std::int64_t d : {64, 128}) {
                    const auto& capability = the_capability;
                    if (!test::in_full && (type == DType::f16 || d == 128)) continue;
                    gpu::Chip chip{capability, kilobytes << 10, 40};
                    const KernelCase c =
                        case_of(kernel, type,
                                {.heads = 2, .kv_heads = 1, .N_q = 70, .N_kv = 140, .d = d, .causal = true});
                    CAPTURE(c);
                    CAPTURE(capability);
                    if (const auto reason = refused(c, chip)) {
                        CHECK_FALSE(reason->empty());
                        continue;
                    }
                    const KernelVerdict verdict = verify_case(c, chip);
                    CHECK_MESSAGE(verdict.passed, verdict.sentence);
                }
    }
}

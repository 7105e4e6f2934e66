// f6-split: splits, the heads of a group in one tile, and its walk beside the CPU's.
#include "core/compare/kernel_compare.h"
#include "core/problem/problem.h"
#include "cuda/host/arguments_of.h"
#include "cuda/host/gpu.h"
#include "tests/cuda/kernel_cases.h"
#include "tests/good.h"

#include <doctest/doctest.h>

using namespace tilewalk;
using namespace tilewalk::gpu;

namespace {

KernelCase case_of(std::int64_t N_q, std::int64_t N_kv, std::int64_t heads, std::int64_t kv_heads,
                   bool causal) {
    return {"f6-split",
            {.dtype = DType::bf16,
             .heads = heads,
             .kv_heads = kv_heads,
             .N_q = N_q,
             .N_kv = N_kv,
             .d = 64,
             .causal = causal}};
}

std::int64_t workspace(const KernelCase& c) {
    return rung_called(*open_emulator(), c.kernel).workspace(arguments_of(c.w, {}), c.w.dtype);
}

/// Few queries, and keys for some splits.
Problem few_queries(int N_q, int N_kv, bool causal) {
    Problem p = *random_problem(N_kv, 16, 7);
    p.Q = p.Q.topRows(N_q).eval();
    p.dO.reset();
    p.causal = causal;
    return p;
}
KernelComparison compared(const Problem& p, const KernelFault& fault = {}) {
    TraceRequest request;
    request.kernel = "f6-split", request.dtype = DType::f16, request.problem = p, request.fault = fault;
    return test::good(compare_kernel(
        std::make_shared<const KernelTrace>(test::good(trace_kernel(Where::emulator, request)))));
}

}  // namespace

TEST_SUITE("cuda/split") {
    TEST_CASE("tiles are written down at any head dimension, also where the kernel's own has no such code") {
        int written = 0;
        for (const TraceableKernel& kernel : traceable_kernels())
            for (const int d : {20, 65, 96, 97}) {
                if (kernel.direction == Direction::backward || kernel.name.starts_with("f0-")) continue;
                INFO(kernel.name, ", d = ", d);
                TraceRequest request;
                request.kernel = kernel.name, request.problem = *random_problem(40, d, 7);
                request.dtype = kernel.types.front();
                const auto trace = trace_kernel(Where::emulator, request);
                REQUIRE_MESSAGE(trace, trace.error);
                written += !trace->tiles.empty();
            }
        CHECK(written >= 20);
    }

    TEST_CASE("few queries against many keys, in groups of every size, with and without a mask") {
        for (const auto& [heads, kv_heads] : {std::pair{1, 1}, {3, 1}, {16, 2}})
            for (const std::int64_t N_q : {1, 4, 16})
                for (const bool causal : {false, true}) {
                    const KernelCase c = case_of(N_q, 300 + 70 * N_q, heads, kv_heads, causal);
                    CAPTURE(c);
                    const KernelVerdict verdict = verify_case(c);
                    CHECK_MESSAGE(verdict.passed, verdict.sentence);
                }
        // More splits than a warp has lanes
        const KernelVerdict verdict = verify_case(case_of(1, 4500, 1, 1, true));
        CHECK_MESSAGE(verdict.passed, verdict.sentence);
    }

    TEST_CASE("its workspace is O, m and ℓ of every split, and nothing where there is one") {
        CHECK(workspace(case_of(1, 128, 8, 2, false)) == 0);
        CHECK(workspace(case_of(1, 129, 8, 2, false)) == 4 * 2 * 8 * (64 + 2));
        CHECK(workspace(case_of(16, 1 << 20, 8, 2, false)) == std::int64_t{4} * 64 * 8 * 16 * (64 + 2));
        CHECK(workspace(case_of(65, 1 << 20, 8, 8, false)) == 0);  // enough queries to keep all busy
    }

    TEST_CASE("the splits, and the bits, do not depend on the batch") {
        KernelCase one = case_of(2, 500, 4, 2, false);
        const Tensors in = inputs_of(one);
        KernelCase three = one;
        three.w.batch = 3;
        Tensors thrice = in;
        for (int copy = 0; copy < 2; ++copy)
            for (const auto tensor : {&Tensors::Q, &Tensors::K, &Tensors::V})
                (thrice.*tensor).insert((thrice.*tensor).end(), (in.*tensor).begin(), (in.*tensor).end());
        std::string wrong;
        const Tensors a = run_case(one, in, wrong), b = run_case(three, thrice, wrong);
        REQUIRE(wrong.empty());
        for (int copy = 0; copy < 3; ++copy) {
            CHECK(std::equal(a.O.begin(), a.O.end(), b.O.begin() + copy * std::ssize(a.O)));
            CHECK(std::equal(a.L.begin(), a.L.end(), b.L.begin() + copy * std::ssize(a.L)));
        }
    }

    TEST_CASE("the backward pass is given O and L by a kernel for many queries") {
        const auto device = open_emulator();
        Workload w{.dtype = DType::bf16, .N_q = 8, .N_kv = 300, .d = 64};
        CHECK(std::string(forward_rung(*device, arguments_of(w, {}), w.dtype)->name) == "f7-hopper");
    }

    TEST_CASE("beside the CPU's walk every step is explained, in every split, and the combination as well") {
        for (const bool causal : {false, true}) {
            const KernelComparison c = compared(few_queries(5, 400, causal));
            CHECK(c.kernel->split_blocks == 2);
            CHECK(c.kernel->tiles.size() == 7);
            CHECK(c.passed());
            CHECK_MESSAGE(c.within_rounding(), finding_text(c));
            // A walk over all keys knows S alone of a later split.
            using Quantity = KernelFault::Quantity;
            CHECK(c.tile(0, 1)->of[1].recorded);
            CHECK((*c.tile(0, 4))[Quantity::S].recorded);
            CHECK_FALSE((*c.tile(0, 4))[Quantity::m].recorded);
        }
    }

    TEST_CASE("a fault in a later split is found where it is") {
        using Quantity = KernelFault::Quantity;
        for (const Quantity quantity : {Quantity::S, Quantity::m, Quantity::P, Quantity::l, Quantity::O}) {
            const bool cell = quantity == Quantity::S || quantity == Quantity::P || quantity == Quantity::O;
            const KernelComparison c =
                compared(few_queries(5, 400, false), {quantity, 0, 4, 3, cell ? 2 : -1, .05});
            CAPTURE(static_cast<int>(quantity));
            CHECK(c.finding.kind == KernelFinding::Kind::value);
            CHECK(c.finding.quantity == quantity);
            CHECK(c.finding.j == 4);
            CHECK(c.finding.row == 3);
        }
    }
}

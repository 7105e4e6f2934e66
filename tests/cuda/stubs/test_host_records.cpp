// The host's code that records a run for the page Inside, and the one that sets a kernel's run on a GPU
// beside the lessons: what they give back, and what they refuse. What is in a record is the matter of
// ../test_inside.cpp.
#include "core/inside/faults.h"
#include "cuda/host/gpu.h"
#include "tests/contains.h"
#include "tests/cuda/stubs/gpu.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace tilewalk;
using stubs::behave;
using test::contains;

namespace {

gpu::RecordRequest request_for(const char* kernel, DType type, int N, int d) {
    gpu::RecordRequest request;
    request.kernel = kernel, request.dtype = type, request.problem = *random_problem(N, d, 1);
    request.blocks = {0};
    return request;
}
inside::Record recorded(const gpu::RecordRequest& request) {
    auto record = gpu::record_kernel(request);
    REQUIRE_MESSAGE(record, record.error);
    return std::move(*record);
}
std::string refusal(const gpu::RecordRequest& request) {
    gpu::TraceFailed how = gpu::TraceFailed::device;
    const auto record = gpu::record_kernel(request, &how);
    CHECK_FALSE(record);
    CHECK(how == gpu::TraceFailed::input);
    return record.error;
}

gpu::TraceRequest trace_request(const char* kernel, DType type, int N, int d) {
    gpu::TraceRequest request;
    request.kernel = kernel, request.dtype = type, request.problem = *random_problem(N, d, 1);
    return request;
}
std::string trace_refusal(const gpu::TraceRequest& request, std::stop_token stop = {}) {
    const auto trace = gpu::trace_kernel(gpu::Where::cuda, request, stop);
    CHECK_FALSE(trace);
    return trace.error;
}

}  // namespace

TEST_SUITE("stubs/records") {
    TEST_CASE("a recorded run has the kernel's outputs and tiles") {
        const inside::Record forward = recorded(request_for("f3-warp-rows", DType::f32, 40, 32));
        REQUIRE(forward.outputs.size() == 1);
        CHECK(forward.outputs[0].name == "O");
        CHECK(forward.outputs[0].rows == 40);
        CHECK(forward.outputs[0].values.size() == 40 * 32);
        CHECK(forward.tiles == 2);
        CHECK(forward.races() == 0);

        const inside::Record backward = recorded(request_for("b1-recompute-fp32", DType::f32, 40, 32));
        REQUIRE(backward.outputs.size() == 3);
        for (std::size_t n = 0; n < 3; ++n) {
            CHECK(backward.outputs[n].name == (n == 0 ? "dQ" : n == 1 ? "dK" : "dV"));
            CHECK(backward.outputs[n].values.size() == 40 * 32);
        }

        // A kernel without tiles has none
        CHECK(recorded(request_for("f1-online-row", DType::f32, 20, 32)).tiles == 0);
    }

    TEST_CASE("with the twin's record comes the way from a lane to the lesson's number") {
        const auto run = gpu::record_bridged(request_for("f4-tensor-core", DType::f16, 70, 64));
        REQUIRE_MESSAGE(run, run.error);
        CHECK(run->record.kernel == "f4-tensor-core");
        const auto none = gpu::record_bridged(request_for("f9", DType::f16, 70, 64));
        CHECK(contains(none.error, "There is no kernel"));
        const auto no_twin = gpu::record_bridged(request_for("f1-online-row", DType::f32, 20, 32));
        CHECK(contains(no_twin.error, "has no tiles"));
    }

    TEST_CASE("what cannot be recorded is refused with a sentence") {
        CHECK(contains(refusal(request_for("f9", DType::f16, 20, 64)), "There is no kernel \"f9\""));
        CHECK(contains(refusal(request_for("f5-flash2", DType::bf16, gpu::most_recorded_N + 1, 64)),
                       "is too large to be recorded"));
        CHECK(contains(refusal(request_for("f5-flash2", DType::f32, 20, 64)), "does not take this problem"));
        gpu::RecordRequest twin = request_for("b1-recompute-fp32", DType::f32, 20, 32);
        twin.twin = true;
        CHECK(contains(refusal(twin), "has no tiles"));
        gpu::RecordRequest sink = request_for("f5-flash2", DType::bf16, 20, 64);
        sink.problem.logits.sink = 1;
        CHECK(refusal(sink) != "");
    }

    TEST_CASE("a run without a barrier is looked for in several orders, one without the guard in one") {
        gpu::RecordRequest request = request_for("f2-tiled-fp32", DType::f32, 100, 32);
        const inside::Record sound = recorded(request);
        for (const inside::FaultKind kind : {inside::FaultKind::barrier, inside::FaultKind::guard}) {
            for (const inside::Fault& fault : inside::faults_of(sound))
                if (fault.kind == kind) request.fault = fault;
            REQUIRE(request.fault);
            const auto broken = gpu::break_kernel(request, sound);
            REQUIRE_MESSAGE(broken, broken.error);
            CHECK(broken->damage.wrong > 0);
            CHECK(broken->tried >= 1);
            CHECK((broken->record.races() > 0) == (kind == inside::FaultKind::barrier));
        }

        // Nothing to show where no run comes to an end, or none is asked for any more
        std::stop_source stop;
        stop.request_stop();
        request.stop = stop.get_token();
        CHECK(contains(gpu::break_kernel(request, sound).error, "Cancelled"));
        request.stop = {}, request.kernel = "f9";
        CHECK(contains(gpu::break_kernel(request, sound).error, "There is no kernel"));
    }

    TEST_CASE("a backward kernel on the stand-in gives the gradients, with a negative scale as well") {
        behave("");
        gpu::TraceRequest request = trace_request("b1-recompute-fp32", DType::f32, 20, 32);
        for (const double scale : {0.5, -0.5}) {
            request.problem.scale = {Scale::Kind::number, scale};
            const auto here = gpu::trace_kernel(gpu::Where::cuda, request),
                       there = gpu::trace_kernel(gpu::Where::emulator, request);
            REQUIRE_MESSAGE(here, here.error);
            REQUIRE(there);
            REQUIRE(here->dQ.size() == 20 * 32);
            REQUIRE(there->dQ.size() == here->dQ.size());
            double largest = 0;
            for (const double x : there->dQ) largest = std::max(largest, std::abs(x));
            CHECK(largest > 0);
            for (std::size_t n = 0; n < here->dQ.size(); ++n)
                CHECK(std::abs(here->dQ[n] - there->dQ[n]) < 1e-3 * largest);
        }
    }

    TEST_CASE(
        "a fault of a kernel that lies where it cannot is refused, and so is what takes too much memory") {
        behave("");
        gpu::TraceRequest request = trace_request("f4-tensor-core", DType::f16, 70, 64);
        request.fault.quantity = KernelFault::Quantity::S;
        request.fault.i = 2;
        CHECK(contains(trace_refusal(request), "The fault lies in"));
        request.fault.i = 1, request.fault.row = 6;
        CHECK(contains(trace_refusal(request), "which its tile does not have"));
        request.kernel = "f1-online-row", request.dtype = DType::f32, request.fault.row = 0;
        CHECK(contains(trace_refusal(request), "records no tiles"));
        CHECK(contains(trace_refusal(trace_request("f4-tensor-core", DType::f16, 4096, 64)),
                       "MiB are allowed"));
        CHECK(contains(trace_refusal(trace_request("f4-tensor-core", DType::f32, 70, 64)),
                       "does not take this problem"));
        std::stop_source stop;
        stop.request_stop();
        CHECK(trace_refusal(trace_request("f4-tensor-core", DType::f16, 70, 64), stop.get_token()) ==
              "Cancelled.");
        request = trace_request("f4-tensor-core", DType::f16, 70, 64);
        request.problem.logits.sink = 1;
        CHECK(trace_refusal(request) != "");
    }
}

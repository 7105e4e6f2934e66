// A record of several heads: each block is that of its head, alone or in a group that shares K and V.
#include "core/problem/heads.h"
#include "cuda/host/gpu.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace tilewalk::inside {

namespace {

gpu::RecordRequest request_of(const gpu::TraceableKernel& kernel, const Problem& problem) {
    gpu::RecordRequest request;
    request.kernel = kernel.name, request.dtype = kernel.types.front(), request.problem = problem;
    request.blocks = {0};
    return request;
}
Record recorded(const gpu::RecordRequest& request) {
    auto record = gpu::record_kernel(request);
    REQUIRE_MESSAGE(record, record.error);
    return std::move(*record);
}
Problem with_heads(int N, int d, int heads, int key_heads) {
    Problem p = *random_problem(N, d, 1);
    give_heads(p, heads, key_heads);
    return p;
}
const Output& output(const Record& record, const std::string& name) {
    const auto found = std::ranges::find(record.outputs, name, &Output::name);
    REQUIRE(found != record.outputs.end());
    return *found;
}

}  // namespace

TEST_SUITE("inside heads") {
    TEST_CASE(
        "every rung runs the blocks of all heads, races nowhere, and computes each head as it is alone") {
        for (const gpu::TraceableKernel& kernel : gpu::traceable_kernels()) {
            CAPTURE(kernel.name);
            const Problem p = with_heads(40, 64, 4, 2);
            gpu::RecordRequest request = request_of(kernel, p);
            request.all_heads = true;
            const Record record = recorded(request);
            CHECK(record.heads == 4);
            CHECK(record.key_heads == 2);
            CHECK(record.races() == 0);
            const bool backward = kernel.direction == Direction::backward;
            for (int h = 0; h < 4; ++h) {
                CAPTURE(h);
                const Record alone = recorded(request_of(kernel, head_alone(p, h)));
                const Output &mine = output(record, (backward ? "dQ" : "O") + head_text(h)),
                             &its = alone.outputs.front();
                REQUIRE(mine.values.size() == its.values.size());
                double off = 0;
                for (std::size_t n = 0; n < its.values.size(); ++n)
                    off = std::max(off, std::fabs(double(mine.values[n]) - its.values[n]));
                // Splits of f6 follow from the heads of a group, and with them the rounding
                CHECK(off <= (kernel.name == "f6-split" ? .02 : 0));
            }
            if (backward) CHECK(output(record, "dK of head 1").rows == 40);
        }
    }

    TEST_CASE("an element is named with its head, and a problem of one head as ever") {
        gpu::RecordRequest request;
        request.problem = with_heads(64, 64, 2, 1), request.blocks = {0}, request.all_heads = true;
        const Record record = recorded(request);
        const auto of_head = [&](const char* name, int head) {
            const auto found = std::ranges::find_if(
                record.regions, [&](const Region& r) { return r.name == name && r.head == head; });
            REQUIRE(found != record.regions.end());
            return found->begin;
        };
        CHECK(address_text(record, of_head("Q", 1) + 2 * (64 + 3)) == "Q of head 1, row 1, column 3");
        CHECK(address_text(record, of_head("L", 1) + 4 * 5) == "L of head 1, row 5, column 0");
        CHECK(address_text(record, of_head("K", 0)) == "K of head 0, row 0, column 0");
        request.all_heads = false;
        const Record one = recorded(request);
        CHECK(one.heads == 1);
        CHECK(address_text(one, one.regions.front().begin) == "Q, row 0, column 0");
        CHECK(one.outputs.front().name == "O");
    }

    TEST_CASE("more heads than are recorded are refused") {
        gpu::RecordRequest request;
        request.problem = with_heads(8, 32, gpu::most_recorded_heads + 1, 1), request.all_heads = true;
        CHECK(gpu::record_kernel(request).error == "9 heads are too many to be recorded; up to 8 are.");
    }

    TEST_CASE("without the guard the keys beyond the edge have their names, too") {
        gpu::RecordRequest request;
        request.problem = *random_problem(100, 64, 1), request.blocks = {0};
        request.fault = Fault{FaultKind::guard};
        const Record record = recorded(request);
        const auto K = std::ranges::find(record.regions, "K", &Region::name);
        REQUIRE(K != record.regions.end());
        CHECK(K->bytes == 128 * 64 * 2);
        CHECK(address_text(record, K->begin + 127 * 64 * 2) == "K, row 127, column 0");
    }
}

}  // namespace tilewalk::inside

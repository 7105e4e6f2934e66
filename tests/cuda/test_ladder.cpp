// Two rungs side by side: the counts against closed forms of their loops, and sentences against the counts.
#include "core/inside/ladder.h"
#include "core/inside/origin.h"
#include "core/inside/uses.h"
#include "cuda/host/gpu.h"
#include "cuda/host/ladder_table.h"
#include "tests/contains.h"
#include "tests/good.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace tilewalk::inside {

using test::contains;

namespace {

Record recorded(const std::string& kernel, DType type, const Problem& p) {
    auto run = gpu::record_kernel({.kernel = kernel, .dtype = type, .problem = p, .blocks = {0}});
    REQUIRE_MESSAGE(run, run.error);
    return std::move(*run);
}

Totals counted_totals(const std::string& kernel, DType type, const Problem& p) {
    const Costs& costs = costs_of(ladder_capability);
    gpu::RecordRequest request{kernel, type, p};
    request.timed = &costs;
    return totals_of(test::good(gpu::record_kernel(request)), costs);
}

}  // namespace

TEST_SUITE("inside") {
    TEST_CASE("what a browser knows of the kernels is what they say of themselves") {
        const auto kernels = gpu::traceable_kernels();
        REQUIRE(kernels.size() == std::size(gpu::ladder_table));
        for (std::size_t k = 0; k < kernels.size(); ++k) {
            const gpu::LadderRow& row = gpu::ladder_table[k];
            CAPTURE(row.name);
            CHECK(kernels[k].name == row.name);
            CHECK(kernels[k].title == row.title);
            CHECK(kernels[k].direction == row.direction);
            CHECK(kernels[k].tiles == row.tiles);
            const auto takes = [&](DType type) {
                return std::ranges::find(kernels[k].types, type) != kernels[k].types.end();
            };
            CHECK(takes(DType::f32) == row.f32);
            CHECK(takes(DType::f16) == row.f16);
            CHECK(takes(DType::bf16) == row.bf16);
        }
    }

    TEST_CASE("what a rung loads, multiplies and waits for is what its loops say") {
        constexpr int N = 128, d = 64;
        const Problem p = *random_problem(N, d, 1);
        for (const auto& [the_kernel, type, rows, keys] : {std::tuple("f2-tiled-fp32", DType::f32, 64, 64),
                                                           {"f3-warp-rows", DType::f32, 128, 32},
                                                           {"f4-tensor-core", DType::bf16, 64, 64},
                                                           {"f5-flash2", DType::bf16, 128, 64},
                                                           {"f7-hopper", DType::bf16, 128, 64}}) {
            const auto& kernel = the_kernel;
            CAPTURE(kernel);
            const Totals t = counted_totals(kernel, type, p);
            const int bytes = type == DType::f32 ? 4 : 2, blocks = N / rows;
            REQUIRE(t.Br == rows);
            REQUIRE(t.Bc == keys);
            CHECK(t.tiles == blocks * (N / keys));
            CHECK(t.loaded ==
                  std::int64_t(bytes) * d * (N + 2 * blocks * N));   // Q once, K and V for each block
            CHECK(t.stored == std::int64_t(bytes) * d * N + 4 * N);  // O and L
            const std::int64_t weights = N * N, corrections_at_least = N * (N / keys);
            CHECK(t.exps >= weights + corrections_at_least);
            CHECK(t.products == (type == DType::f32 ? 0 : 2 * N * N * d / 2048));
            CHECK(t.turns >= t.least);
            REQUIRE(t.clocks_of_row);
            CHECK(*t.clocks_of_row > 0);
        }
    }

    // Under a causal mask the first block has least to do: it stands for no other.
    TEST_CASE("the model's time is that of all blocks, one by one") {
        Problem p = *random_problem(256, 64, 1);
        p.causal = true;
        const Costs& costs = costs_of(ladder_capability);
        for (const char* kernel : {"f4-tensor-core", "f4b-copies-ahead", "f5-flash2"}) {
            CAPTURE(kernel);
            gpu::RecordRequest request{kernel, DType::bf16, p};
            request.timed = &costs;
            const auto timed = gpu::record_kernel(request);
            REQUIRE_MESSAGE(timed, timed.error);
            CHECK(timed->launches[0].blocks.empty());
            const int blocks = timed->launches[0].x;
            REQUIRE(blocks > 1);
            double sum = 0;
            std::set<std::int64_t> different;
            for (int b = 0; b < blocks; ++b) {
                const auto one = gpu::record_kernel({.kernel = kernel, .problem = p, .blocks = {b}});
                REQUIRE_MESSAGE(one, one.error);
                const Launch& launch = one->launches[0];
                different.insert(model_time(launch.blocks[0], launch.warps(), costs).end);
                sum += double(model_time(launch.blocks[0], launch.warps(), costs).end);
            }
            CHECK(different.size() > 1);
            const Totals t = totals_of(*timed, costs);
            CHECK(t.clocks_of_row == sum / p.N());
            CHECK(t.timed_blocks == blocks);
            // Of one block alone, that is said
            const Totals part = totals_of(recorded(kernel, DType::bf16, p), costs);
            CHECK(part.timed_blocks == 1);
            const LadderWords words = ladder_words(t, part);
            CHECK(std::ranges::any_of(words.beside, [&](const std::string& w) {
                return contains(w, "is of 1 of its " + std::to_string(blocks) + " blocks");
            }));
        }
        const auto of_row = [&](const char* kernel) {
            gpu::RecordRequest request{kernel, DType::bf16, p};
            request.timed = &costs;
            return *totals_of(*gpu::record_kernel(request), costs).clocks_of_row;
        };
        CHECK(of_row("f5-flash2") < of_row("f4-tensor-core"));
    }

    TEST_CASE("a saving is said with its numbers, and where there is none that is said") {
        const Problem p = *random_problem(128, 64, 1);
        const Totals f4 = counted_totals("f4-tensor-core", DType::bf16, p),
                     f5 = counted_totals("f5-flash2", DType::bf16, p);
        const LadderWords words = ladder_words(f4, f5);
        CHECK(contains(words.saved, "40 % of the bytes loaded from HBM (48 KiB against 80 KiB)"));
        CHECK(contains(words.same, "products of fragments (1024)"));
        CHECK(words.beside.empty());
        const LadderWords itself = ladder_words(f5, f5);
        CHECK(contains(itself.saved, "f5-flash2 saves nothing over f5-flash2"));
        CHECK(itself.costs.empty());
        // The other way round what was saved is a cost, with the same two numbers
        const LadderWords back = ladder_words(f5, f4);
        CHECK(contains(back.costs, "(80 KiB against 48 KiB)"));
        // What TMA and wgmma ask of the banks is not counted, and so nothing is saved there
        const LadderWords tiles = ladder_words(f5, counted_totals("f7-hopper", DType::bf16, p));
        CHECK_FALSE(contains(tiles.saved, "of the banks"));
        REQUIRE(tiles.beside.size() == 1);
        CHECK(contains(tiles.beside[0], "TMA and wgmma of f7-hopper go to shared memory by themselves"));
        // Other types and plain arithmetic are said beside it
        const LadderWords types = ladder_words(counted_totals("f3-warp-rows", DType::f32, p), f4);
        REQUIRE(types.beside.size() == 2);
        CHECK(contains(types.beside[0], "2 bytes in f4-tensor-core and 4 in f3-warp-rows"));
        CHECK(contains(types.beside[1], "plain arithmetic"));
        for (const Compared& c : compare(f5, f4))
            CHECK_FALSE(c.less() == (c.more() || *c.before == *c.after));
    }

    TEST_CASE("from the copy of an element forth to the load, the product, and on") {
        const Problem p = *random_problem(128, 64, 1);
        for (const char* kernel : {"f4-tensor-core", "f5-flash2"}) {
            const Record record = recorded(kernel, DType::bf16, p);
            const Launch& launch = record.launches.front();
            const BlockRecord& block = launch.blocks.front();
            const Steps steps(record, launch, block);
            const Origins origins(record, block, steps);
            int found = 0, summed = 0;
            for (int k = 0; k < steps.count(1); ++k) {
                const Event& event = block.events[steps.event(1, k)];
                if (event.op != Op::multiply_add) continue;
                // The way back of A's cell, walked forth again, comes to this product
                const auto way = origins.trace(1, k, Part::B, 3, 5);
                if (way.size() < 2 || event.lanes != 0xFFFFFFFF) continue;
                const int load = origins.step_number(way[0].event);
                const Uses products = uses_of(block, steps, origins, 1, load, way[0].lane, 1000);
                CHECK(std::ranges::any_of(products.steps,
                                          [&](const OriginStep& s) { return s.event == steps.event(1, k); }));
                const std::uint32_t sent = way.back().event;
                const Uses loads = uses_of(block, steps, origins, block.events[sent].warp,
                                           origins.step_number(sent), way.back().lane, 1000);
                CHECK(std::ranges::any_of(loads.steps,
                                          [&](const OriginStep& s) { return s.event == way[0].event; }));
                CHECK(loads.all >= int(loads.steps.size()));
                const Uses on = uses_of(block, steps, origins, 1, k, 0);
                if (!on.steps.empty()) {
                    CHECK(origins.summed_by(1, origins.step_number(on.steps[0].event)) == k);
                    ++summed;
                }
                ++found;
            }
            CHECK(found > 50);
            CHECK(summed > 20);
        }
    }
}

}  // namespace tilewalk::inside

// From which lines of a kernel a helper was called: the ways through the text, held against what is known
// without them.
#include "core/inside/calls.h"
#include "cuda/host/gpu.h"
#include "tests/contains.h"
#include "tests/good.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

namespace tilewalk::inside {

using test::contains;

namespace {

std::vector<SourceText> kernel_texts() {
    std::vector<SourceText> out;
    for (const EmbeddedFile& file : gpu::kernel_sources())
        out.push_back(source_text(std::string("cuda/kernels/") + file.name, file.text));
    return out;
}

Record recorded(const std::string& kernel, DType type) {
    return test::good(gpu::record_kernel(
        {.kernel = kernel, .dtype = type, .problem = *random_problem(128, 64, 1), .blocks = {0}}));
}

/// Calls f(event, place, way) for each step of all warps of a launch.
template <class F> void each_step(const Record& record, const Launch& launch, F&& f) {
    static const std::vector<SourceText> sources = kernel_texts();
    const BlockRecord& block = launch.blocks.front();
    const Steps steps(record, launch, block);
    const Origins origins(record, block, steps);
    const Calls calls(record, block, steps, origins, sources);
    for (int warp = 0; warp < steps.warps(); ++warp)
        for (int k = 0; k < steps.count(warp); ++k) {
            const Event& event = block.events[steps.event(warp, k)];
            f(event, record.places[event.place], calls.of(warp, k));
        }
}

std::string_view line_of(const std::string& file, int line) {
    static const std::vector<SourceText> sources = kernel_texts();
    return std::ranges::find(sources, file, &SourceText::file)->line(line);
}

/// The name of the matrix in device memory whose elements the step reads, by their addresses alone.
std::string matrix_read(const Record& record, const BlockRecord& block, const Event& event) {
    const bool copies = event.op == Op::copy_issued;
    if (!copies && event.op != Op::load) return "";
    const std::uint32_t address = block.words_of(event)[copies ? 1 : 0];
    for (const Region& region : record.regions)
        if (region.row_bytes > 0 && region.holds(address)) return region.name;
    return "";
}

}  // namespace

TEST_SUITE("inside") {
    TEST_CASE("calls: each step of each kernel leads over one line each up to the kernel") {
        for (const gpu::TraceableKernel& kernel : gpu::traceable_kernels()) {
            const Record record = recorded(kernel.name, kernel.types.back());
            CAPTURE(kernel.name);
            for (const Launch& launch : record.launches) {
                if (launch.blocks.empty()) continue;
                each_step(record, launch, [&](const Event&, const Place& place, const auto& way) {
                    CAPTURE(place.file);
                    CAPTURE(place.line);
                    for (const Call& call : way) REQUIRE(call.lines.size() == 1);
                    // A helper of a header was called by somebody
                    if (contains(place.file, "fragments.h") || contains(place.file, "panels.h"))
                        CHECK(!way.empty());
                    if (!way.empty()) CHECK(!contains(way.back().file, "fragments.h"));
                });
            }
        }
    }

    TEST_CASE(
        "calls: where a helper was called is said with file and line, and with each line that it may be") {
        CHECK(calls_text({}).empty());
        const Call one{"cuda/kernels/bands.h", "load_rows", {33}},
            two{"cuda/kernels/bands.h", "load_rows", {33, 40}},
            kernel{"cuda/kernels/f5_flash2.cu", "flash2", {81}};
        CHECK(calls_text({one}) == "called at bands.h:33");
        CHECK(calls_text({two, kernel}) == "called at bands.h:33 or 40, f5_flash2.cu:81");
    }

    TEST_CASE("calls: who copies or loads rows names the matrix that the addresses belong to") {
        const std::map<std::string, std::string> copying{{"b2-tensor-core", "Q dO K V"},
                                                         {"f2-tiled-fp32", "Q K V"},
                                                         {"f4-tensor-core", "Q K V"},
                                                         {"f5-flash2", "Q K V"},
                                                         {"b1-recompute-fp32", "Q dO K V"}};
        for (const auto& [the_kernel, matrices] : copying) {
            const auto& kernel = the_kernel;
            const bool wide = contains(kernel, "fp32");
            const Record record = recorded(kernel, wide ? DType::f32 : DType::bf16);
            const Launch& launch = *std::ranges::max_element(record.launches, {}, &Launch::steps);
            CAPTURE(kernel);
            std::map<std::string, int> seen;
            each_step(record, launch, [&](const Event& event, const Place& place, const auto& way) {
                const std::string matrix = matrix_read(record, launch.blocks.front(), event);
                if (matrix.empty() || way.empty()) return;
                CAPTURE(place.line);
                CAPTURE(matrix);
                const std::string line(line_of(way.back().file, way.back().lines.front()));
                CHECK(contains(line, "_rows"));
                CHECK(contains(line, "a." + matrix + ".row"));
                ++seen[matrix];
            });
            std::string all = " " + matrices + " ";
            for (const auto& [matrix, times] : seen) CHECK(contains(all, " " + matrix + " "));
            CHECK(static_cast<std::ptrdiff_t>(seen.size()) == std::ranges::count(all, ' ') - 1);
        }
    }

    TEST_CASE("calls: the five products of a backward tile are as large as each other") {
        const Record record = recorded("b2-tensor-core", DType::bf16);
        const Launch& launch = *std::ranges::max_element(record.launches, {}, &Launch::steps);
        std::map<std::string, int> products;
        each_step(record, launch, [&](const Event& event, const Place&, const auto& way) {
            if (event.op != Op::multiply_add) return;
            REQUIRE(way.size() >= 2);
            ++products[std::string(line_of(way[1].file, way[1].lines.front()))];
        });
        REQUIRE(products.size() == 5);
        for (const auto& [the_line, times] : products) {
            const auto& line = the_line;
            CAPTURE(line);
            CHECK(times == products.begin()->second);
        }
        for (const char* call :
             {"add_scores(P, K, Q)", "add_scores(dS, V, dO)", "add_gradients(dV, Pt, tile.dO)",
              "add_gradients(dK, dSt, tile.Q)", "add_dQ("})
            CHECK(std::ranges::any_of(products, [&](const auto& p) { return contains(p.first, call); }));
    }
}

}  // namespace tilewalk::inside

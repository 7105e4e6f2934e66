// The kernels' registers, spills and shared memory against cuda/resources.json. TILEWALK_RESOURCES=renew
// writes that file and docs/gpu-resources.md anew, in a build with nvcc.
#include "tests/cuda/resources.h"
#include "tests/folder.h"
#include "tests/good.h"
#include "tests/skip.h"

#include "tests/contains.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

using namespace tilewalk::test;

namespace {

namespace fs = std::filesystem;
const std::string root = TILEWALK_SOURCE_DIR;

#if defined(TILEWALK_PTXAS_DIR)
/// "f5-flash2" for f5_flash2.cu.o.ptxas.
std::string rung_of(const fs::path& log) {
    std::string name = log.filename().string();
    name = name.substr(0, name.find('.'));
    for (char& c : name)
        if (c == '_') c = '-';
    return name;
}
#endif

/// What this build was compiled to; without nvcc it has no kernels.
Resources of_this_build() {
    Resources resources;
#if defined(TILEWALK_PTXAS_DIR)
    resources.nvcc = TILEWALK_NVCC_VERSION;
    for (const char* const folder : {TILEWALK_PTXAS_DIR, TILEWALK_PTXAS_HOPPER})
        for (const fs::directory_entry& file : fs::directory_iterator(folder))
            if (file.path().extension() == ".ptxas" && rung_of(file.path()) != "intrinsics")
                add_ptxas(resources, rung_of(file.path()), contents(file.path()));
#endif
    add_launches(resources);
    return resources;
}

bool renewed(const Resources& now) {
    const char* const wish = std::getenv("TILEWALK_RESOURCES");
    if (!wish || std::string(wish) != "renew") return false;
    REQUIRE_MESSAGE(!now.kernels.empty(), "Only a build with nvcc can renew cuda/resources.json.");
    std::ofstream(root + "/cuda/resources.json") << to_json(now);
    std::ofstream(root + "/docs/gpu-resources.md") << to_markdown(now);
    return true;
}

Resources kept() { return good(resources_from_json(contents(root + "/cuda/resources.json"))); }

const char* const ptxas_says =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function "
    "'_ZN8tilewalk3gpu7on_cuda45_GLOBAL__N__068d0b30_12_f5_flash2_cu_26a6573"
    "16flash2I6__halfLi128ELb0EEEvNS0_9ArgumentsE' for 'sm_80'\n"
    "ptxas info    : Function properties for _ZN8tilewalk\n"
    "    104 bytes stack frame, 100 bytes spill stores, 76 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 1 barriers, 16 bytes smem, 784 bytes cmem[0]\n";

}  // namespace

TEST_SUITE("cuda/resources") {
    TEST_CASE("what ptxas says is read") {
        Resources resources;
        add_ptxas(resources, "f5-flash2", ptxas_says);
        REQUIRE(resources.kernels.size() == 1);
        CHECK(resources.kernels.begin()->first == "f5-flash2 flash2<f16, 128, false>");
        CHECK(resources.kernels.begin()->second.at(80) == KernelFigures{255, 176, 104, 16});
    }

    TEST_CASE("the figures survive the file") {
        Resources resources;
        resources.nvcc = "13.0.88";
        add_ptxas(resources, "f5-flash2", ptxas_says);
        resources.launches["f5-flash2 f16 128"][80] = 49152;
        const Resources again = good(resources_from_json(to_json(resources)));
        CHECK(again.nvcc == resources.nvcc);
        CHECK(again.kernels == resources.kernels);
        CHECK(again.launches == resources.launches);
        CHECK_FALSE(resources_from_json("{}"));
    }

    TEST_CASE("kernels take what cuda/resources.json says") {
        const Resources now = of_this_build();
        if (renewed(now)) return skip("cuda/resources.json is new");
        CHECK_MESSAGE(now.launches == kept().launches, "TILEWALK_RESOURCES=renew writes what is true now.");
    }

    TEST_CASE("kernels take the registers that cuda/resources.json says") {
        const Resources now = of_this_build(), known = kept();
        if (now.kernels.empty()) return skip("built without nvcc");
        if (now.nvcc != known.nvcc) return skip("nvcc " + now.nvcc + " is not the known " + known.nvcc);
        for (const auto& [the_kernel, figures] : now.kernels)
            for (const auto& [the_sm, the_f] : figures) {
                const auto& kernel = the_kernel;
                const auto& sm = the_sm;
                const auto& f = the_f;
                CAPTURE(kernel);
                CAPTURE(sm);
                const auto before = known.kernels.find(kernel);
                REQUIRE(before != known.kernels.end());
                const KernelFigures& b = before->second.at(sm);
                CHECK_MESSAGE(f == b, f.registers, " registers, ", f.spills, " bytes spilled, ", f.stack,
                              " of stack; known are ", b.registers, ", ", b.spills, ", ", b.stack);
            }
    }

    TEST_CASE("the kernels of the tensor cores spill nothing") {
        int kernels = 0;
        for (const auto& [the_kernel, figures] : kept().kernels) {
            const auto& kernel = the_kernel;
            const std::string rung = kernel.substr(0, 2);
            const bool backward = rung < "c";
            if (rung < (backward ? "b2" : "f4") || records(kernel)) continue;
            for (const auto& [the_sm, f] : figures) {
                const auto& sm = the_sm;
                CAPTURE(kernel);
                CAPTURE(sm);
                CHECK(f.spills == 0);
                CHECK(f.stack == 0);
                ++kernels;
            }
        }
        CHECK(kernels > 30);
    }

    TEST_CASE("the document shows the file") {
        CHECK(contents(root + "/docs/gpu-resources.md") == to_markdown(kept()));
    }
}

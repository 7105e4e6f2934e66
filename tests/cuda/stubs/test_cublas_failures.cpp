// What happens to the rungs of standard attention where cuBLAS fails; test_program.cpp has the cases in which
// it is not there.
#include "tests/contains.h"
#include "tests/cuda/stubs/cublas.h"
#include "tests/cuda/stubs/gpu.h"
#include "tests/cuda/stubs/workflow.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

using namespace tilewalk;
using test::contains;

namespace {

tilewalk_stub_cublas_state& stub() {
    static void* const library = dlopen(TILEWALK_CUBLAS_STAND_IN, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    return *static_cast<tilewalk_stub_cublas_state*>(dlsym(library, "tilewalk_stub_cublas"));
}

}  // namespace

TEST_SUITE("stubs/cublas") {
    TEST_CASE("whichever of its functions fails: a sentence, other kernels run, and it runs again") {
        using State = tilewalk_stub_cublas_state;
        const int handles = stub().handles;  // of other programs' streams, which keep theirs
        for (const auto& [fails, phrase] :
             {std::pair{&State::create_fails, "starting cuBLAS (status 14)"},
              {&State::set_stream_fails, "preparing cuBLAS"},
              {&State::set_math_mode_fails, "preparing cuBLAS"},
              {&State::multiply_fails, "multiplying with cuBLAS (status 14)"}}) {
            stubs::behave("");
            const auto engine = gpu::make_engine(gpu::Where::cuda);
            stub().*fails = 1;
            std::string sentence;
            try {
                test::verify_with(*engine, "f0-cublas", DType::bf16);
            } catch (const KernelFailed& failure) {
                sentence = failure.what();
            }
            CHECK(contains(sentence, phrase));
            CHECK(contains(sentence, "Running f0-cublas"));
            CHECK(test::verify_with(*engine, "f5-flash2", DType::bf16) == "");
            CHECK(test::verify_with(*engine, "f0-cublas", DType::bf16) == "");
        }
        CHECK(stub().handles == handles);
        CHECK(stubs::live().pieces == 0);
    }

    TEST_CASE("the rate of a large product, or 0 where there is no memory or no cuBLAS for it") {
        stubs::behave("");
        const auto engine = gpu::make_engine(gpu::Where::cuda);
        CHECK(engine->measure_peak(DType::bf16, {}) > 0);
        CHECK(engine->measure_peak(DType::f16, {}) > 0);
        CHECK(engine->measure_peak(DType::f32, {}) > 0);
        stub().multiply_fails = 1;
        CHECK(engine->measure_peak(DType::bf16, {}) == 0);
        CHECK_FALSE(engine->why_not());
        stubs::behave("memory=256");
        CHECK(engine->measure_peak(DType::bf16, {}) == 0);
        stubs::behave("");
    }
}

// How cuBLAS is found, and what is said to it: a library of the same functions stands in for it.
#include "cuda/device/cublas_numbers.h"
#include "cuda/device/cublas_places.h"
#include "tests/folder.h"

#include <doctest/doctest.h>

#include <map>
#include <vector>

#if defined(TILEWALK_STUB_CUBLAS)
#include "cuda/device/device.h"
#include "cuda/device/stream_cuda.h"
#include "tests/cuda/stubs/cublas.h"

#include <cstdlib>
#include <dlfcn.h>
#endif

#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#endif

using namespace tilewalk;

#if __has_include(<cublas_v2.h>)
static_assert(gpu::cublas_success == CUBLAS_STATUS_SUCCESS);
static_assert(gpu::cublas_as_it_is == CUBLAS_OP_N && gpu::cublas_transposed == CUBLAS_OP_T);
static_assert(gpu::cublas_in_float == CUBLAS_COMPUTE_32F);
static_assert(gpu::cublas_any_algorithm == CUBLAS_GEMM_DEFAULT);
static_assert(gpu::cublas_sums_not_reduced == CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
#endif

#if defined(TILEWALK_STUB_CUBLAS)
namespace tilewalk::gpu::on_cuda {
// Of cuda/device/device_cuda.h, which only nvcc reads
void multiply_matrices(Stream& stream, const Product& product);
void release_cublas(CudaStream& stream);
}  // namespace tilewalk::gpu::on_cuda

namespace {

tilewalk_stub_cublas_state& stub() {
    static void* const library = (setenv("TILEWALK_CUBLAS", TILEWALK_STUB_CUBLAS, 1),
                                  dlopen(TILEWALK_STUB_CUBLAS, RTLD_NOW | RTLD_LOCAL));
    REQUIRE(library);
    return *static_cast<tilewalk_stub_cublas_state*>(dlsym(library, "tilewalk_stub_cublas"));
}

/// 2 × 3 products of floats, of matrices that lie in `values` one behind the other.
gpu::Product product_of(std::vector<float>& values) {
    for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<float>(n * n % 7) - 2;
    gpu::Product p;
    p.m = 2, p.n = 3, p.k = 4, p.count = 2, p.alpha = 0.5f, p.beta = 2;
    p.A = {values.data(), 5, 12, false};
    p.B = {values.data() + 30, 6, 30, false};
    p.C = values.data() + 100;
    p.C_row = 4, p.C_next = 9;
    return p;
}

}  // namespace
#endif

TEST_SUITE("cuda/cublas") {
    TEST_CASE("it is looked for where the loader, NVIDIA's installer and Python have it") {
        const test::Folder folder;
        const auto put = [&](const char* name) { return folder.file(name, ""); };
        const std::string toolkit = put("cuda/lib64/libcublas.so.12"),
                          newer = put("venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcublas.so.13"),
                          older = put(
                              "home/.local/lib/python3.11/site-packages/nvidia/cublas/lib/libcublas.so.12");
        put("venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcublasLt.so.13");
        std::map<std::string, std::string> set{{"CUDA_HOME", (folder.path / "cuda").string()},
                                               {"VIRTUAL_ENV", (folder.path / "venv").string()},
                                               {"HOME", (folder.path / "home").string()}};
        const gpu::Environment environment = [&](const char* name) {
            const auto found = set.find(name);
            return found == set.end() ? nullptr : found->second.c_str();
        };
        std::vector<std::string> places = gpu::cublas_places(environment);
        REQUIRE(places.size() >= 6);
        CHECK(places[0] == "libcublas.so.13");
        CHECK(places[2] == "libcublas.so.11");
        const std::string start = folder.path.string();
        std::erase_if(places, [&](const std::string& place) { return place.rfind(start, 0) != 0; });
        CHECK(places == std::vector{newer, toolkit, older});

        set["TILEWALK_CUBLAS"] = "/own/libcublas.so";
        CHECK(gpu::cublas_places(environment) == std::vector<std::string>{"/own/libcublas.so"});
    }

#if defined(TILEWALK_STUB_CUBLAS)
    TEST_CASE("a product by columns is the product by rows") {
        stub();
        for (const bool transposed_A : {false, true})
            for (const bool transposed_B : {false, true}) {
                std::vector<float> on_cuda(200), on_emulator(200);
                gpu::CudaStream cuda;
                gpu::EmulatedStream emulated;
                gpu::Product p = product_of(on_cuda);
                p.A.transposed = transposed_A, p.B.transposed = transposed_B;
                gpu::on_cuda::multiply_matrices(cuda, p);
                CHECK(cuda.error == cudaSuccess);
                p = product_of(on_emulator);
                p.A.transposed = transposed_A, p.B.transposed = transposed_B;
                gpu::on_emulator::multiply_matrices(emulated, p);
                CHECK(on_cuda == on_emulator);
                gpu::on_cuda::release_cublas(cuda);
                CHECK(stub().handles == 0);
            }
    }

    TEST_CASE("after a failure it is prepared anew: its stream, its workspace, its sums in float") {
        int stream_of_mine = 0, memory = 0;
        std::vector<float> values(200);
        const gpu::Product p = product_of(values);
        for (int tilewalk_stub_cublas_state::*fails : {&tilewalk_stub_cublas_state::set_stream_fails,
                                                       &tilewalk_stub_cublas_state::set_math_mode_fails}) {
            gpu::CudaStream stream;
            stream.handle = reinterpret_cast<cudaStream_t>(&stream_of_mine);
            stream.product_memory = &memory, stream.product_bytes = sizeof memory;
            stub().products = 0;
            stub().*fails = 1;
            gpu::on_cuda::multiply_matrices(stream, p);
            CHECK(stream.error != cudaSuccess);
            CHECK(stream.where == "preparing cuBLAS");
            CHECK(stub().handles == 0);
            gpu::on_cuda::multiply_matrices(stream, p);  // nothing after a failure …
            CHECK(stub().products == 0);

            stream.error = cudaSuccess;  // … until it is forgotten
            gpu::on_cuda::multiply_matrices(stream, p);
            CHECK(stream.error == cudaSuccess);
            CHECK(stub().products == 1);
            CHECK(stub().stream == &stream_of_mine);
            CHECK(stub().workspace == &memory);
            gpu::on_cuda::release_cublas(stream);
        }
    }
#endif
}

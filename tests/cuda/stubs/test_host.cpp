// The host's code for GPUs on the stand-in, which computes, and fails where it is told to.
#include "core/base/background.h"
#include "core/bench/bench.h"
#include "cuda/host/open_cuda.h"
#include "tests/child.h"
#include "tests/contains.h"
#include "tests/cuda/kernel_cases.h"
#include "tests/cuda/stubs/gpu.h"
#include "tests/cuda/stubs/too_large.h"
#include "tests/cuda/stubs/workflow.h"

#include <doctest/doctest.h>

#include <map>

using namespace tilewalk;
using stubs::behave;
using test::contains;
using test::sentence_of;

namespace {

const gpu::Chip stand_in{80, 163 << 10, 4};

std::unique_ptr<gpu::Device> open() {
    std::string why_not;
    auto device = gpu::open_cuda(why_not);
    REQUIRE_MESSAGE(device, why_not);
    return device;
}

void check_nothing_is_held() {
    const stubs::Live live = stubs::live();
    CHECK(live.streams == 0);
    CHECK(live.events == 0);
    CHECK(live.pieces == 0);
    CHECK(live.bytes == 0);
}

void check_all_is_well() {
    behave("");
    CHECK(sentence_of("f5-flash2", DType::bf16) == "");
    check_nothing_is_held();
}

}  // namespace

TEST_SUITE("stubs/host") {
    TEST_CASE("every rung computes on it what it should, and nothing is held afterwards") {
        behave("");
        for (const auto& [kernel, type] : kernels_and_types(stand_in)) {
            CAPTURE(kernel);
            CHECK(sentence_of(kernel, type) == "");
        }
        check_nothing_is_held();
    }

    TEST_CASE("a rung that computes wrongly is found, and it alone") {
        behave("wrong=flash2");
        CHECK(contains(sentence_of("f5-flash2", DType::bf16), "is off by"));
        CHECK(sentence_of("f4-tensor-core", DType::bf16) == "");
        check_all_is_well();
    }

    TEST_CASE("whichever call fails: a sentence, nothing held, and all is well afterwards") {
        for (const char* const function :
             {"cudaGetDeviceCount", "cudaSetDevice", "cudaGetDeviceProperties", "cudaStreamCreateWithFlags",
              "cudaEventCreate", "cudaMalloc", "cudaMemset", "cudaMemsetAsync", "cudaMemcpyAsync",
              "cudaMemGetInfo", "cudaStreamSynchronize", "cudaEventRecord", "cudaEventSynchronize",
              "cudaEventElapsedTime", "cudaFuncSetAttribute", "cudaLaunchKernel"}) {
            behave("");
            CHECK(sentence_of("f5-flash2", DType::bf16) == "");
            const int all = stubs::calls(function);
            CAPTURE(std::string(function));
            CHECK(all > 0);
            for (int call = 1; call <= all; ++call) {
                CAPTURE(call);
                behave(function + ("@" + std::to_string(call)) + "=cudaErrorUnknown");
                const std::string sentence = sentence_of("f5-flash2", DType::bf16);
                CHECK(contains(sentence, "unknown error (cudaErrorUnknown)"));
                check_nothing_is_held();
                behave("");
            }
        }
        check_all_is_well();
    }

    TEST_CASE("no memory, whichever piece it is of, is no failure that stays") {
        behave("");
        const auto engine = gpu::make_engine(gpu::Where::cuda);
        stubs::behave("");
        CHECK(test::verify_with(*engine, "f5-flash2", DType::bf16) == "");
        const int all = stubs::calls("cudaMalloc");
        CHECK(all > 4);
        for (int call = 1; call <= all; ++call) {
            behave("cudaMalloc@" + std::to_string(call) + "=cudaErrorMemoryAllocation");
            CHECK_THROWS_AS(test::verify_with(*engine, "f5-flash2", DType::bf16), NoMemory);
            // The same engine, at once: no later launch takes the old error for its own.
            CHECK(test::verify_with(*engine, "f5-flash2", DType::bf16) == "");
        }
        behave("");
    }

    TEST_CASE("a GPU too small for what it needs to begin with, or for a workload") {
        behave("memory=80");
        CHECK(contains(sentence_of("f5-flash2", DType::bf16),
                       "Taking memory for cuBLAS to work in failed: the memory of the GPU is full"));
        check_nothing_is_held();
        behave("memory=97");  // 64 MiB to flush the L2, 32 for cuBLAS
        const auto engine = gpu::make_engine(gpu::Where::cuda);
        Workload w = test::small("f5-flash2", DType::bf16);
        w.N_q = w.N_kv = 8192;
        CHECK_THROWS_WITH_AS(engine->prepare(test::kernel_called(*engine, "f5-flash2"), w, {}, {}),
                             "f5-flash2 at N = 8192 needs 24.1 MiB; 1 MiB are free.", NoMemory);
        CHECK(test::verify_with(*engine, "f5-flash2", DType::bf16) == "");
        behave("");
    }

    TEST_CASE("no GPU, no driver, one that is too old, too little of a GPU: a phrase") {
        for (const auto& [words, phrase] :
             {std::pair{"none", "no NVIDIA GPU"},
              {"no-driver", "no NVIDIA driver"},
              {"old-driver", "the NVIDIA driver knows CUDA 12.4, this program needs 13.0"},
              {"capability=70", "the GPU has compute capability 7.0, and the kernels need 7.5"},
              {"cudaSetDevice@1=cudaErrorDevicesUnavailable",
               "Choosing the device failed on the GPU: all devices are busy "
               "(cudaErrorDevicesUnavailable)"}}) {
            behave(words);
            const auto engine = gpu::make_engine(gpu::Where::cuda);
            CHECK(engine->why_not() == phrase);
            CHECK(engine->memory_free() == 0);
            CHECK(engine->measure_peak(DType::bf16, {}) == 0);
            CHECK_FALSE(engine->kernels().empty());
        }
        check_all_is_well();
    }

    TEST_CASE("what is known of a GPU, without making a context on it") {
        behave("watched capability=89");
        const gpu::Probe found = gpu::probe();
        REQUIRE(found.devices.size() == 1);
        CHECK(found.devices[0].name == "stand-in for a GPU");
        CHECK(found.devices[0].major == 8);
        CHECK(found.devices[0].minor == 9);
        CHECK(found.devices[0].watched);
        CHECK(found.devices[0].memory_free == std::int64_t(1) << 30);
        CHECK(found.driver_version == "13.0");
        for (const char* const makes_one : {"cudaMalloc", "cudaSetDevice", "cudaMemGetInfo"})
            CHECK(stubs::calls(makes_one) == 0);
        behave("cudaGetDeviceProperties@1=cudaErrorUnknown");
        CHECK(gpu::probe().why_none == "unknown error (cudaErrorUnknown)");
        behave("");
    }

    TEST_CASE("launches: what fails is named, and the next one runs") {
        behave("");
        const auto engine = gpu::make_engine(gpu::Where::cuda);
        const auto fails = [&](const char* words) -> std::string {
            behave(words);
            try {
                return test::verify_with(*engine, "f5-flash2", DType::bf16);
            } catch (const KernelFailed& failure) {
                return failure.what();
            }
        };
        // The first launch is the kernel's own where the L2 is flushed by the second
        CHECK(contains(fails("cudaLaunchKernel@1+=cudaErrorNoKernelImageForDevice"),
                       "this program has no code for this GPU (TILEWALK_CUDA_ARCHITECTURES)."));
        CHECK(fails("cudaLaunchKernel@2=cudaErrorInvalidValue") ==
              "Running f5-flash2 failed on the GPU: invalid argument (cudaErrorInvalidValue).");
        CHECK(contains(fails("cudaEventSynchronize@1=cudaErrorLaunchTimeout"),
                       "longer than the driver lets a GPU work that also drives a display"));
        CHECK_FALSE(engine->why_not());
        CHECK(fails("") == "");
    }

    TEST_CASE("what a chip does not have is refused before it is launched, whoever asks") {
        behave("");
        const auto device = open();
        device->chip.capability = 75;
        for (const auto& [name, type, runs] : {std::tuple{"f4-tensor-core", DType::bf16, false},
                                               {"f4-tensor-core", DType::f16, true},
                                               {"f5-flash2", DType::f16, false},
                                               {"f6-split", DType::f16, false},
                                               {"b2-tensor-core", DType::bf16, false},
                                               {"b3-deterministic", DType::bf16, false}}) {
            CAPTURE(std::string(name));
            const gpu::Rung& rung = rung_called(*device, name);
            const int before = stubs::calls("cudaLaunchKernel");
            gpu::Arguments a;
            a.N_q = a.N_kv = 0, a.d = 64;
            CHECK(rung.refuse(a, type, device->chip).empty() == runs);
            if (runs) continue;
            device->prepare(rung, a, type);
            device->run(rung, a, type);
            CHECK(contains(device->failure(), std::string(name) + " does not run on this GPU: "));
            CHECK(contains(device->failure(), "compute capability"));
            CHECK(stubs::calls("cudaLaunchKernel") == before);
            CHECK(device->recover());
            CHECK(device->failure() == "");
        }
    }

    TEST_CASE("a benchmark goes on where one kernel is wrong, or fails before or while it is timed") {
        BenchRequest request;
        request.workload = test::small("f", DType::bf16);
        request.lengths = {64};
        request.kernels = {"f4-tensor-core", "f6-split"};
        request.warm_up = 1, request.least_runs = request.most_runs = 3;
        const auto points_of = [&](const std::string& words) {
            behave("");
            const auto engine = gpu::make_engine(gpu::Where::cuda);
            behave(words);
            std::map<std::string, Point> points;
            const BenchReport report = run_bench(request, *engine, [](const auto&, const auto&) {}, {});
            for (const Point& point : report.points) points[point.kernel] = point;
            return points;
        };
        auto points = points_of("");
        CHECK(points.at("f4-tensor-core").state == Point::State::measured);
        CHECK(points.at("f6-split").state == Point::State::measured);
        const int waits = stubs::calls("cudaEventSynchronize");
        CHECK(points.at("f6-split").peak > 0);

        // What fails while the peak is measured after the kernels takes nothing from what they have measured.
        const auto fails_at = [&](int wait) {
            return points_of("cudaEventSynchronize@" + std::to_string(wait) + "=cudaErrorUnknown");
        };
        points = fails_at(waits);
        CHECK(points.at("f4-tensor-core").state == Point::State::measured);
        CHECK(points.at("f6-split").state == Point::State::measured);

        behave("");
        CHECK(gpu::make_engine(gpu::Where::cuda)->measure_peak(DType::bf16, {}) > 0);
        points = fails_at(waits - stubs::calls("cudaEventSynchronize"));
        int lost = 0;
        for (const auto& [kernel, point] : points) {
            const bool measured = point.state == Point::State::measured;
            lost += !measured;
            CHECK((measured || point.reason == "Running " + kernel +
                                                   " failed on the GPU: unknown error (cudaErrorUnknown)."));
        }
        CHECK(lost == 1);

        // The first allocation is that of the large product: the peak is then known from after the kernels.
        points = points_of("cudaMalloc@1=cudaErrorUnknown");
        CHECK(points.at("f4-tensor-core").state == Point::State::measured);
        CHECK(points.at("f4-tensor-core").peak > 0);

        points = points_of("wrong=tensor_core");
        CHECK(points.at("f4-tensor-core").state == Point::State::failed);
        CHECK(points.at("f6-split").state == Point::State::measured);
        CHECK_THROWS_WITH_AS(
            points_of("cudaMemGetInfo@1=cudaErrorUnknown"),
            "Asking for the free memory failed on the GPU: unknown error (cudaErrorUnknown).", EngineFailed);
        behave("");
    }

    TEST_CASE("a launch beyond the chip's limits is not tried, and its sentence says which") {
        behave("");
        const auto device = open();
        for (const auto& [grid, sentence] :
             {std::pair{gpu::Grid{1, 1, 1, 32, 200 << 10},
                        "a block asked for 204800 bytes of shared memory, and 166912 are there"},
              {gpu::Grid{1, 1, 1, 2048, 0}, "a block of 2048 threads, and 1 to 1024 are possible"},
              {gpu::Grid{1, 65536, 1, 32, 0},
               "a grid of 1 × 65536 × 1 blocks, and y and z may have 65,535 each"},
              {gpu::Grid{0, 1, 1, 32, 0}, "a grid of 0 × 1 × 1 blocks, and y and z may have 65,535 each"}}) {
            test::too_large_grid() = grid;
            device->run(test::too_large(), {}, DType::f32);
            CHECK(device->failure() == "Running too-large was not tried: " + std::string(sentence) + ".");
            CHECK(stubs::calls("cudaLaunchKernel") == 0);
            CHECK(stubs::calls("cudaFuncSetAttribute") == 0);
            CHECK(device->recover());
        }
        CHECK(gpu::refuse_launch({1, 65535, 65535, 1024, 166912}, device->chip) == "");
    }

    TEST_CASE("after a failure a device does nothing until it is forgiven") {
        behave("");
        const auto device = open();
        behave("cudaMemsetAsync@1=cudaErrorUnknown");
        void* const memory = device->allocate(64);
        device->fill(memory, 0, 64);
        const std::string first = device->failure();
        CHECK(contains(first, "Filling memory failed on the GPU"));
        const int copies = stubs::calls("cudaMemcpyAsync");
        float x = 3;
        device->upload(memory, &x, 4);
        device->download(&x, memory, 4);
        device->fill(memory, 0, 64);
        device->flush_caches();
        CHECK(device->allocate(64) == nullptr);
        CHECK(device->free_bytes() == 0);
        CHECK(device->run(rung_called(*device, "f5-flash2"), {}, DType::bf16) == 0);
        CHECK(device->failure() == first);
        CHECK(stubs::calls("cudaMemcpyAsync") == copies);
        CHECK(device->recover());
        device->upload(memory, &x, 4);
        x = 0;
        device->download(&x, memory, 4);
        CHECK(x == 3);
        device->release(memory);
    }

    TEST_CASE("a lost device stays lost, and the rest of the program goes on") {
        const int status = test::status_of([] {
            behave("cudaEventSynchronize@2=cudaErrorIllegalAddress!");
            const std::string sentence = sentence_of("f5-flash2", DType::bf16);
            const bool said = contains(sentence, "an illegal memory access (cudaErrorIllegalAddress)") &&
                              contains(sentence, "The program has to be started again to use the GPU.");
            // Also if the device were there again: this process has lost it.
            const bool stays = sentence_of("f5-flash2", DType::bf16) + "." == sentence;
            const bool others = !gpu::make_engine(gpu::Where::emulator)->why_not();
            leave(said && stays && others ? 0 : 1);
        });
        CHECK(status == 0);
        check_all_is_well();
    }

    TEST_CASE("a kernel that reaches too far loses the device, as on a GPU") {
        const int status = test::status_of([] {
            behave("");
            const auto device = open();
            gpu::Arguments a;
            a.N_q = a.N_kv = 64, a.d = 64;  // and no memory
            a.Q.row = a.K.row = a.V.row = a.O.row = 64;
            device->run(rung_called(*device, "f1-online-row"), a, DType::f32);
            leave(contains(device->failure(), "cudaErrorLaunchFailure") && !device->recover() ? 0 : 1);
        });
        CHECK(status == 0);
    }

    TEST_CASE("the traced twins record on it what they record on the emulator") {
        behave("");
        for (const gpu::TraceableKernel& kernel : gpu::traceable_kernels()) {
            if (!kernel.tiles || !gpu::is_taken_by(stand_in.capability, kernel.name)) continue;
            gpu::TraceRequest request;
            request.kernel = kernel.name, request.dtype = kernel.types.front();
            request.problem.Q = request.problem.K = request.problem.V = Matrix::Random(70, 64);
            const auto here = gpu::trace_kernel(gpu::Where::cuda, request),
                       there = gpu::trace_kernel(gpu::Where::emulator, request);
            REQUIRE_MESSAGE(here, here.error);
            REQUIRE(there);
            CHECK(here->run.device_name == "stand-in for a GPU");
            REQUIRE(here->tiles.size() == there->tiles.size());
            for (std::size_t n = 0; n < here->tiles.size(); ++n) {
                CHECK(here->tiles[n].visited == there->tiles[n].visited);
                REQUIRE(here->tiles[n].m.size() == there->tiles[n].m.size());
                for (std::size_t r = 0; r < here->tiles[n].m.size(); ++r)
                    CHECK(here->tiles[n].m[r] == doctest::Approx(there->tiles[n].m[r]).epsilon(1e-5));
            }
        }
        check_nothing_is_held();
    }

    TEST_CASE("tracing says of what its failure was") {
        gpu::TraceRequest request;
        request.problem.Q = request.problem.K = request.problem.V = Matrix::Ones(4, 4);
        const auto failure = [&](const char* words) {
            behave(words);
            auto how = gpu::TraceFailed::input;
            const auto trace = gpu::trace_kernel(gpu::Where::cuda, request, {}, &how);
            CHECK_FALSE(trace);
            CHECK(trace.error.back() == '.');
            return how;
        };
        CHECK(failure("none") == gpu::TraceFailed::no_device);
        CHECK(failure("memory=16") == gpu::TraceFailed::no_device);
        CHECK(failure("cudaMalloc@5=cudaErrorMemoryAllocation") == gpu::TraceFailed::device);
        CHECK(failure("cudaLaunchKernel@1=cudaErrorUnknown") == gpu::TraceFailed::device);
        CHECK(failure("wrong=flash2 cudaMemcpyAsync@4=cudaErrorUnknown") == gpu::TraceFailed::device);
        request.kernel = "f9";
        CHECK(failure("") == gpu::TraceFailed::input);
    }
}

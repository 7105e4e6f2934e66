// The program on the stand-in for a GPU, in a process of its own for each way to fail: what it says and how
// it ends.
#include "tests/contains.h"
#include "tests/folder.h"

#include <doctest/doctest.h>

#include <algorithm>

#include <sys/wait.h>

using namespace tilewalk;
using test::contains;
using test::Variable;

namespace {

struct Ran {
    int code;
    std::string out, said;
};

/// With so many seconds to end in; 124 is not to end.
Ran run(const std::string& words, const std::string& program = TILEWALK_ON_STUBS) {
    const test::Folder folder;
    const std::string out = folder.file("out"), said = folder.file("said");
    const std::string line = "timeout 60 " + program + " " + words + " >" + out + " 2>" + said;
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), test::contents(out),
            test::contents(said)};
}

const std::string compare = "compare --device cuda --kernel f5-flash2";
const std::string bench = "bench --device cuda --seqlen 64 --heads 1 --batch 1 --kernels f4-tensor-core";

struct Way {
    const char* gpu;  ///< TILEWALK_STUB_GPU
    int compare;      ///< exit codes
    int bench;
    const char* sentence;  ///< of both, or a part of the results
};
constexpr Way ways[] = {
    {"none", 3, 3, "There is no GPU to run on: no NVIDIA GPU"},
    {"no-driver", 3, 3, "There is no GPU to run on: no NVIDIA driver"},
    {"old-driver", 3, 3, "the NVIDIA driver knows CUDA 12.4, this program needs 13."},
    {"capability=70", 3, 3, "the GPU has compute capability 7.0, and the kernels need 7.5"},
    {"cudaSetDevice@1=cudaErrorDevicesUnavailable", 3, 3, "all devices are busy"},
    {"memory=64", 3, 3, "Taking memory for cuBLAS to work in failed: the memory of the GPU is full"},
    {"cudaLaunchKernel@1+=cudaErrorNoKernelImageForDevice", 1, 1, "this program has no code for this GPU"},
    {"cudaEventSynchronize@1=cudaErrorLaunchFailure!", 1, 1,
     "The program has to be started again to use the GPU."},
    {"cudaEventSynchronize@1=cudaErrorLaunchTimeout!", 1, 1,
     "longer than the driver lets a GPU work that also drives a display"},
    {"cudaStreamSynchronize@1=cudaErrorECCUncorrectable!", 1, 1, "uncorrectable ECC error"},
    {"cudaMalloc@3+=cudaErrorMemoryAllocation", 1, 1, ""},
    {"wrong=Arguments", 1, 1, ""},  // every kernel of the ladder
};

// One sentence, and nothing of a crash
void check_said(const Ran& ran, const std::string& sentence) {
    CHECK(std::ranges::count(ran.said, '\n') == 1);
    CHECK(ran.said.rfind("tilewalk: ", 0) == 0);
    CHECK(contains(ran.said + ran.out, sentence));
}

}  // namespace

TEST_SUITE("stubs/program") {
    TEST_CASE("every command on a GPU") {
        CHECK(run(compare).code == 0);
        const Ran devices = run("devices");
        CHECK(devices.code == 0);
        CHECK(contains(devices.out, "stand-in for a GPU, compute capability 8.0, 4 multiprocessors, 2 GiB "
                                    "(1 GiB free)"));
        CHECK(run("kernels").code == 0);
        const Ran timed = run(bench + ",b2-tensor-core --direction backward");
        CHECK(timed.code == 0);
        CHECK(contains(timed.out, "of the limit"));
    }

    TEST_CASE("every way to fail ends with its sentence and its code") {
        for (const Way& way : ways) {
            const Variable gpu("TILEWALK_STUB_GPU", way.gpu);
            CAPTURE(std::string(way.gpu));
            const Ran compared = run(compare), timed = run(bench);
            CHECK(compared.code == way.compare);
            CHECK(timed.code == way.bench);
            check_said(compared, way.sentence);
            check_said(timed, way.sentence);
            CHECK(run("devices").code == 0);
            CHECK(run("kernels").code == 0);
        }
    }

    TEST_CASE("without cuBLAS, or with half of one, its rung says so") {
        for (const char* const library : {"/nowhere/libcublas.so", TILEWALK_STUB_HALF_CUBLAS}) {
            const Variable cublas("TILEWALK_CUBLAS", library);
            const Ran timed = run("bench --device cuda --seqlen 64 --heads 1 --batch 1 --kernels f0-cublas");
            CHECK(timed.code == 1);
            check_said(timed, "Nothing was measured; the results say why for each kernel.");
            CHECK(contains(timed.out,
                           "Running f0-cublas was not tried: it needs cuBLAS, and neither "
                           "libcublas.so.13 nor .12 nor .11 was found (TILEWALK_CUBLAS may name the "
                           "file)."));
        }
    }

    TEST_CASE("without cuBLAS what checks the kernels does not call its rungs wrong") {
        const Variable cublas("TILEWALK_CUBLAS", "/nowhere/libcublas.so");
        for (const std::string kernel : {"f0-cublas", "b0-materialise"}) {
            const Ran checked = run(kernel + " 250 1", TILEWALK_CHECK_GPU_ON_STUBS);
            CHECK(checked.code == 2);  // nothing could run
            CHECK(contains(checked.out, "not run\t" + kernel + " bf16\t"));
            CHECK(contains(checked.out, kernel + " was not tried: it needs cuBLAS"));
            CHECK(contains(checked.out, "0 right, 0 wrong, 3 not run"));
        }
        CHECK(run("f4-tensor-core 250 1", TILEWALK_CHECK_GPU_ON_STUBS).code == 0);
    }

    TEST_CASE("where the driver's tools do not say what is free, no number is made up") {
        const Variable busy("TILEWALK_STUB_NVML", "busy");
        const Ran devices = run("devices");
        CHECK(devices.code == 0);
        CHECK_FALSE(contains(devices.out, "free"));
    }
}

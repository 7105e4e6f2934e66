// The engine over a device: what it refuses, what memory it takes and gives back, what it says of failures.
#include "core/base/numbers.h"
#include "core/bench/bench.h"
#include "core/bench/verify.h"
#include "cuda/host/arguments_of.h"
#include "cuda/host/device_memory.h"
#include "cuda/host/engine.h"
#include "cuda/host/gpu.h"
#include "tests/core/cpu/kernels.h"
#include "tests/cuda/stub_device.h"

#include <cmath>
#include <doctest/doctest.h>
#include <set>

using namespace tilewalk;
using namespace tilewalk::gpu;
using tilewalk::test::StubDevice;

namespace {

struct Stubbed {
    std::shared_ptr<StubDevice> device = std::make_shared<StubDevice>();
    std::unique_ptr<Engine> engine = engine_over("stub", device, device->ladder());

    const KernelInfo& kernel(const std::string& name) const {
        for (const KernelInfo& info : engine->kernels())
            if (info.name == name) return info;
        throw std::invalid_argument(name);
    }
    std::unique_ptr<Prepared> prepare(const std::string& name, const Workload& w, const Tensors& in) const {
        return engine->prepare(kernel(name), w, in, {});
    }
};

const Workload small{
    .dtype = DType::bf16, .heads = 2, .kv_heads = 1, .N_q = 40, .N_kv = 50, .d = 64, .causal = true};

// A small workload of a type that the kernel takes, if it takes one.
std::optional<Workload> taken(const Stubbed& on, const KernelInfo& kernel, DType type) {
    Workload w = small;
    w.direction = kernel.direction.value(), w.dtype = type;
    if (on.engine->why_not(kernel, w)) return std::nullopt;
    return w;
}
Workload taken(const Stubbed& on, const KernelInfo& kernel) {
    return taken(on, kernel, DType::f32).value_or(taken(on, kernel, DType::bf16).value_or(Workload{}));
}

template <class Failure, class F> std::string sentence_of(const F& f) {
    try {
        f();
    } catch (const Failure& failure) {
        return failure.what();
    }
    return "nothing was thrown";
}

}  // namespace

TEST_CASE("engine: every kernel of the ladder is listed, under a name of its own") {
    const auto engine = make_engine(Where::emulator);
    CHECK(engine->device() == "emulator");
    CHECK_FALSE(engine->why_not());
    std::set<std::string> names;
    const auto of_cpu = cpu::make_engine(1);
    for (const KernelInfo& kernel : of_cpu->kernels()) names.insert(kernel.name);
    for (const KernelInfo& kernel : engine->kernels()) {
        CHECK_MESSAGE(names.insert(kernel.name).second, kernel.name);
        CHECK(kernel.direction);
        CHECK_FALSE(kernel.title.empty());
        CHECK_FALSE(kernel.teaches.empty());
    }
    CHECK(make_engine(Where::cuda)->kernels().size() == engine->kernels().size());
}

TEST_CASE("engine: without a GPU it says why, and refuses to run") {
    const StubDevice device;
    const auto engine = engine_over("cuda", nullptr, device.ladder(), "no NVIDIA GPU");
    CHECK(*engine->why_not() == "no NVIDIA GPU");
    CHECK(engine->memory_free() == 0);
    CHECK(engine->measure_peak(DType::bf16, {}) == 0);
    const Tensors in = make_inputs(small, 1);
    CHECK(sentence_of<EngineFailed>([&] { engine->prepare(engine->kernels()[0], small, in, {}); }) ==
          "There is no GPU to run on: no NVIDIA GPU.");
}

TEST_CASE("engine: sizes, types and directions that a kernel does not take are refused with the reason") {
    const Stubbed on;
    const KernelInfo& flash = on.kernel("f5-flash2");
    CHECK_FALSE(on.engine->why_not(flash, small));
    Workload w = small;
    w.d = 80;
    CHECK(on.engine->why_not(flash, w)->starts_with("head dimension 80 (it takes "));
    w = small, w.dtype = DType::f32;
    CHECK(on.engine->why_not(flash, w)->starts_with("f32 "));
    w = small, w.direction = Direction::backward;
    CHECK(*on.engine->why_not(flash, w) == "it computes forward only");
    w = small, w.heads = 1 << 16;
    CHECK(on.engine->why_not(flash, w)->ends_with("heads"));
    w = small, w.batch = 1 << 16;
    CHECK(on.engine->why_not(flash, w)->starts_with("a batch of more than "));
    w = small, w.heads = 3, w.kv_heads = 2;
    CHECK(on.engine->why_not(flash, w));
    on.device->chip.capability = 75;
    CHECK(on.engine->why_not(flash, small)->starts_with("bf16 "));
}

TEST_CASE("engine: a workload becomes dense strides, a mask and a scale") {
    Workload w{.batch = 3, .heads = 6, .kv_heads = 2, .N_q = 10, .N_kv = 14, .d = 64};
    float here = 0;
    Arguments a = arguments_of(w, {.Q = &here, .L = &here});
    CHECK(a.Q.data == &here);
    CHECK(a.K.data == nullptr);
    CHECK(a.L == &here);
    CHECK(a.Q.batch == 6 * 10 * 64);
    CHECK(a.dQ.head == 10 * 64);
    CHECK(a.K.batch == 2 * 14 * 64);
    CHECK(a.dV.head == 14 * 64);
    CHECK(a.V.row == 64);
    CHECK(a.scale == .125f);
    CHECK(a.before == Arguments::unlimited);
    CHECK(a.after == Arguments::unlimited);
    w.causal = true;
    CHECK(arguments_of(w, {}).before == Arguments::unlimited);
    CHECK(arguments_of(w, {}).after == 0);
    w.window = 5;
    CHECK(arguments_of(w, {}).before == 5);
    CHECK(arguments_of(w, {}).after == 0);
    w.causal = false;
    CHECK(arguments_of(w, {}).after == 5);
}

TEST_CASE("engine: tensors are rounded on the way to the device, and inputs are round already") {
    StubDevice device;
    const std::vector<float> x{1, 1 + 0x1p-9f, 1 + 0x1p-8f, 1 + 3 * 0x1p-8f, -3.14159f, 0x1p-24f, 65520};
    std::vector<std::uint16_t> bits(x.size());
    upload(device, bits.data(), x, DType::bf16);
    const auto bf16 = download(device, bits.data(), 7, DType::bf16);
    CHECK(bf16[1] == 1);
    CHECK(bf16[2] == 1);  // a tie goes to the even one
    CHECK(bf16[3] == 1 + 2 * 0x1p-7f);
    CHECK(bf16[4] == -3.140625f);
    upload(device, bits.data(), x, DType::f16);
    const auto f16 = download(device, bits.data(), 7, DType::f16);
    CHECK(f16[1] == 1 + 0x1p-9f);
    CHECK(f16[5] == 0x1p-24f);
    CHECK(std::isinf(f16[6]));
    for (const DType type : {DType::f16, DType::bf16}) {
        Workload w = small;
        w.dtype = type;
        for (float value : make_inputs(w, 3).Q) CHECK(value == rounded(value, type));
    }
}

TEST_CASE("engine: what does not fit is refused before anything is taken") {
    const Stubbed on;
    Workload w = small;
    w.dtype = DType::f32;
    const Tensors in = make_inputs(w, 1);
    const KernelInfo& standard = on.kernel("f0-materialise");
    const std::int64_t own = on.engine->model_bytes(standard, w), needed = tensor_bytes(w) + own;
    CHECK(own >= 2 * 40 * 50 * 4);
    on.device->free = needed - 1;
    CHECK(sentence_of<NoMemory>([&] { on.prepare("f0-materialise", w, in); }) ==
          "f0-materialise at N = 40 needs " + format_size(needed) + ", " + format_size(own) +
              " of it for S and P; " + format_size(needed - 1) + " are free.");
    CHECK(on.device->most == 0);
    on.device->free = needed;
    CHECK(on.prepare("f0-materialise", w, in));
    CHECK(on.engine->memory_free() == needed);
}

TEST_CASE("engine: workspace is counted, is what the kernel says, and everything is given back") {
    const Stubbed on;
    for (const KernelInfo& kernel : on.engine->kernels())
        for (const DType type : {DType::f32, DType::bf16}) {
            const auto w = taken(on, kernel, type);
            if (!w) continue;
            CAPTURE(kernel.name);
            on.device->most = 0;
            const Tensors in = make_inputs(*w, 1);
            {
                const auto prepared = on.prepare(kernel.name, *w, in);
                REQUIRE(prepared->run({}));
                CHECK(prepared->workspace_bytes() == on.engine->model_bytes(kernel, *w));
                CHECK(on.device->most == tensor_bytes(*w) + prepared->workspace_bytes());
                REQUIRE(prepared->run({}));
                CHECK(on.device->most == tensor_bytes(*w) + prepared->workspace_bytes());
            }
            CHECK(on.device->live.empty());
        }
}

TEST_CASE("engine: memory that runs out on the way is given back, wherever that happens") {
    const Stubbed on;
    for (const KernelInfo& kernel : on.engine->kernels()) {
        const Workload w = taken(on, kernel);
        const Tensors in = make_inputs(w, 1);
        int enough = 0;
        for (bool done = false; !done; ++enough) {
            on.device->allocations_left = enough;
            const std::string sentence =
                sentence_of<NoMemory>([&] { on.prepare(kernel.name, w, in)->run({}); });
            CHECK(on.device->live.empty());
            done = sentence == "nothing was thrown";
            if (!done) CHECK(sentence.starts_with("The device had no "));
        }
        CHECK(enough > 5);
        on.device->allocations_left = 1 << 30;
    }
}

TEST_CASE("engine: a failing run is a sentence, after which the engine runs nothing more") {
    const Stubbed on;
    const Tensors in = make_inputs(small, 1);
    const std::string why = "Running f5-flash2 failed. The program has to be started again.";
    {
        const auto prepared = on.prepare("f5-flash2", small, in);
        REQUIRE(prepared->run({}));
        on.device->fails = why;
        CHECK(sentence_of<EngineFailed>([&] { prepared->run({}); }) == why);
        CHECK(sentence_of<EngineFailed>([&] { prepared->outputs(); }) == why);
    }
    CHECK(on.device->live.empty());
    CHECK(*on.engine->why_not() == why);
    CHECK(sentence_of<EngineFailed>([&] { on.prepare("f5-flash2", small, in); }) == why);
}

TEST_CASE("engine: a failure that does not hurt the device costs one kernel") {
    const Stubbed on;
    const Tensors in = make_inputs(small, 1);
    on.device->recovers = true;
    const auto prepared = on.prepare("f5-flash2", small, in);
    on.device->fails = "cuBLAS was not found.";
    CHECK(sentence_of<KernelFailed>([&] { prepared->run({}); }) == "cuBLAS was not found.");
    CHECK_FALSE(on.engine->why_not());
    CHECK(prepared->run({}));
}

TEST_CASE("engine: a device that fails in a benchmark ends it with the sentence") {
    auto device = std::make_shared<StubDevice>();
    BenchRequest request;
    request.kernels = {"f5-flash2"};
    request.workload = small;
    request.workload.heads = 1;
    request.lengths = {32, 40};
    request.least_runs = request.most_runs = 3;
    int left = 12;
    device->after_run = [&, on = device.get()](const Arguments&) {
        if (--left == 0) on->fails = "The GPU is gone.";
    };
    BackgroundBench bench(request, engine_over("stub", device, device->ladder()));
    while (bench.running()) std::this_thread::yield();
    CHECK(bench.failure() == "The GPU is gone.");
    CHECK_FALSE(bench.report().complete);
    for (const Point& point : bench.report().points)
        if (point.state != Point::State::measured) CHECK(point.reason == "The GPU is gone.");
    CHECK(device->live.empty());
}

TEST_CASE("engine: a stopped preparation or run gives nothing") {
    const Stubbed on;
    const Tensors in = make_inputs(small, 1);
    CHECK_FALSE(on.engine->prepare(on.kernel("f5-flash2"), small, in, test::stopped()));
    const auto prepared = on.prepare("f5-flash2", small, in);
    CHECK_FALSE(prepared->run(test::stopped()));
    CHECK(on.device->runs.empty());
}

TEST_CASE("engine: caches are flushed before each run, and the forward pass runs once before the backward") {
    const Stubbed on;
    for (const KernelInfo& kernel : on.engine->kernels()) {
        if (kernel.direction != Direction::backward) continue;
        const Workload w = taken(on, kernel);
        const Tensors in = make_inputs(w, 1);
        on.device->runs.clear();
        const auto prepared = on.prepare(kernel.name, w, in);
        REQUIRE(on.device->runs.size() == 1);
        CHECK(on.kernel(on.device->runs[0]).direction == Direction::forward);
        prepared->run({});
        prepared->run({});
        REQUIRE(on.device->runs.size() == 5);
        CHECK(on.device->runs[1] == "flush");
        CHECK(on.device->runs[2] == kernel.name);
        CHECK(on.device->runs[4] == kernel.name);
    }
}

TEST_CASE("engine: the kernels of the ladder pass verification in all their types") {
    const Stubbed on;
    for (const KernelInfo& kernel : on.engine->kernels())
        for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
            auto w = taken(on, kernel, type);
            if (!w) continue;
            w->heads = w->kv_heads = 1;
            CAPTURE(kernel.name);
            CAPTURE(std::string(name_of(type)));
            const Tensors in = make_inputs(*w, 5);
            const auto prepared = on.prepare(kernel.name, *w, in);
            REQUIRE(prepared->run({}));
            CHECK(verify_outputs(prepared->outputs(), *w, in, kernel).sentence == "");
            CHECK(verify_rows(*prepared, *w, in, 1, {}, kernel).sentence == "");
        }
}

TEST_CASE("engine: f5-flash2 passes all small sizes") {
    const Stubbed on;
    Workload w = small;
    w.heads = w.kv_heads = 1;
    const KernelVerdict verdict = verify_small(*on.engine, on.kernel("f5-flash2"), w, {});
    CHECK(verdict.sentence == "");
    CHECK(verdict.error > 0);
}

TEST_CASE("engine: wrong results and results that were not written are found") {
    const Stubbed on;
    const Tensors in = make_inputs(small, 5);
    const auto verdict = [&] {
        const auto prepared = on.prepare("f5-flash2", small, in);
        REQUIRE(prepared->run({}));
        return verify_outputs(prepared->outputs(), small, in);
    };
    CHECK(verdict().passed);
    on.device->after_run = [](const Arguments& a) { a.L[7] += 1e-4f; };
    CHECK(verdict().sentence.starts_with("L is off by "));
    on.device->after_run = [](const Arguments& a) {
        auto* const O = static_cast<std::uint16_t*>(a.O.data);
        O[64 * 3] ^= 0x8000;  // a sign
    };
    CHECK(verdict().sentence.starts_with("O is off by "));
    on.device->after_run = nullptr;
    on.device->idle = true;
    CHECK(verdict().sentence.starts_with("O is off by "));
}

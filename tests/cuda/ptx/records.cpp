#include "tests/cuda/ptx/records.h"

#include "core/compare/kernel_compare.h"
#include "cuda/host/emulator.h"
#include "cuda/host/open_cuda.h"
#include "cuda/kernels/intrinsics.h"
#include "tests/cuda/ptx/halves.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <span>

namespace tilewalk::ptx {

namespace {

using gpu::Where;

// f2 takes exp, which nvcc writes out in fused products: CUDA's mathematical functions, expf, 1 ULP.
// ex2.approx is here the nearest number and there one that may be its neighbour (PTX allows 2 ULP), which
// rounding P to 16 bits hides.
constexpr RecordLimits limits[] = {
    {"f2-tiled-fp32", true, {0, 0, 2, 2, 4, 8}},   {"f3-warp-rows", false, {0, 0, 1, 1, 1, 2}},
    {"f4-tensor-core", false, {0, 0, 1, 0, 1, 0}}, {"f4b-copies-ahead", false, {0, 0, 1, 0, 1, 0}},
    {"f5-flash2", false, {0, 0, 1, 0, 1, 0}},      {"f6-split", false, {0, 0, 1, 0, 1, 0}},
};

/// Ragged tiles with a causal mask, with a window, and decoding, where f6 splits the keys.
struct RecordedShape {
    int N, N_kv;
    bool causal;
    int window;  ///< 0: none
    const char* name;
};
constexpr RecordedShape recorded_shapes[] = {{150, 150, true, 0, "causal"},
                                             {150, 150, false, 40, "window 40"},
                                             {3, 500, false, 0, "3 queries of 500 keys"}};

// Q, K and V of multiples of 1/8 up to ±2, where sums of their products are exact in every order and with
// every rounding; or of normal numbers.
Problem problem_of(const RecordedShape& shape, int d, bool exact) {
    Problem problem = *random_problem(shape.N, d, 7);
    problem.K.resize(shape.N_kv, d), problem.V.resize(shape.N_kv, d);
    problem.causal = shape.causal;
    if (shape.window > 0) problem.window = shape.window;
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    for (Matrix* x : {&problem.Q, &problem.K, &problem.V})
        for (double& value : x->reshaped())
            value = exact ? (static_cast<double>(random() % 33) - 16) / 8 : normal(random);
    problem.scale.kind = Scale::Kind::sqrt;
    return problem;
}

KernelTrace traced(Where where, const gpu::TraceRequest& request) {
    Result<KernelTrace> trace = gpu::trace_kernel(where, request);
    if (!trace) throw Error(trace.error);
    return *trace;
}

void add_row(RecordDistance& distance, std::span<const float> a, std::span<const float> b, bool of_largest) {
    float largest = 0;
    for (float x : b) largest = std::max(largest, std::fabs(x));
    const double unit = std::ldexp(1.0, std::ilogb(std::max(largest, 0x1p-126f)) - 23);
    for (std::size_t n = 0; n < a.size(); ++n) {
        ++distance.numbers;
        if (std::bit_cast<std::uint32_t>(a[n]) == std::bit_cast<std::uint32_t>(b[n])) continue;
        ++distance.differ;
        const double ulp =
            of_largest ? std::fabs(double(a[n]) - b[n]) / unit : ulp_distance(Format::fp32, a[n], b[n]);
        distance.ulp = std::isnan(ulp) ? INFINITY : std::max(distance.ulp, ulp);
    }
}

}  // namespace

std::vector<RecordCase> record_cases() {
    std::vector<RecordCase> all;
    for (const gpu::TraceableKernel& kernel : gpu::traceable_kernels()) {
        if (!kernel.tiles || !gpu::is_taken_by(80, kernel.name)) continue;
        const auto* const limit = std::find_if(std::begin(limits), std::end(limits),
                                               [&](const RecordLimits& l) { return kernel.name == l.rung; });
        if (limit == std::end(limits)) throw Error(kernel.name + " records, and nothing says how exactly");
        for (DType type : kernel.types)
            for (const RecordedShape& shape : recorded_shapes) {
                RecordCase c;
                c.limits = *limit;
                c.name = kernel.name + ", " + name_of(type) + ", " + shape.name;
                c.request.kernel = kernel.name, c.request.dtype = type;
                c.request.problem = problem_of(shape, 64, limit->as_ptx_says);
                all.push_back(c);
                if (kernel.name != "f5-flash2" || type != DType::bf16) continue;
                c.capability = 90, c.name += ", compute capability 9.0";
                all.push_back(c);
            }
    }
    return all;
}

std::vector<RecordDistance> compare_records(const RecordCase& c) {
    setup().capability = c.capability, setup().schedule = {};
    setup().plain_arithmetic = !c.limits.as_ptx_says;
    const KernelTrace ours = traced(Where::cuda, c.request);
    setup().plain_arithmetic = false;
    const KernelTrace theirs = traced(Where::emulator, c.request);
    if (ours.tiles.size() != theirs.tiles.size()) throw Error("The tiles are others");
    std::vector<RecordDistance> all;
    for (const KernelFault::Quantity quantity : kernel_quantities()) {
        RecordDistance distance;
        distance.quantity = info(quantity).name;
        distance.allowed = c.limits.ulp[all.size()];
        for (std::size_t n = 0; n < ours.tiles.size(); ++n) {
            if (ours.tiles[n].visited != theirs.tiles[n].visited) throw Error("Another tile is visited");
            const std::vector<float>&a = values_of(ours.tiles[n], quantity),
                  &b = values_of(theirs.tiles[n], quantity);
            if (a.size() != b.size()) throw Error("A tile has another size");
            const auto width = static_cast<std::size_t>(quantity_width(theirs, quantity, theirs.tiles[n].j));
            for (std::size_t from = 0; from < a.size(); from += width)
                add_row(distance, std::span(a).subspan(from, width), std::span(b).subspan(from, width),
                        quantity == KernelFault::Quantity::O);
        }
        all.push_back(distance);
    }
    return all;
}

namespace {

using Words = std::vector<std::uint32_t>;

Words run_intrinsics(gpu::Device& device, const gpu::Rung& rung, DType type) {
    std::mt19937_64 random(3);
    std::normal_distribution<float> normal;
    std::vector<std::uint16_t> Q(1024);
    std::vector<float> K(128);
    for (auto& x : Q) x = narrowed(type == DType::f16 ? Half::f16 : Half::bf16, normal(random));
    for (auto& x : K) x = normal(random);
    Words results(gpu::intrinsics_results);
    const auto put = [&](const void* from, std::size_t bytes) {
        void* const to = device.allocate(static_cast<std::int64_t>(bytes));
        device.upload(to, from, static_cast<std::int64_t>(bytes));
        return to;
    };
    gpu::Arguments a;
    a.Q.data = put(Q.data(), 2 * Q.size());
    a.K.data = put(K.data(), 4 * K.size());
    a.workspace = put(results.data(), 4 * results.size());
    device.run(rung, a, type);
    if (!device.failure().empty()) throw Error(device.failure());
    device.download(results.data(), a.workspace, 4 * gpu::intrinsics_results);
    for (void* memory : {a.Q.data, a.K.data, a.workspace}) device.release(memory);
    return results;
}

}  // namespace

std::string compare_intrinsics(DType type, int capability) {
    setup().capability = capability, setup().schedule = {};
    const auto run = [type](bool plain) {
        setup().plain_arithmetic = plain;
        std::string why_not;
        Words results = run_intrinsics(*gpu::open_cuda(why_not), *gpu::cuda_intrinsics(), type);
        setup().plain_arithmetic = false;
        return results;
    };
    const Words plain = run(true), as_ptx_says = run(false),
                theirs = run_intrinsics(*gpu::open_emulator(), gpu::emulated_intrinsics(), type);
    for (std::size_t n = 0; n < theirs.size(); ++n) {
        // log(x · x + 1): nvcc rounds its argument once, the emulator's compiler twice, which is 2.6 ULP of
        // 0.43; CUDA's expf and logf, of fused products, are good to 1 ULP. All else is the same to the bit.
        const std::size_t check = n / 128;
        const bool exp_log = check == gpu::check_exp_log;
        const float a = std::bit_cast<float>(exp_log ? as_ptx_says[n] : plain[n]),
                    b = std::bit_cast<float>(theirs[n]);
        if (std::bit_cast<std::uint32_t>(a) == theirs[n]) continue;
        if (exp_log && ulp_distance(Format::fp32, a, b) <= 4) continue;
        return "check " + std::to_string(check) + " of intrinsics.h, lane " + std::to_string(n / 4 % 32) +
               ", word " + std::to_string(n % 4) + ": " + std::to_string(a) + " here, " + std::to_string(b) +
               " on the emulator";
    }
    return "";
}

}  // namespace tilewalk::ptx

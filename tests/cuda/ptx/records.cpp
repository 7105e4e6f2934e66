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

// f2 takes exp, which nvcc writes out in fused products: CUDA's mathematical functions, expf, 1 ULP. The
// tensor cores of f4, f5 and f6 add 16 products and O in an order and with roundings that PTX leaves open.
constexpr RecordLimits limits[] = {
    {"f2-tiled-fp32", true, {0, 0, 2, 2, 4, 8}},   {"f3-warp-rows", false, {0, 0, 0, 0, 0, 0}},
    {"f4-tensor-core", false, {0, 0, 0, 0, 0, 4}}, {"f5-flash2", false, {0, 0, 0, 0, 0, 4}},
    {"f6-split", false, {0, 0, 0, 0, 0, 4}},
};

// Q, K and V of multiples of 1/8 up to ±2: sums of their products are exact in every order.
Problem exact_problem(int N, int d) {
    Problem problem = *random_problem(N, d, 7);
    std::mt19937_64 random(7);
    for (Matrix* x : {&problem.Q, &problem.K, &problem.V})
        for (double& value : x->reshaped()) value = (static_cast<double>(random() % 33) - 16) / 8;
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
        if (!kernel.tiles) continue;
        const auto* const limit = std::find_if(std::begin(limits), std::end(limits),
                                               [&](const RecordLimits& l) { return kernel.name == l.rung; });
        if (limit == std::end(limits)) throw Error(kernel.name + " records, and nothing says how exactly");
        for (DType type : kernel.types)
            for (bool causal : {true, false}) {
                RecordCase c;
                c.limits = *limit;
                c.name = kernel.name + ", " + name_of(type) + (causal ? ", causal" : ", window 40");
                c.request.kernel = kernel.name, c.request.dtype = type;
                c.request.problem = exact_problem(150, 64);
                c.request.problem.causal = causal;
                if (!causal) c.request.problem.window = 40;
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
    setup().round_products = !c.limits.fused;
    const KernelTrace ours = traced(Where::cuda, c.request);
    setup().round_products = false;
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
    std::string why_not;
    const auto machine = gpu::open_cuda(why_not), emulator = gpu::open_emulator();
    const Words ours = run_intrinsics(*machine, *gpu::cuda_intrinsics(), type),
                theirs = run_intrinsics(*emulator, gpu::emulated_intrinsics(), type);
    for (std::size_t n = 0; n < ours.size(); ++n) {
        if (ours[n] == theirs[n]) continue;
        const std::size_t check = n / 128;
        const float a = std::bit_cast<float>(ours[n]), b = std::bit_cast<float>(theirs[n]);
        const double ulp = ulp_distance(Format::fp32, a, b);
        // log(x · x + 1): nvcc rounds its argument once, the emulator's compiler twice, which is 2.6 ULP of
        // 0.43; CUDA's expf and logf are good to 1 ULP. Sums of 17 terms up to 16, in an order and with
        // roundings that PTX leaves open: four roundings of such terms.
        if (check == gpu::check_exp_log ? ulp > 4
                                        : check != gpu::check_multiply_add || std::fabs(a - b) > 0x1p-18f)
            return "check " + std::to_string(check) + " of intrinsics.h, lane " + std::to_string(n / 4 % 32) +
                   ", word " + std::to_string(n % 4) + ": " + std::to_string(a) + " here, " +
                   std::to_string(b) + " on the emulator, " + std::to_string(ulp) + " ULP apart";
    }
    return "";
}

}  // namespace tilewalk::ptx

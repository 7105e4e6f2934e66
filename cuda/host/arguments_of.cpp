#include "cuda/host/arguments_of.h"
#include "cuda/host/open_cuda.h"
#include "cuda/host/probe.h"

#include "core/base/numbers.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace tilewalk::gpu {

namespace {

// [batch][heads][N][d]
Tensor dense(void* data, std::int64_t heads, std::int64_t N, std::int64_t d) {
    return {data, heads * N * d, N * d, d};
}

}  // namespace

Arguments arguments_of(const Workload& w, const DeviceTensors& t) {
    const auto of_queries = [&](void* data) { return dense(data, w.heads, w.N_q, w.d); };
    const auto of_keys = [&](void* data) { return dense(data, w.kv_heads, w.N_kv, w.d); };
    Arguments a;
    a.Q = of_queries(t.Q), a.O = of_queries(t.O), a.dO = of_queries(t.dO), a.dQ = of_queries(t.dQ);
    a.K = of_keys(t.K), a.V = of_keys(t.V), a.dK = of_keys(t.dK), a.dV = of_keys(t.dV);
    a.L = t.L;
    a.batch = static_cast<int>(w.batch);
    a.heads = static_cast<int>(w.heads), a.kv_heads = static_cast<int>(w.kv_heads);
    a.N_q = static_cast<int>(w.N_q), a.N_kv = static_cast<int>(w.N_kv), a.d = static_cast<int>(w.d);
    // With a scale of 0, −∞ · scale would be NaN.
    a.scale = std::max(static_cast<float>(1 / std::sqrt(static_cast<double>(w.d))), FLT_MIN);
    if (w.window)
        a.before = a.after = static_cast<int>(std::min<std::int64_t>(*w.window, Arguments::unlimited));
    if (w.causal) a.after = 0;
    return a;
}

std::optional<std::string> refuse_sizes(const Workload& w) {
    if (auto sentence = refuse(w)) return sentence;
    constexpr std::int64_t most = 65535;  // blocks of a grid in y and z
    if (w.heads > most) return "more than " + format_count(most) + " heads";
    if (w.batch > most) return "a batch of more than " + format_count(most);
    return std::nullopt;
}

namespace {

std::string dotted(int capability) {
    return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

}  // namespace

std::string refuse_capability(int capability, int least) {
    constexpr int needed = 75;  // ldmatrix and products of 16 × 8
    const std::string has = "the GPU has compute capability " + dotted(capability);
    if (capability < needed) return has + ", and the kernels need " + dotted(needed);
    if (capability < least)
        return has + ", and this program was compiled for " + dotted(least) +
               " and later (TILEWALK_CUDA_ARCHITECTURES)";
    return "";
}

std::string refuse_code(int capability, CompiledFor code) {
    constexpr int ampere = 80;
    const std::string too_old = refuse_capability(capability, code.least);
    if (!too_old.empty() || capability < ampere || capability >= code.least_from_ampere) return too_old;
    return "the GPU has compute capability " + dotted(capability) + ", and this program was compiled for " +
           dotted(code.least) + " alone of what runs on it, without bf16 and copies in the background " +
           "(TILEWALK_CUDA_ARCHITECTURES)";
}

const Rung* find_rung(const Device& device, const std::string& name) {
    for (const Rung* rung : device.ladder())
        if (name == rung->name) return rung;
    return nullptr;
}

const Rung* forward_rung(const Device& device, const Arguments& sizes, DType type) {
    const Rung *best = nullptr, *with_matrices = nullptr;  // these take any d
    for (const Rung* rung : device.ladder())
        if (rung->direction == Direction::forward && rung->most_queries == 0 &&
            rung->refuse(sizes, type, device.chip).empty())
            (rung->materialises ? with_matrices : best) = rung;
    return best ? best : with_matrices;
}

}  // namespace tilewalk::gpu

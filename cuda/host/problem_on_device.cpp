#include "cuda/host/problem_on_device.h"

#include "core/compare/kernel_compare.h"
#include "core/problem/heads.h"
#include "core/problem/precision.h"

#include <algorithm>
#include <cfloat>

namespace tilewalk::gpu {

namespace {

constexpr int head_dimensions[] = {32, 64, 96, 128, 256};

Arguments sizes_of(const Problem& p, int d, bool all_heads) {
    Arguments a;
    if (all_heads) a.heads = query_heads(p), a.kv_heads = key_heads(p);
    a.N_q = p.N(), a.N_kv = p.N_kv(), a.d = d;
    // With a scale of 0, −∞ · scale would be NaN; the smallest normal number leaves every score at 0.
    const double scale = std::abs(p.softmax_scale());
    a.scale = std::max(static_cast<float>(scale), FLT_MIN);
    if (p.window) a.before = *p.window < Arguments::unlimited ? *p.window : Arguments::unlimited;
    if (p.causal || p.window) a.after = p.causal ? 0 : a.before;
    return a;
}

}  // namespace

Result<Arguments> fitting(const Rung& rung, const Problem& p, DType type, const Chip& chip, Fitting wanted) {
    const auto sizes = [&](int d) { return sizes_of(p, d, wanted.all_heads); };
    const auto refuse = [&](int d) {
        Arguments a = sizes(d);
        a.trace.tiles_i = wanted.traced;  // some widths are not compiled with what writes tiles down
        return rung.refuse(a, type, chip);
    };
    const int own = static_cast<int>(p.d());
    std::string why = refuse(own);
    if (why.empty()) return sizes(own);
    for (int d : head_dimensions) {
        if (d <= p.d()) continue;
        const std::string reason = refuse(d);
        if (reason.empty()) return sizes(d);
        why = reason;
    }
    return Failure{std::string(rung.name) + " does not take this problem: " + why + "."};
}

Tensor ProblemOnDevice::take_tensor(std::int64_t rows, int heads) {
    const std::int64_t size = std::max(rows, room) * a.d, all = heads * size;
    const Tensor tensor{take(all * bytes_of(type)), all, size, a.d};
    if (room > 0) device.fill(tensor.data, 0, all * bytes_of(type));
    return tensor;
}

// Rows of the problem in the kernel's format, zeros from column A.cols() on.
Tensor ProblemOnDevice::input(const std::vector<Matrix>& of_heads, double factor) {
    const Tensor tensor = take_tensor(of_heads.front().rows(), static_cast<int>(of_heads.size()));
    std::vector<float> values(static_cast<std::size_t>(tensor.batch), 0.0f);
    for (std::size_t h = 0; h < of_heads.size(); ++h)
        for (Eigen::Index r = 0; r < of_heads[h].rows(); ++r)
            for (Eigen::Index c = 0; c < of_heads[h].cols(); ++c)
                values[h * static_cast<std::size_t>(tensor.head) + static_cast<std::size_t>(r * a.d + c)] =
                    static_cast<float>(round_to(format_of(type), factor * of_heads[h](r, c)));
    upload(device, tensor.data, values, type);
    return tensor;
}

std::vector<float> ProblemOnDevice::output(const Tensor& tensor, int rows, int columns, int head) {
    const std::int64_t begin = head * tensor.head;
    const std::vector<float> all = download(device, tensor.data, begin + rows * tensor.row, type);
    std::vector<float> cut;
    for (int r = 0; r < rows; ++r) {
        const auto row = all.begin() + static_cast<std::ptrdiff_t>(begin + r * tensor.row);
        cut.insert(cut.end(), row, row + columns);
    }
    return cut;
}

void ProblemOnDevice::place(const Problem& p) {
    // A negative scale is a negative Q: kernels take the maximum of Q Kᵀ before they scale it.
    const double sign = p.softmax_scale() < 0 ? -1 : 1;
    std::vector<Matrix> Q, K, V, dO;
    for (int h = 0; h < a.heads; ++h) {
        const Problem one = a.heads == 1 ? p : head_alone(p, h);
        Q.push_back(one.Q);
        if (rung.direction == Direction::backward) dO.push_back(output_gradient(one));
        if (h % (a.heads / a.kv_heads) == 0) K.push_back(one.K), V.push_back(one.V);
    }
    a.Q = input(Q, sign), a.K = input(K), a.V = input(V);
    a.O = take_tensor(a.N_q, a.heads);
    a.L = take_floats(std::int64_t(a.heads) * a.N_q);
    if (rung.direction == Direction::backward) {
        a.dO = input(dO), a.dQ = take_tensor(a.N_q, a.heads);
        a.dK = take_tensor(a.N_kv, a.kv_heads), a.dV = take_tensor(a.N_kv, a.kv_heads);
    }
    a.workspace = take(rung.workspace(a, type));
}

bool ProblemOnDevice::run_forward() {
    if (rung.direction != Direction::backward) return true;
    const Rung* const forward = forward_rung(device, a, type);
    if (forward) run(*forward);
    return forward != nullptr;
}

void ProblemOnDevice::pretend_keys(int keys) {
    const int more = keys - a.N_kv;
    if (more <= 0) return;
    a.N_kv = keys;
    if (a.before < Arguments::unlimited) a.before += more;
    if (a.after < Arguments::unlimited) a.after -= more;
    a.workspace = take(rung.workspace(a, type));
}

std::vector<ProblemOnDevice::Written> ProblemOnDevice::outputs(const Problem& p) {
    const int d = static_cast<int>(p.d()), rows = static_cast<int>(p.N()), keys = static_cast<int>(p.N_kv());
    std::vector<Written> all;
    const auto add = [&](const char* name, const Tensor& tensor, int heads, int of) {
        for (int h = 0; h < heads; ++h) all.push_back({name, h, of, output(tensor, of, d, h)});
    };
    if (rung.direction == Direction::forward) return add("O", a.O, a.heads, rows), all;
    add("dQ", a.dQ, a.heads, rows), add("dK", a.dK, a.kv_heads, keys), add("dV", a.dV, a.kv_heads, keys);
    return all;
}

void ProblemOnDevice::run(const Rung& which) {
    device.run(which, a, type);
    expect_well(device);
}

}  // namespace tilewalk::gpu

#include "cuda/host/problem_on_device.h"

#include "core/compare/kernel_compare.h"
#include "core/problem/precision.h"

#include <algorithm>
#include <cfloat>

namespace tilewalk::gpu {

namespace {

constexpr int head_dimensions[] = {32, 64, 96, 128, 256};

Arguments sizes_of(const Problem& p, int d) {
    Arguments a;
    a.N_q = p.N(), a.N_kv = p.N_kv(), a.d = d;
    // With a scale of 0, −∞ · scale would be NaN; the smallest normal number leaves every score at 0.
    const double scale = std::abs(p.softmax_scale());
    a.scale = std::max(static_cast<float>(scale), FLT_MIN);
    if (p.window) a.before = *p.window < Arguments::unlimited ? *p.window : Arguments::unlimited;
    if (p.causal || p.window) a.after = p.causal ? 0 : a.before;
    return a;
}

}  // namespace

Result<Arguments> fitting(const Rung& rung, const Problem& p, DType type, const Chip& chip) {
    std::string why = rung.refuse(sizes_of(p, p.d()), type, chip);
    if (why.empty()) return sizes_of(p, p.d());
    for (int d : head_dimensions) {
        if (d <= p.d()) continue;
        const std::string reason = rung.refuse(sizes_of(p, d), type, chip);
        if (reason.empty()) return sizes_of(p, d);
        why = reason;
    }
    return Failure{std::string(rung.name) + " does not take this problem: " + why + "."};
}

Tensor ProblemOnDevice::take_tensor(std::int64_t rows) {
    const std::int64_t size = std::max(rows, room) * a.d;
    const Tensor tensor{take(size * bytes_of(type)), size, size, a.d};
    if (room > 0) device.fill(tensor.data, 0, size * bytes_of(type));
    return tensor;
}

// Rows of the problem in the kernel's format, zeros from column A.cols() on.
Tensor ProblemOnDevice::input(const Matrix& A, double factor) {
    const Tensor tensor = take_tensor(A.rows());
    std::vector<float> values(static_cast<std::size_t>(A.rows() * a.d), 0.0f);
    for (Eigen::Index r = 0; r < A.rows(); ++r)
        for (Eigen::Index c = 0; c < A.cols(); ++c)
            values[static_cast<std::size_t>(r * a.d + c)] =
                static_cast<float>(round_to(format_of(type), factor * A(r, c)));
    upload(device, tensor.data, values, type);
    return tensor;
}

std::vector<float> ProblemOnDevice::output(const Tensor& tensor, int rows, int columns) {
    const std::vector<float> all = download(device, tensor.data, rows * tensor.row, type);
    std::vector<float> cut;
    for (int r = 0; r < rows; ++r) {
        const auto row = all.begin() + static_cast<std::ptrdiff_t>(r * tensor.row);
        cut.insert(cut.end(), row, row + columns);
    }
    return cut;
}

void ProblemOnDevice::place(const Problem& p) {
    // A negative scale is a negative Q: kernels take the maximum of Q Kᵀ before they scale it.
    const double sign = p.softmax_scale() < 0 ? -1 : 1;
    a.Q = input(p.Q, sign), a.K = input(p.K), a.V = input(p.V);
    a.O = take_tensor(a.N_q);
    a.L = take_floats(a.N_q);
    if (rung.direction == Direction::backward) {
        a.dO = input(output_gradient(p));
        a.dQ = take_tensor(a.N_q), a.dK = take_tensor(a.N_kv), a.dV = take_tensor(a.N_kv);
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
    if (rung.direction == Direction::forward) return {{"O", rows, output(a.O, rows, d)}};
    return {{"dQ", rows, output(a.dQ, rows, d)},
            {"dK", keys, output(a.dK, keys, d)},
            {"dV", keys, output(a.dV, keys, d)}};
}

void ProblemOnDevice::run(const Rung& which) {
    device.run(which, a, type);
    expect_well(device);
}

}  // namespace tilewalk::gpu

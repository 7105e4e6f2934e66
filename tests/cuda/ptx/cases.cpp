#include "tests/cuda/ptx/cases.h"

#include "core/bench/verify.h"
#include "cuda/host/arguments_of.h"
#include "cuda/host/device_memory.h"
#include "cuda/host/open_cuda.h"
#include "tests/cuda/ptx/turns.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>

namespace tilewalk::ptx {

namespace {

using gpu::Arguments;
using gpu::Rung;

const Rung& rung_called(const std::string& name) {
    for (const Rung* rung : gpu::cuda_ladder())
        if (name == rung->name) return *rung;
    throw Error("There is no rung " + name);
}

/// One tensor on the device; elements between its rows are NaN.
struct Placed {
    gpu::Tensor tensor;
    std::int64_t batches, heads, N, d, size;

    template <class F> void each(F&& f) const {
        std::size_t n = 0;
        for (std::int64_t b = 0; b < batches; ++b)
            for (std::int64_t h = 0; h < heads; ++h)
                for (std::int64_t r = 0; r < N; ++r)
                    for (std::int64_t c = 0; c < d; ++c)
                        f(static_cast<std::size_t>(b * tensor.batch + h * tensor.head + r * tensor.row + c),
                          n++);
    }
};

class Run {
public:
    Run(const Case& of, const Tensors& inputs)
        : c(of), in(inputs), memory(device), a(gpu::arguments_of(of.w, {})) {}

    Tensors go(std::string& wrong) {
        const Rung& rung = rung_called(c.kernel);
        const Workload& w = c.w;
        a.Q = input(in.Q, w.heads, w.N_q), a.K = input(in.K, w.kv_heads, w.N_kv),
        a.V = input(in.V, w.kv_heads, w.N_kv);
        const Placed O = place(w.heads, w.N_q), none{};
        a.O = O.tensor;
        a.L = static_cast<float*>(take(4 * w.q_rows()));
        const bool backward = rung.direction == Direction::backward;
        Placed dQ = none, dK = none, dV = none;
        if (backward) {
            a.dO = input(in.dO, w.heads, w.N_q);
            dQ = place(w.heads, w.N_q), dK = place(w.kv_heads, w.N_kv), dV = place(w.kv_heads, w.N_kv);
            a.dQ = dQ.tensor, a.dK = dK.tensor, a.dV = dV.tensor;
            run(*gpu::forward_rung(*device, a, w.dtype));
        }
        run(rung);
        wrong = device->failure();
        if (!wrong.empty()) return {};
        Tensors out;
        out.L = gpu::download(*device, a.L, w.q_rows(), DType::f32);
        out.O = output(O, wrong);
        if (backward) out.dQ = output(dQ, wrong), out.dK = output(dK, wrong), out.dV = output(dV, wrong);
        return out;
    }

private:
    void* take(std::int64_t bytes) { return pieces.emplace_back(memory.take(bytes)).get(); }

    Placed place(std::int64_t heads, std::int64_t N) {
        const std::int64_t d = c.w.d;
        // A multiple of 16 bytes, as the kernels ask for
        const std::int64_t gap = c.layout == Layout::padded ? 8 * ++tensors : 0;
        Placed p{{}, c.w.batch, heads, N, d, 0};
        p.tensor.row = c.layout == Layout::bshd ? heads * d : d + gap;
        p.tensor.head = c.layout == Layout::bshd ? d : N * p.tensor.row;
        p.tensor.batch = c.layout == Layout::bshd ? N * p.tensor.row : heads * p.tensor.head;
        p.size = p.batches * p.tensor.batch;
        p.tensor.data = take(p.size * bytes_of(c.w.dtype));
        return p;
    }
    gpu::Tensor input(const std::vector<float>& values, std::int64_t heads, std::int64_t N) {
        const Placed p = place(heads, N);
        std::vector<float> all(static_cast<std::size_t>(p.size), std::numeric_limits<float>::quiet_NaN());
        p.each([&](std::size_t to, std::size_t n) { all[to] = values[n]; });
        gpu::upload(*device, p.tensor.data, all, c.w.dtype);
        return p.tensor;
    }
    std::vector<float> output(const Placed& p, std::string& wrong) {
        std::vector<float> all = gpu::download(*device, p.tensor.data, p.size, c.w.dtype), rows;
        p.each([&](std::size_t from, std::size_t) {
            rows.push_back(all[from]);
            all[from] = std::numeric_limits<float>::quiet_NaN();
        });
        if (std::any_of(all.begin(), all.end(), [](float x) { return !std::isnan(x); }))
            wrong = "It wrote between the rows of an output.";
        return rows;
    }
    void run(const Rung& rung) {
        // The workspace is exactly as large as the rung says
        const std::int64_t bytes = rung.workspace(a, c.w.dtype);
        const auto workspace = memory.take(bytes);
        a.workspace = workspace.get();
        device->prepare(rung, a, c.w.dtype);
        device->run(rung, a, c.w.dtype);
    }

    const Case& c;
    const Tensors& in;
    std::string why_not;
    std::shared_ptr<gpu::Device> device = gpu::open_cuda(why_not);
    gpu::DeviceMemory memory;
    std::vector<gpu::DeviceMemory::Piece> pieces;  ///< after the memory that they are of
    Arguments a;
    int tensors = 0;
};

void set_up(const Case& c) {
    setup().capability = c.capability;
    setup().schedule = c.schedule;
}

std::string judged(const Case& c, const Tensors& out, const Tensors& in) {
    const Rung& rung = rung_called(c.kernel);
    KernelInfo kernel;
    kernel.materialises = rung.materialises;
    kernel.P_from_L = rung.direction == Direction::backward && !rung.materialises;
    const KernelVerdict verdict = verify_outputs(out, c.w, in, kernel);
    return verdict.passed ? "" : verdict.sentence;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), 4 * a.size()) == 0);
}

constexpr Schedule schedules[] = {{Schedule::Warps::in_turns, true, false},
                                  {Schedule::Warps::first_ahead, true, true},
                                  {Schedule::Warps::last_ahead, false, false},
                                  {Schedule::Warps::first_ahead, false, false}};

const char* name_of(Layout layout) {
    constexpr const char* names[] = {"bhsd", "bshd", "padded"};
    return names[static_cast<int>(layout)];
}
std::string name_of(const Schedule& s) {
    constexpr const char* names[] = {"in turns", "the first ahead", "the last ahead"};
    return std::string("warps ") + names[static_cast<int>(s.warps)] + ", copies " +
           (s.late_copies ? "late" : "early") + (s.blocks_backwards ? ", blocks backwards" : "");
}

// Whether nvcc emits something else for it than for compute capability 8.0: 7.5 has other matrix products and
// no copies in the background, 9.0 an instruction that makes a float of a bf16, of which these two rungs are
// enough.
bool differs(const Rung& rung, DType type, int capability) {
    const std::string name = rung.name;
    if (capability == 75) return type == DType::f16 && !rung.materialises;
    if (capability == 90) return type == DType::bf16 && (name == "f5-flash2" || name == "b2-tensor-core");
    return true;
}

// N_q, N_kv, batch, heads, heads of K and V, causal, window
struct Shape {
    std::int64_t N_q, N_kv, batch, heads, kv_heads;
    bool causal;
    std::int64_t window;  ///< −1: none
};
constexpr Shape shapes[] = {
    {1, 1, 1, 1, 1, false, -1},    {17, 45, 1, 2, 1, false, -1},   {70, 150, 1, 2, 2, true, -1},
    {200, 130, 2, 3, 1, true, -1}, {150, 150, 1, 1, 1, false, 20}, {140, 260, 1, 4, 2, true, 64},
    {3, 500, 2, 6, 2, false, -1},  {129, 257, 1, 1, 1, false, -1}, {64, 128, 1, 2, 1, false, 0},
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.kernel << ", " << describe(c.w) << ", N = " << c.w.N_q << ", " << c.w.N_kv << ", "
               << name_of(c.layout) << ", " << name_of(c.schedule) << ", compute capability "
               << c.capability / 10 << "." << c.capability % 10;
}

std::vector<std::string> rung_names() {
    std::vector<std::string> names;
    for (const Rung* rung : gpu::cuda_ladder()) names.push_back(rung->name);
    return names;
}

std::vector<Case> all_cases() {
    std::vector<Case> all;
    for (int capability : {80, 75, 90})
        for (const Rung* rung : gpu::cuda_ladder())
            for (DType type : {DType::f32, DType::f16, DType::bf16}) {
                if (!differs(*rung, type, capability)) continue;
                const gpu::Chip chip = chip_of(capability);
                std::vector<std::int64_t> dims;
                for (std::int64_t d : {32, 64, 96, 128, 256}) {
                    Workload w;
                    w.d = d;
                    if (rung->refuse(gpu::arguments_of(w, {}), type, chip).empty()) dims.push_back(d);
                }
                for (const Turn& turn : turns(std::size(shapes), 3, dims.size(), std::size(schedules))) {
                    const Shape& s = shapes[turn.shape];
                    Case c{rung->name, {},        static_cast<Layout>(turn.layout), schedules[turn.schedule],
                           capability, all.size()};
                    c.w.direction = rung->direction, c.w.dtype = type, c.w.d = dims[turn.d];
                    c.w.N_q = s.N_q, c.w.N_kv = s.N_kv, c.w.batch = s.batch;
                    c.w.heads = s.heads, c.w.kv_heads = s.kv_heads, c.w.causal = s.causal;
                    if (s.window >= 0) c.w.window = s.window;
                    all.push_back(c);
                }
            }
    return all;
}

Tensors outputs_of(const Case& c, const Tensors& inputs, std::string& wrong) {
    set_up(c);
    return Run(c, inputs).go(wrong);
}

std::string verify(const Case& c) {
    const Tensors in = make_inputs(c.w, c.seed);
    std::string wrong;
    const Tensors out = outputs_of(c, in, wrong);
    return wrong.empty() ? judged(c, out, in) : wrong;
}

std::string verify_schedules(const Case& of) {
    const Tensors in = make_inputs(of.w, of.seed);
    std::string wrong;
    Case c = of;
    std::optional<Tensors> first;
    for (const Schedule& schedule : schedules) {
        c.schedule = schedule;
        const Tensors out = outputs_of(c, in, wrong);
        if (wrong.empty()) wrong = judged(c, out, in);
        if (!wrong.empty()) return name_of(schedule) + ": " + wrong;
        if (!first) first = out;
        const bool sums_by_atomics = c.kernel == "b1-recompute-fp32" || c.kernel == "b2-tensor-core";
        const auto differ = [&](const char* what) {
            return std::string(what) + " depends on the schedule: not the same with " + name_of(schedule);
        };
        if (!same_bits(first->O, out.O) || !same_bits(first->L, out.L)) return differ("the output");
        if (!same_bits(first->dK, out.dK) || !same_bits(first->dV, out.dV)) return differ("dK or dV");
        if (!sums_by_atomics && !same_bits(first->dQ, out.dQ)) return differ("dQ");
    }
    return "";
}

}  // namespace tilewalk::ptx

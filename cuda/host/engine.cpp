// The ladder of CUDA as an engine: memory planned before it is taken, counted, and given back on every path.
#include "cuda/host/engine.h"

#include "core/base/numbers.h"
#include "core/engine/report.h"
#include "cuda/host/arguments_of.h"
#include "cuda/host/device_memory.h"
#include "cuda/host/emulator.h"
#include "cuda/host/gpu.h"
#include "cuda/host/open_cuda.h"

namespace tilewalk::gpu {

namespace {

Arguments sizes_of(const Workload& w) { return arguments_of(w, {}); }

// A sentence if the memory does not suffice.
std::optional<std::string> refuse_memory(Device& device, const Rung& rung, const Workload& w) {
    const std::int64_t own = rung.workspace(sizes_of(w), w.dtype), needed = tensor_bytes(w) + own,
                       free = device.free_bytes();
    expect_well(device);  // which may not have said how much is free
    if (needed <= free) return std::nullopt;
    std::string text =
        std::string(rung.name) + " at N = " + format_count(w.N_q) + " needs " + format_size(needed);
    if (own > 0)
        text += ", " + format_size(own) + " of it for " + (rung.materialises ? "S and P" : "its workspace");
    return text + "; " + format_size(free) + " are free.";
}

class PreparedOnDevice : public Prepared {
public:
    PreparedOnDevice(std::shared_ptr<Device> on, const Rung& what, const Workload& workload,
                     const Tensors& inputs);
    std::optional<double> run(std::stop_token stop) override;
    const Tensors& outputs() override;
    std::int64_t workspace_bytes() const override { return workspace.peak(); }

private:
    void* tensor(std::int64_t rows) { return keep(tensors.take(rows * w.d * bytes_of(w.dtype))); }
    void* input(const std::vector<float>& values, std::int64_t rows) {
        void* const to = tensor(rows);
        upload(*device, to, values, w.dtype);
        return to;
    }
    void* keep(DeviceMemory::Piece piece) { return pieces.emplace_back(std::move(piece)).get(); }
    void run_forward();

    std::shared_ptr<Device> device;
    const Rung& rung;
    Workload w;
    DeviceMemory tensors, workspace;
    std::vector<DeviceMemory::Piece> pieces;  ///< after the memory that they are of
    Arguments a;
    Tensors out;
    bool fresh = false;  ///< `out` is of the last run
};

PreparedOnDevice::PreparedOnDevice(std::shared_ptr<Device> on, const Rung& what, const Workload& workload,
                                   const Tensors& in)
    : device(std::move(on)), rung(what), w(workload), tensors(device), workspace(device) {
    DeviceTensors t;
    t.Q = input(in.Q, w.q_rows()), t.K = input(in.K, w.kv_rows()), t.V = input(in.V, w.kv_rows());
    t.O = tensor(w.q_rows());
    t.L = static_cast<float*>(keep(tensors.take(4 * w.q_rows())));
    if (w.direction == Direction::backward) {
        t.dO = input(in.dO, w.q_rows());
        t.dQ = tensor(w.q_rows()), t.dK = tensor(w.kv_rows()), t.dV = tensor(w.kv_rows());
    }
    a = arguments_of(w, t);
    if (w.direction == Direction::backward) run_forward();
    a.workspace = keep(workspace.take(rung.workspace(a, w.dtype)));
    device->prepare(rung, a, w.dtype);
    expect_well(*device);
}

// O and L. Its workspace goes back before that of the backward pass is taken.
void PreparedOnDevice::run_forward() {
    const Rung& forward = *forward_rung(*device, a, w.dtype);
    const DeviceMemory::Piece passing = workspace.take(forward.workspace(a, w.dtype));
    a.workspace = passing.get();
    device->run(forward, a, w.dtype);
    expect_well(*device);
}

std::optional<double> PreparedOnDevice::run(std::stop_token stop) {
    if (stop.stop_requested()) return std::nullopt;
    device->flush_caches();
    fresh = false;
    const double seconds = device->run(rung, a, w.dtype);
    expect_well(*device);
    return seconds;
}

const Tensors& PreparedOnDevice::outputs() {
    if (fresh) return out;
    const std::int64_t q = w.q_rows() * w.d, kv = w.kv_rows() * w.d;
    out.O = download(*device, a.O.data, q, w.dtype);
    out.L = download(*device, a.L, w.q_rows(), DType::f32);
    if (w.direction == Direction::backward) {
        out.dQ = download(*device, a.dQ.data, q, w.dtype);
        out.dK = download(*device, a.dK.data, kv, w.dtype);
        out.dV = download(*device, a.dV.data, kv, w.dtype);
    }
    expect_well(*device);
    fresh = true;
    return out;
}

class DeviceEngine : public Engine {
public:
    DeviceEngine(std::string called, std::shared_ptr<Device> over, const std::vector<const Rung*>& rungs,
                 std::string why)
        : name(std::move(called)), gpu(std::move(over)), why_none(std::move(why)), ladder(rungs) {
        for (const Rung* rung : ladder)
            infos.push_back({rung->name, rung->title, rung->teaches, rung->file, rung->materialises,
                             rung->direction, rung->direction == Direction::backward && !rung->materialises,
                             rung->most_queries});
    }
    std::string device() const override { return name; }
    void describe(Machine& machine) const override;
    std::optional<std::string> why_not() const override {
        if (!gpu) return why_none;
        const std::string failure = gpu->failure();
        return failure.empty() ? std::nullopt : std::optional(failure);
    }
    std::span<const KernelInfo> kernels() const override { return infos; }
    std::optional<std::string> why_not(const KernelInfo& kernel, const Workload& w) const override;
    std::int64_t model_bytes(const KernelInfo& kernel, const Workload& w) const override {
        return rung_of(kernel).workspace(sizes_of(w), w.dtype);
    }
    std::unique_ptr<Prepared> prepare(const KernelInfo& kernel, const Workload& w, const Tensors& inputs,
                                      std::stop_token stop) override;
    double measure_peak(DType type, std::stop_token stop) override {
        if (!gpu || stop.stop_requested()) return 0;
        const double rate = gpu->product_rate(type);
        try {
            expect_well(*gpu);
        } catch (const KernelFailed&) {
            return 0;  // nothing to compare with, and nothing else is missing
        }
        return rate;
    }
    std::optional<std::int64_t> memory_free() const override { return gpu ? gpu->free_bytes() : 0; }

private:
    const Rung& rung_of(const KernelInfo& kernel) const {
        for (const Rung* rung : ladder)
            if (rung->name == kernel.name) return *rung;
        throw std::invalid_argument("no CUDA kernel is called " + kernel.name);
    }
    std::string name;
    std::shared_ptr<Device> gpu;  ///< shared with what was prepared, which may outlive the engine
    std::string why_none;
    std::vector<const Rung*> ladder;
    std::vector<KernelInfo> infos;
};

void DeviceEngine::describe(Machine& machine) const {
    const Probe found = probe();
    if (name != name_of(Where::cuda) || found.devices.empty()) return;
    machine.gpu = found.devices.front().name;
    machine.driver = found.driver_version;
}

std::optional<std::string> DeviceEngine::why_not(const KernelInfo& kernel, const Workload& w) const {
    if (auto reason = refuse_sizes(w)) return reason;
    const Rung& rung = rung_of(kernel);
    if (rung.direction != w.direction) return std::string("it computes ") + name_of(rung.direction) + " only";
    const std::string reason = rung.refuse(sizes_of(w), w.dtype, gpu ? gpu->chip : Chip{});
    if (!reason.empty()) return reason;
    if (gpu && w.direction == Direction::backward && !forward_rung(*gpu, sizes_of(w), w.dtype))
        return "no forward kernel takes these sizes, to give it O and L";
    return std::nullopt;
}

std::unique_ptr<Prepared> DeviceEngine::prepare(const KernelInfo& kernel, const Workload& w,
                                                const Tensors& inputs, std::stop_token stop) {
    if (!gpu) throw EngineFailed("There is no GPU to run on: " + why_none + ".");
    expect_well(*gpu);
    if (stop.stop_requested()) return nullptr;
    const Rung& rung = rung_of(kernel);
    if (auto sentence = refuse_memory(*gpu, rung, w)) throw NoMemory(*sentence);
    return std::make_unique<PreparedOnDevice>(gpu, rung, w, inputs);
}

}  // namespace

std::unique_ptr<Engine> engine_over(std::string name, std::shared_ptr<Device> device,
                                    const std::vector<const Rung*>& ladder, std::string why_none) {
    return std::make_unique<DeviceEngine>(std::move(name), std::move(device), ladder, std::move(why_none));
}

std::unique_ptr<Engine> make_engine(Where where) {
    std::shared_ptr<Device> emulator = open_emulator();
    if (where == Where::emulator) return engine_over(name_of(where), emulator, emulator->ladder());
    std::string why_not;
    if (std::shared_ptr<Device> gpu = open_cuda(why_not))
        return engine_over(name_of(where), gpu, gpu->ladder());
    return engine_over(name_of(where), nullptr, emulator->ladder(), why_not);
}

}  // namespace tilewalk::gpu

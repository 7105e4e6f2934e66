// The CPU as an engine: the ladder of its kernels, and how one is prepared and timed.
#include "core/base/words.h"
#include "core/cpu/kernel.h"
#include "core/engine/report.h"

#include <array>
#include <chrono>
#include <stdexcept>

namespace tilewalk::cpu {

namespace {

std::array<const Rung*, 5> ladder() {
    return {&standard(), &flash_eigen(), &flash(), &read_kv(), &split_kv()};
}

class PreparedOnCpu : public Prepared {
public:
    PreparedOnCpu(const Rung& rung, const Workload& w, const Tensors& in, std::shared_ptr<ThreadPool> threads,
                  std::stop_token stop)
        : direction(w.direction), pool(std::move(threads)), memory(stop) {
        const auto make = [&](std::vector<float>& tensor, std::int64_t size) {
            // Not zeros: what a kernel forgets to write must be seen.
            tensor.assign(static_cast<std::size_t>(size), std::numeric_limits<float>::quiet_NaN());
            return tensor.data();
        };
        views.Q = in.Q.data(), views.K = in.K.data(), views.V = in.V.data();
        views.O = make(out.O, w.q_rows() * w.d);
        views.L = make(out.L, w.q_rows());
        if (direction == Direction::backward) {
            views.dO = in.dO.data();
            views.dQ = make(out.dQ, w.q_rows() * w.d);
            views.dK = make(out.dK, w.kv_rows() * w.d);
            views.dV = make(out.dV, w.kv_rows() * w.d);
        }
        kernel = rung.make(w, *pool, memory);
        if (direction == Direction::backward) kernel->forward(views, stop);
        if (stop.stop_requested()) throw Stopped();
    }

    std::optional<double> run(std::stop_token stop) override {
        using Clock = std::chrono::steady_clock;
        const Clock::time_point begin = Clock::now();
        if (direction == Direction::forward)
            kernel->forward(views, stop);
        else
            kernel->backward(views, stop);
        const Clock::time_point end = Clock::now();
        if (stop.stop_requested()) return std::nullopt;
        return std::chrono::duration<double>(end - begin).count();
    }

    const Tensors& outputs() override { return out; }
    std::int64_t workspace_bytes() const override { return memory.peak(); }

private:
    Direction direction;
    std::shared_ptr<ThreadPool> pool;
    Tensors out;
    Views views{};  ///< of the inputs and of `out`
    CountedMemory memory;
    std::unique_ptr<Kernel> kernel;  ///< after the memory that it gives back
};

class CpuEngine : public Engine {
public:
    explicit CpuEngine(int threads) : pool(std::make_shared<ThreadPool>(threads)) {
        for (const Rung* rung : ladder()) infos.push_back(rung->info);
    }
    std::string device() const override { return "cpu"; }
    std::optional<std::string> why_not() const override { return std::nullopt; }
    std::span<const KernelInfo> kernels() const override { return infos; }
    std::optional<std::string> why_not(const KernelInfo& kernel, const Workload& w) const override {
        if (w.dtype != DType::f32) return "the CPU kernels compute in f32";
        if (kernel.direction.value_or(w.direction) != w.direction)
            return std::string("it computes ") + name_of(*kernel.direction) + " only";
        if (kernel.most_queries > 0 && w.N_q > kernel.most_queries)
            return "it takes up to " + str(kernel.most_queries) + " queries";
        if (kernel.yardstick && w.window) return "it reads all keys, most of which a window hides";
        return refuse(w);
    }
    std::int64_t model_bytes(const KernelInfo& kernel, const Workload& w) const override {
        return rung_of(kernel).workspace(w, pool->threads());
    }
    std::unique_ptr<Prepared> prepare(const KernelInfo& kernel, const Workload& w, const Tensors& inputs,
                                      std::stop_token stop) override {
        try {
            return std::make_unique<PreparedOnCpu>(rung_of(kernel), w, inputs, pool, stop);
        } catch (const Stopped&) {
            return nullptr;
        }
    }
    void describe(Machine& machine) const override {
        machine.threads = pool->threads();
        machine.instructions = instruction_set();
        machine.product_library = product_library();
    }
    double measure_peak(DType, std::stop_token stop) override { return multiply_add_peak(*pool, stop); }

private:
    static const Rung& rung_of(const KernelInfo& kernel) {
        for (const Rung* rung : ladder())
            if (rung->info.name == kernel.name) return *rung;
        throw std::invalid_argument("no CPU kernel is called " + kernel.name);
    }
    std::shared_ptr<ThreadPool> pool;  ///< shared with what was prepared, which may outlive the engine
    std::vector<KernelInfo> infos;
};

}  // namespace

std::unique_ptr<Engine> make_engine(int threads) {
    return std::make_unique<CpuEngine>(threads > 0 ? threads : usable_cores());
}

}  // namespace tilewalk::cpu

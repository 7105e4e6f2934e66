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

// Tensors of 16 bits in memory
using Halves = std::vector<std::uint16_t>;
constexpr std::uint16_t nan_of_halves = 0x7FFF;  // in f16 and in bf16

Halves halves_of(const std::vector<float>& from, DType type, const std::stop_token& stop) {
    Halves to(from.size());
    constexpr std::size_t some = 1 << 20;
    for (std::size_t at = 0; at < from.size(); at += some) {
        if (stop.stop_requested()) throw Stopped();
        from_floats(from.data() + at, static_cast<std::int64_t>(std::min(some, from.size() - at)),
                    {to.data() + at, type});
    }
    return to;
}

// The inputs as the kernels of a workload of 16 bits read them. Those that were prepared for the same inputs
// share them, as they share inputs in float32: no kernel finds less of them in the caches than another.
struct HalfInputs {
    HalfInputs(const Tensors& in, DType stored, const std::stop_token& stop)
        : of(&in), type(stored), Q(halves_of(in.Q, type, stop)), K(halves_of(in.K, type, stop)),
          V(halves_of(in.V, type, stop)), dO(halves_of(in.dO, type, stop)) {}
    const Tensors* of;
    DType type;
    Halves Q, K, V, dO;
};

class PreparedOnCpu : public Prepared {
public:
    // `halves`: null where the tensors are float32
    PreparedOnCpu(const Rung& rung, const Workload& w, const Tensors& in,
                  std::shared_ptr<const HalfInputs> of_16_bits, std::shared_ptr<ThreadPool> threads,
                  std::stop_token stop)
        : direction(w.direction), type(w.dtype), pool(std::move(threads)), halves(std::move(of_16_bits)),
          memory(stop) {
        view_inputs(in);
        const std::int64_t q = w.q_rows() * w.d, kv = w.kv_rows() * w.d;
        views.O = make(out.O, O, q);
        out.L.assign(static_cast<std::size_t>(w.q_rows()), std::numeric_limits<float>::quiet_NaN());
        views.L = out.L.data();
        if (direction == Direction::backward) {
            views.dQ = make(out.dQ, dQ, q);
            views.dK = make(out.dK, dK, kv);
            views.dV = make(out.dV, dV, kv);
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

    const Tensors& outputs() override {
        for (const auto& [from, to] :
             {std::pair{&O, &out.O}, {&dQ, &out.dQ}, {&dK, &out.dK}, {&dV, &out.dV}}) {
            if (from->empty()) continue;
            to->resize(from->size());
            to_floats({from->data(), type}, static_cast<std::int64_t>(from->size()), to->data());
        }
        return out;
    }
    std::int64_t workspace_bytes() const override { return memory.peak(); }

private:
    void view_inputs(const Tensors& in) {
        if (halves) {
            const auto view = [&](const Halves& tensor) { return Elements(tensor.data(), type); };
            views.Q = view(halves->Q), views.K = view(halves->K), views.V = view(halves->V);
            views.dO = view(halves->dO);
        } else {
            views.Q = in.Q.data(), views.K = in.K.data(), views.V = in.V.data(), views.dO = in.dO.data();
        }
    }
    // Not zeros: what a kernel forgets to write must be seen.
    WritableElements make(std::vector<float>& floats, Halves& stored, std::int64_t elements) const {
        const auto size = static_cast<std::size_t>(elements);
        if (halves) return {(stored = Halves(size, nan_of_halves)).data(), type};
        return (floats = std::vector<float>(size, std::numeric_limits<float>::quiet_NaN())).data();
    }

    Direction direction;
    DType type;
    std::shared_ptr<ThreadPool> pool;
    std::shared_ptr<const HalfInputs> halves;
    Tensors out;
    Halves O, dQ, dK, dV;  ///< what is written, where it is no float32
    Views views{};         ///< of the inputs and of the outputs
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
        if (!takes_16_bits && w.dtype != DType::f32) return "no 16 bits in a browser";
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
            std::shared_ptr<const HalfInputs> halves;
            if (w.dtype != DType::f32) {
                halves = of_16_bits.lock();
                if (!halves || halves->of != &inputs || halves->type != w.dtype)
                    of_16_bits = halves = std::make_shared<const HalfInputs>(inputs, w.dtype, stop);
            }
            return std::make_unique<PreparedOnCpu>(rung_of(kernel), w, inputs, std::move(halves), pool, stop);
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
    std::weak_ptr<const HalfInputs> of_16_bits;  ///< of what was prepared last, while anything of it lives
};

}  // namespace

std::unique_ptr<Engine> make_engine(int threads) {
    return std::make_unique<CpuEngine>(threads > 0 ? threads : usable_cores());
}

}  // namespace tilewalk::cpu

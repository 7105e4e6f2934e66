#include "tests/core/bench/fake_engine.h"

#include "tests/core/cpu/dense.h"

namespace tilewalk::test {

namespace {

// In double, so that it is right by any rule.
Tensors right_outputs(const Workload& w, const Tensors& inputs) {
    const DenseTensors<double> exact = dense_attention<double>(w, inputs);
    const auto rounded = [](const std::vector<double>& x) { return std::vector<float>(x.begin(), x.end()); };
    Tensors out;
    out.O = rounded(exact.O), out.L = rounded(exact.L);
    out.dQ = rounded(exact.dQ), out.dK = rounded(exact.dK), out.dV = rounded(exact.dV);
    return out;
}

class FakePrepared : public Prepared {
public:
    FakePrepared(FakeEngine& from, std::string kernel, const Workload& workload, const Tensors& tensors,
                 std::int64_t bytes)
        : engine(from), name(std::move(kernel)), w(workload), inputs(tensors), workspace(bytes) {
        ++engine.alive;
    }
    ~FakePrepared() override { --engine.alive; }

    std::optional<double> run(std::stop_token stop) override {
        engine.calls.push_back("run " + name + " " + std::to_string(w.N_q));
        if (engine.before_run) engine.before_run(name);
        if (stop.stop_requested()) return std::nullopt;
        if (results.O.empty()) results = right_outputs(w, inputs);
        if (engine.spoil) engine.spoil(name, w, results);
        return engine.seconds ? engine.seconds(name, w) : 1e-3;
    }
    const Tensors& outputs() override { return results; }
    std::int64_t workspace_bytes() const override { return workspace; }

private:
    FakeEngine& engine;
    std::string name;
    Workload w;
    const Tensors& inputs;
    std::int64_t workspace;
    Tensors results;
};

}  // namespace

FakeEngine::FakeEngine(std::vector<FakeKernel> ladder) : fakes(std::move(ladder)) {
    for (const FakeKernel& kernel : fakes)
        infos.push_back({kernel.name, kernel.name, "", "", kernel.bytes_per_score > 0});
}

std::span<const KernelInfo> FakeEngine::kernels() const {
    for (KernelInfo& info : infos) {
        if (const auto one = directions.find(info.name); one != directions.end())
            info.direction = one->second;
        if (const auto few = most_queries.find(info.name); few != most_queries.end())
            info.most_queries = few->second;
    }
    return infos;
}

const FakeKernel& FakeEngine::fake(const KernelInfo& kernel) const {
    for (const FakeKernel& each : fakes)
        if (each.name == kernel.name) return each;
    return fakes.front();
}

std::optional<std::string> FakeEngine::why_not(const KernelInfo& kernel, const Workload& w) const {
    if (w.N_q > fake(kernel).largest_N)
        return "This kernel takes no N above " + std::to_string(fake(kernel).largest_N) + ".";
    return std::nullopt;
}

std::int64_t FakeEngine::model_bytes(const KernelInfo& kernel, const Workload& w) const {
    return fake(kernel).bytes_per_score * w.batch * w.heads * w.N_q * w.N_kv;
}

std::unique_ptr<Prepared> FakeEngine::prepare(const KernelInfo& kernel, const Workload& w,
                                              const Tensors& inputs, std::stop_token stop) {
    calls.push_back("prepare " + kernel.name + " " + std::to_string(w.N_q));
    if (stop.stop_requested()) return nullptr;
    return std::make_unique<FakePrepared>(*this, kernel.name, w, inputs, model_bytes(kernel, w));
}

}  // namespace tilewalk::test

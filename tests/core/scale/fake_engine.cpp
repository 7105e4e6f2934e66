#include "tests/core/scale/fake_engine.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::test {

namespace {

// In double, so that it is right by any rule. One head: rows of Q, O, dO, dQ from `q` on, rows of K, V, dK,
// dV from `kv` on.
struct Head {
    using Sums = std::vector<double>;
    const Workload& w;
    const Tensors& in;
    Tensors& out;
    Sums &dK, &dV;
    std::int64_t q, kv;

    std::size_t at(std::int64_t row) const { return static_cast<std::size_t>(row * w.d); }
    double dot(const float* a, const float* b) const {
        double sum = 0;
        for (std::int64_t c = 0; c < w.d; ++c) sum += static_cast<double>(a[c]) * static_cast<double>(b[c]);
        return sum;
    }
    void add(double* to, double factor, const float* from) const {
        for (std::int64_t c = 0; c < w.d; ++c) to[c] += factor * static_cast<double>(from[c]);
    }

    void row(std::int64_t i) const {
        const std::int64_t first = w.first_key(i), last = w.last_key(i);
        const double scale = 1 / std::sqrt(static_cast<double>(w.d)), infinity = HUGE_VAL;
        Sums P, O(static_cast<std::size_t>(w.d)), dQ = O;
        double m = -infinity, l = 0, D = 0;
        for (std::int64_t j = first; j <= last; ++j) {
            P.push_back(scale * dot(&in.Q[at(q + i)], &in.K[at(kv + j)]));
            m = std::max(m, P.back());
        }
        for (double& p : P) l += p = std::exp(p - m);
        out.L[static_cast<std::size_t>(q + i)] = static_cast<float>(l > 0 ? m + std::log(l) : -infinity);
        for (std::int64_t j = first; j <= last; ++j) {
            double& p = P[static_cast<std::size_t>(j - first)];
            p /= l;
            add(O.data(), p, &in.V[at(kv + j)]);
        }
        std::copy(O.begin(), O.end(), &out.O[at(q + i)]);
        if (w.direction == Direction::forward) return;
        for (std::size_t c = 0; c < O.size(); ++c) D += static_cast<double>(in.dO[at(q + i) + c]) * O[c];
        for (std::int64_t j = first; j <= last; ++j) {
            const double p = P[static_cast<std::size_t>(j - first)];
            const double dS = scale * p * (dot(&in.dO[at(q + i)], &in.V[at(kv + j)]) - D);
            add(&dV[at(kv + j)], p, &in.dO[at(q + i)]);
            add(dQ.data(), dS, &in.K[at(kv + j)]);
            add(&dK[at(kv + j)], dS, &in.Q[at(q + i)]);
        }
        std::copy(dQ.begin(), dQ.end(), &out.dQ[at(q + i)]);
    }
};

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
        if (results.O.empty()) results = dense_attention(w, inputs);
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

Tensors dense_attention(const Workload& w, const Tensors& inputs) {
    const auto q = static_cast<std::size_t>(w.q_rows()), kv = static_cast<std::size_t>(w.kv_rows()),
               d = static_cast<std::size_t>(w.d);
    Tensors out;
    std::vector<double> dK(kv * d), dV(kv * d);
    out.O.resize(q * d), out.L.resize(q);
    if (w.direction == Direction::backward)
        out.dQ.resize(q * d), out.dK.resize(kv * d), out.dV.resize(kv * d);
    for (std::int64_t b = 0; b < w.batch; ++b)
        for (std::int64_t h = 0; h < w.heads; ++h) {
            const std::int64_t group = h / (w.heads / w.kv_heads);
            const Head head{
                w, inputs, out, dK, dV, (b * w.heads + h) * w.N_q, (b * w.kv_heads + group) * w.N_kv};
            for (std::int64_t i = 0; i < w.N_q; ++i) head.row(i);
        }
    std::copy(dK.begin(), dK.begin() + std::ssize(out.dK), out.dK.begin());
    std::copy(dV.begin(), dV.begin() + std::ssize(out.dV), out.dV.begin());
    return out;
}

FakeEngine::FakeEngine(std::vector<FakeKernel> ladder) : fakes(std::move(ladder)) {
    for (const FakeKernel& kernel : fakes)
        infos.push_back({kernel.name, kernel.name, "", "", kernel.bytes_per_score > 0});
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

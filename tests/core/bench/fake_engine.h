// An engine for tests of whatever drives engines: dense attention in double, and it does as it is told.
#pragma once

#include "core/engine/engine.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tilewalk::test {

using namespace tilewalk;  // for the tests that say `using namespace tilewalk::test`

struct FakeKernel {
    std::string name;
    std::int64_t bytes_per_score = 0;  ///< of workspace; 0: it holds none
    std::int64_t largest_N = 1 << 20;  ///< what is longer it does not take
};

class FakeEngine : public Engine {
public:
    explicit FakeEngine(std::vector<FakeKernel> ladder = {{"standard", 8, 1 << 20}, {"flash", 0, 1 << 20}});

    // What a test may turn.
    std::function<void(const std::string& kernel, const Workload&, Tensors&)> spoil;  ///< after each run
    std::function<double(const std::string& kernel, const Workload&)> seconds;  ///< that a run says it took
    std::function<void(const std::string& kernel)> before_run;
    std::function<double()> peak = [] { return 1e12; };
    std::vector<std::string> calls;                    ///< "prepare flash 64", "run flash 64"
    std::map<std::string, Direction> directions;       ///< of kernels that have one alone
    std::map<std::string, std::int64_t> most_queries;  ///< of kernels for few queries
    std::optional<std::int64_t> own_memory;            ///< free bytes of the device
    std::string name = "fake";
    int alive = 0;  ///< prepared kernels that are still there

    std::string device() const override { return name; }
    std::optional<std::string> why_not() const override { return std::nullopt; }
    std::span<const KernelInfo> kernels() const override;
    std::optional<std::int64_t> memory_free() const override { return own_memory; }
    std::optional<std::string> why_not(const KernelInfo& kernel, const Workload& w) const override;
    std::int64_t model_bytes(const KernelInfo& kernel, const Workload& w) const override;
    std::unique_ptr<Prepared> prepare(const KernelInfo& kernel, const Workload& w, const Tensors& inputs,
                                      std::stop_token stop) override;
    double measure_peak(DType, std::stop_token) override { return peak(); }

private:
    const FakeKernel& fake(const KernelInfo& kernel) const;
    std::vector<FakeKernel> fakes;
    mutable std::vector<KernelInfo> infos;
};

}  // namespace tilewalk::test

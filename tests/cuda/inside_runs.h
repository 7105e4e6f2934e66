// Runs of the ladder's kernels that are walked through, as many as a test goes over.
#pragma once

#include "core/inside/origin.h"
#include "cuda/host/gpu.h"

#include <memory>
#include <string>
#include <vector>

namespace tilewalk::inside::test {

/// One launch's first block.
struct WalkedLaunch {
    const Launch& launch;
    const BlockRecord& block;
    Steps steps;
    Origins origins;

    WalkedLaunch(const Record& record, const Launch& of)
        : launch(of), block(of.blocks.front()), steps(record, of, block), origins(record, block, steps) {}
    const Event& event(int warp, int k) const { return block.events[steps.event(warp, k)]; }
    /// f(warp, step, its event) for each step of each warp.
    template <class F> void each(F&& f) const {
        for (int warp = 0; warp < steps.warps(); ++warp)
            for (int k = 0; k < steps.count(warp); ++k) f(warp, k, event(warp, k));
    }
};

/// A kernel's run on a random problem, block 0 of each launch.
struct WalkedRun {
    Problem problem;
    Record record;
    std::vector<std::unique_ptr<WalkedLaunch>> launches;

    WalkedRun(const std::string& kernel, DType type, const Problem& given);
    bool is_backward() const { return record.kernel.starts_with("b"); }
};

/// Of each kernel of the ladder, with the first type that it takes: f(run). N is no multiple of its tiles.
template <class F> void each_kernel(F&& f) {
    for (const gpu::TraceableKernel& kernel : gpu::traceable_kernels())
        f(WalkedRun(kernel.name, kernel.types.front(), *random_problem(80, 64, 1)));
}

}  // namespace tilewalk::inside::test

// Checks the kernels of the ladder on the GPU of this machine, for cuda/try-on-gpu.sh:
//
//     check_gpu [all|KERNEL] [MOST_SCORES] [DRAWS] [SECONDS]
//
// Every kernel and type over the case matrix, and every traced twin beside the CPU's walk. Each has its share
// of the seconds and a line of its own, state, name and words with tabs between them; a wrong one does not
// hide the others. Ends with 1 where something is wrong, with 2 where nothing ran, with 3 where there is no
// GPU.
#include "core/compare/kernel_compare.h"
#include "cuda/host/arguments_of.h"
#include "cuda/host/gpu.h"
#include "cuda/host/open_cuda.h"
#include "tests/cuda/kernel_cases.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <sstream>

using namespace tilewalk;

namespace {

using Clock = std::chrono::steady_clock;

struct Wanted {
    std::string kernel = "all";
    std::int64_t most_scores = 65536;
    int draws = 2;
    double seconds = 1e9;
    bool all() const { return kernel == "all"; }
};

enum class Outcome { right, wrong, not_run };

// A line for programs: state, kernel and type, words
Outcome say(Outcome outcome, const std::string& name, const std::string& words) {
    constexpr const char* states[] = {"right", "WRONG", "not run"};
    std::cout << states[static_cast<int>(outcome)] << "\t" << name << "\t" << words << std::endl;
    return outcome;
}

// One kernel and type: the first wrong case is told.
Outcome check(gpu::Device& device, const std::string& kernel, DType type, const Wanted& wanted,
              double seconds) {
    const std::string name = kernel + " " + name_of(type);
    const std::vector<KernelCase> cases = case_matrix(kernel, type, wanted.most_scores, wanted.draws);
    const Clock::time_point begin = Clock::now();
    std::string reason = "there is no case";
    std::size_t right = 0, refusals = 0, too_large = 0;
    for (const KernelCase& c : cases) {
        if (std::chrono::duration<double>(Clock::now() - begin).count() > seconds) break;
        if (const auto refusal = refused(c, device.chip)) {
            ++refusals, reason = *refusal;
            continue;
        }
        KernelVerdict verdict;
        try {
            verdict = verify_case_on(device, true, c);
        } catch (const NoMemory& none) {
            ++refusals, ++too_large, reason = none.what();
            continue;
        } catch (const std::runtime_error& failure) {
            verdict.passed = false, verdict.sentence = failure.what();
        }
        if (!verdict.passed && device.lacks_library()) {
            device.recover();
            return say(Outcome::not_run, name, verdict.sentence);
        }
        if (!verdict.passed) {
            device.recover();
            std::ostringstream text;
            text << c << ": " << verdict.sentence;
            // Its own gradients may be right
            const gpu::Rung* const forward = gpu::forward_rung(device, gpu::arguments_of(c.w, {}), type);
            if (c.w.direction == Direction::backward && forward)
                text << " O and L are of " << forward->name << ".";
            return say(Outcome::wrong, name, text.str());
        }
        ++right;
    }
    if (right == 0) return say(Outcome::not_run, name, reason);
    const std::size_t runnable = cases.size() - refusals;
    std::string words = std::to_string(right) + " cases";
    if (right < runnable)
        words = std::to_string(right) + " of " + std::to_string(runnable) + " cases, for want of time";
    if (too_large > 0) words += "; " + std::to_string(too_large) + " did not fit into the GPU's memory";
    return say(Outcome::right, name, words);
}

std::string traced(const gpu::TraceableKernel& kernel, DType type) {
    return kernel.name + " " + name_of(type) + " traced";
}

// The twin that records, beside the CPU's walk of the same tiles
Outcome check_twin(const gpu::TraceableKernel& kernel, DType type) {
    const std::string name = traced(kernel, type);
    for (const auto& [causal, N] : {std::pair{false, 40}, {true, 70}, {true, 150}}) {
        gpu::TraceRequest request;
        request.kernel = kernel.name, request.dtype = type;
        Problem& p = request.problem;
        p.causal = causal;
        const Workload w{.heads = 1, .kv_heads = 1, .N_q = N, .N_kv = N, .d = 64};
        const Tensors in = make_inputs(w, static_cast<std::uint64_t>(N));
        const auto matrix = [&](const std::vector<float>& x) -> Matrix {
            return Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
                       x.data(), N, 64)
                .cast<double>();
        };
        p.Q = matrix(in.Q), p.K = matrix(in.K), p.V = matrix(in.V);
        gpu::TraceFailed how{};
        auto trace = gpu::trace_kernel(gpu::Where::cuda, request, {}, &how);
        if (!trace)
            return say(how == gpu::TraceFailed::no_device ? Outcome::not_run : Outcome::wrong, name,
                       trace.error);
        const auto compared = compare_kernel(std::make_shared<const KernelTrace>(std::move(*trace)));
        if (!compared) return say(Outcome::wrong, name, compared.error);
        const std::string at = "N = " + std::to_string(N) + (causal ? ", causal" : "");
        if (!compared->passed()) return say(Outcome::wrong, name, at + ": an output is beyond the rule");
        if (compared->finding) return say(Outcome::wrong, name, at + ": " + finding_text(*compared));
    }
    return say(Outcome::right, name, "3 problems, tile by tile");
}

int check_all(const Wanted& wanted) {
    std::string why_not;
    std::unique_ptr<gpu::Device> device = gpu::open_cuda(why_not);
    if (!device) {
        std::cout << "There is no GPU to run on: " << why_not << ".\n";
        return 3;
    }
    std::vector<Outcome> outcomes;
    const auto kernels = kernels_and_types();
    const double share = wanted.seconds / (wanted.all() ? static_cast<double>(kernels.size()) : 1);
    for (const auto& [kernel, type] : kernels)
        if (wanted.all() || kernel == wanted.kernel)
            outcomes.push_back(check(*device, kernel, type, wanted, share));
    const gpu::Chip chip = device->chip;
    device.reset();  // tracing opens it for itself
    for (const gpu::TraceableKernel& kernel : gpu::traceable_kernels())
        for (const DType type : kernel.types) {
            if (!kernel.tiles || (!wanted.all() && kernel.name != wanted.kernel)) continue;
            gpu::Arguments a;
            a.N_q = a.N_kv = 64, a.d = 64;
            const std::string reason = rung_called(*gpu::open_emulator(), kernel.name).refuse(a, type, chip);
            outcomes.push_back(reason.empty() ? check_twin(kernel, type)
                                              : say(Outcome::not_run, traced(kernel, type), reason));
        }
    const auto wrong = std::count(outcomes.begin(), outcomes.end(), Outcome::wrong),
               right = std::count(outcomes.begin(), outcomes.end(), Outcome::right);
    std::cout << right << " right, " << wrong << " wrong, "
              << static_cast<std::int64_t>(outcomes.size()) - right - wrong << " not run\n";
    return wrong > 0 ? 1 : right > 0 ? 0 : 2;
}

}  // namespace

int main(int count, char** words) {
    Wanted wanted;
    if (count > 1) wanted.kernel = words[1];
    if (count > 2) wanted.most_scores = std::atoll(words[2]);
    if (count > 3) wanted.draws = std::atoi(words[3]);
    if (count > 4) wanted.seconds = std::atof(words[4]);
    return check_all(wanted);
}

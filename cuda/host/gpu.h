// What the program sees of the CUDA kernels: the GPUs that there are, an engine that runs the ladder on one
// of them or on the emulator, and kernels that write down what they do.
#pragma once

#include "core/base/embedded.h"
#include "core/base/result.h"
#include "core/compare/kernel_trace.h"
#include "core/engine/engine.h"
#include "core/inside/record.h"
#include "cuda/host/probe.h"

#include <atomic>
#include <memory>
#include <span>
#include <stop_token>

namespace tilewalk::gpu {

enum class Where { cuda, emulator };
const char* name_of(Where where);  ///< "cuda", "emulator"

/// The ladder as an engine; device() is "cuda" or "emulator". Without a GPU (or CUDA) the one of `cuda` says
/// why not, and still lists its kernels. The emulator's run() gives seconds that say nothing of a GPU: it is
/// for verifying and tracing.
std::unique_ptr<Engine> make_engine(Where where);

/// A kernel of the ladder that can be set beside the CPU trace.
struct TraceableKernel {
    std::string name, title;
    Direction direction;
    bool tiles;  ///< records its tiles; otherwise its outputs alone
    std::vector<DType> types;
};
std::vector<TraceableKernel> traceable_kernels();

struct TraceRequest {
    std::string kernel = "f5-flash2";
    DType dtype = DType::bf16;
    Problem problem;  ///< Br and Bc are replaced by the kernel's own; switches and precision are left out
    bool S = true, P = true, O = true;  ///< what is recorded beside m, ℓ, α
    KernelFault fault;
};
/// What a failure was of: of what was asked for, of a device that cannot be used, of the run on it.
enum class TraceFailed { input, no_device, device };
/// Runs the kernel's traced twin and, for the outputs, the kernel as it is timed (with a fault the twin's
/// outputs are kept). Refuses with a sentence: unknown kernel, sizes it does not take, more than
/// trace_budget_bytes to record, no device.
Result<KernelTrace> trace_kernel(Where where, const TraceRequest& request, std::stop_token stop = {},
                                 TraceFailed* how = nullptr);
constexpr std::int64_t trace_budget_bytes = 64 << 20;

/// The text of the kernels, by file name: "f5_flash2.cu", "bands.h".
std::span<const EmbeddedFile> kernel_sources();

/// What a kernel does, instruction by instruction, on the emulator (docs/inside.md).
struct RecordRequest {
    std::string kernel = "f5-flash2";
    DType dtype = DType::bf16;
    Problem problem;
    std::vector<int>
        blocks{};  ///< of each launch, by number: their events are kept; counts and races are of all
    std::stop_token stop{};
    std::shared_ptr<std::atomic<int>> blocks_done{};  ///< counted up while it runs, of all launches
};
Result<inside::Record> record_kernel(const RecordRequest& request, TraceFailed* how = nullptr);
constexpr int most_recorded_N = 256, most_recorded_d = 128;

}  // namespace tilewalk::gpu

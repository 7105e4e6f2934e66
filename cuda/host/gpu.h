// What the program sees of the CUDA kernels: the GPUs that there are, an engine that runs the ladder on one
// of them or on the emulator, and kernels that write down what they do.
#pragma once

#include "core/base/embedded.h"
#include "core/base/result.h"
#include "core/compare/kernel_trace.h"
#include "core/engine/engine.h"
#include "core/inside/bridge.h"
#include "core/inside/damage.h"
#include "core/inside/model_time.h"
#include "core/inside/reported.h"
#include "cuda/host/probe.h"

#include <atomic>
#include <functional>
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
/// Whether a chip of that compute capability takes the kernel, in some type or in that one; a kernel that is
/// not of the ladder is taken anywhere.
bool is_taken_by(int capability, const std::string& kernel, std::optional<DType> dtype = {});
/// Of the chips that the model of time knows those that take this run.
std::vector<const inside::Costs*> chips_for(const inside::Record& record);

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

/// What kernels include beside those, by path: "cuda/device/device.h".
std::span<const EmbeddedFile> device_sources();

/// What a kernel does, instruction by instruction, on the emulator (docs/inside.md).
struct RecordRequest {
    std::string kernel = "f5-flash2";
    DType dtype = DType::bf16;
    Problem problem;
    bool all_heads = false;  ///< of the problem; else the shown one alone
    std::vector<int>
        blocks{};  ///< of each launch, by number: their events are kept; counts and races are of all
    std::stop_token stop{};
    std::shared_ptr<std::atomic<int>> blocks_done{};  ///< counted up while it runs, of all launches
    /// The twin that writes down its tiles, into memory of the names of inside::twin_region: a row for each
    /// row of each tile, tiles by i, then by j. Refused where a kernel has none.
    bool twin = false;
    inside::Schedule schedule{};
    std::optional<inside::Fault> fault{};  ///< what the run goes without
    const inside::Costs* timed = nullptr;  ///< every block has its time by these (Launch::clocks)
    inside::Reported reported{};           ///< of a kernel of the user's own, what its compiler reports askew
};
Result<inside::Record> record_kernel(const RecordRequest& request, TraceFailed* how = nullptr);
/// The same of a kernel of the user's own, compiled into a library (app/cli/own_kernel.h). It is foreign
/// code, to be called in a process of its own. `stopped` is told why it is stopped, and does not return.
Result<inside::Record> record_own_kernel(const std::string& library, const RecordRequest& request,
                                         const std::function<void(const std::string&)>& stopped,
                                         TraceFailed* how = nullptr);
/// The same of a kernel that has a twin, and which lane holds which number of flash-forward in its kept
/// block.
struct BridgedRecord {
    inside::Record record;
    inside::Bridge bridge;
};
Result<BridgedRecord> record_bridged(RecordRequest request, TraceFailed* how = nullptr);

/// A run with a fault, in that of a few orders that shows most: a wrong number, else NaN, else nothing wrong.
struct BrokenRun {
    inside::Record record;
    inside::Damage damage;
    int tried = 0;  ///< orders
};
/// `request.fault` is one of faults_of(sound), the record of the same request without it.
Result<BrokenRun> break_kernel(const RecordRequest& request, const inside::Record& sound,
                               TraceFailed* how = nullptr);
constexpr int most_recorded_N = 256, most_recorded_d = 128, most_recorded_heads = 8;

}  // namespace tilewalk::gpu

// The kernels in a browser: their text can be read; nothing here can run them.
#include "cuda/host/gpu.h"
#include "cuda/host/ladder_table.h"

namespace tilewalk::gpu {

namespace {

const char* const reason = "A browser runs no CUDA kernel, and the emulator needs threads of its own: the "
                           "program for the desktop has "
                           "both.";

Failure refuse(TraceFailed* how) {
    if (how) *how = TraceFailed::no_device;
    return Failure{reason};
}

// Has no kernels, and says why.
class NoEngine : public Engine {
public:
    explicit NoEngine(Where where) : name(name_of(where)) {}
    std::string device() const override { return name; }
    std::optional<std::string> why_not() const override { return reason; }
    std::span<const KernelInfo> kernels() const override { return {}; }
    std::optional<std::string> why_not(const KernelInfo&, const Workload&) const override { return reason; }
    std::int64_t model_bytes(const KernelInfo&, const Workload&) const override { return 0; }
    std::unique_ptr<Prepared> prepare(const KernelInfo&, const Workload&, const Tensors&,
                                      std::stop_token) override {
        throw EngineFailed(reason);
    }
    double measure_peak(DType, std::stop_token) override { return 0; }

private:
    std::string name;
};

}  // namespace

const char* name_of(Where where) { return where == Where::cuda ? "cuda" : "emulator"; }

std::unique_ptr<Engine> make_engine(Where where) { return std::make_unique<NoEngine>(where); }

std::vector<TraceableKernel> traceable_kernels() {
    std::vector<TraceableKernel> list;
    for (const LadderRow& row : ladder_table) {
        std::vector<DType> types;
        if (row.bf16) types.push_back(DType::bf16);
        if (row.f16) types.push_back(DType::f16);
        if (row.f32) types.push_back(DType::f32);
        list.push_back({row.name, row.title, row.direction, row.tiles, std::move(types)});
    }
    return list;
}

bool is_taken_by(int, const std::string&) { return false; }

Result<KernelTrace> trace_kernel(Where, const TraceRequest&, std::stop_token, TraceFailed* how) {
    return refuse(how);
}
Result<inside::Record> record_kernel(const RecordRequest&, TraceFailed* how) { return refuse(how); }
Result<inside::Record> record_own_kernel(const std::string&, const RecordRequest&,
                                         const std::function<void(const std::string&)>&, TraceFailed* how) {
    return refuse(how);
}
Result<BridgedRecord> record_bridged(RecordRequest, TraceFailed* how) { return refuse(how); }
Result<BrokenRun> break_kernel(const RecordRequest&, const inside::Record&, TraceFailed* how) {
    return refuse(how);
}

Probe probe() {
    Probe none;
    none.why_none = "a browser has none for CUDA";
    return none;
}

}  // namespace tilewalk::gpu

// The kernels in a browser: their text can be read here, and they run in a worker of the page.
#include "cuda/host/gpu.h"
#include "core/base/background.h"
#include "core/problem/logits.h"
#include "cuda/browser/elsewhere.h"
#include "cuda/browser/messages.h"
#include "cuda/host/ladder_table.h"
#include "cuda/host/where_it_ran.h"

namespace tilewalk::gpu {

namespace {

const char* const reason = "A browser runs no CUDA kernel: the program for the desktop does.";

AskElsewhere& ask() {
    static AskElsewhere how;
    return how;
}

Failure refuse(TraceFailed* how) {
    if (how) *how = TraceFailed::no_device;
    return Failure{reason};
}

/// The answer, once it is there; until then the work that asks is put aside.
const std::string& answer_elsewhere(const std::string& message, const std::stop_token& stop) {
    const std::string* const answer = ask()(message, stop);
    if (!answer) throw NotYet();
    return *answer;
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

void ask_elsewhere(AskElsewhere how) { ask() = std::move(how); }

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

bool is_taken_by(int, const std::string&, std::optional<DType>) { return false; }

std::vector<const inside::Costs*> chips_for(const inside::Record&) { return {}; }

Result<KernelTrace> trace_kernel(Where where, const TraceRequest& request, std::stop_token stop,
                                 TraceFailed* how) {
    TraceFailed unwanted;
    TraceFailed& of = how ? *how : unwanted;
    of = TraceFailed::input;
    if (where == Where::cuda || !ask()) return refuse(how);
    if (const auto lacking = kernels_lack(request.problem)) return Failure{*lacking};
    if (stop.stop_requested()) return Failure{"Cancelled."};
    auto trace = trace_in(answer_elsewhere(message_of(request), stop), request, of);
    if (trace) trace->run = where_it_ran(where);
    return trace;
}
Result<inside::Record> record_kernel(const RecordRequest& request, TraceFailed* how) {
    TraceFailed unwanted;
    TraceFailed& of = how ? *how : unwanted;
    of = TraceFailed::input;
    if (!ask()) return refuse(how);
    if (const auto lacking = kernels_lack(request.problem)) return Failure{*lacking};
    if (request.stop.stop_requested()) return Failure{"Cancelled."};
    return record_in(answer_elsewhere(message_of(request), request.stop), request, of);
}
Result<inside::Record> record_own_kernel(const std::string&, const RecordRequest&,
                                         const std::function<void(const std::string&)>&, TraceFailed* how) {
    return refuse(how);
}

Probe probe() {
    Probe none;
    none.why_none = "a browser has none for CUDA";
    return none;
}

}  // namespace tilewalk::gpu

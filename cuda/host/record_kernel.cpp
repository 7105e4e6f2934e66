// Records a kernel on one head of a lesson's problem.
#include "core/inside/record.h"

#include "core/base/words.h"
#include "core/problem/logits.h"
#include "cuda/host/gpu.h"
#include "cuda/host/problem_on_device.h"
#include "cuda/host/recorder.h"

namespace tilewalk::gpu {

namespace {

void name_memory(RecordingDevice& device, const Arguments& a, DType type, std::int64_t workspace) {
    const std::int64_t element = bytes_of(type);
    const auto tensor = [&](const char* name, const Tensor& t, std::int64_t rows) {
        if (t.data) device.name(name, t.data, rows * t.row * element, t.row * element, element);
    };
    tensor("Q", a.Q, a.N_q), tensor("K", a.K, a.N_kv), tensor("V", a.V, a.N_kv), tensor("O", a.O, a.N_q);
    tensor("dO", a.dO, a.N_q), tensor("dQ", a.dQ, a.N_q), tensor("dK", a.dK, a.N_kv);
    tensor("dV", a.dV, a.N_kv);
    device.name("L", a.L, 4 * std::int64_t(a.N_q), 4, 4);
    device.name("workspace", a.workspace, workspace, 0, 0);
}

}  // namespace

Result<inside::Record> record_kernel(const RecordRequest& request, TraceFailed* how) {
    TraceFailed unwanted;
    TraceFailed& of = how ? *how : unwanted;
    of = TraceFailed::input;
    const Problem& p = request.problem;
    if (const auto lacking = kernels_lack(p)) return Failure{*lacking};
    if (std::max(p.N(), p.N_kv()) > most_recorded_N || p.d() > most_recorded_d)
        return Failure{"N = " + std::to_string(std::max(p.N(), p.N_kv())) + ", d = " + std::to_string(p.d()) +
                       " is too large to be recorded; up to N = " + std::to_string(most_recorded_N) +
                       ", d = " + std::to_string(most_recorded_d) + " are."};
    RecordOptions options;
    options.blocks = request.blocks;
    options.stop = request.stop, options.blocks_done = request.blocks_done;
    const std::shared_ptr<RecordingDevice> device = open_recorder(options);
    const Rung* const rung = find_rung(*device, request.kernel);
    if (!rung)
        return Failure{"There is no kernel \"" + request.kernel + "\"; `tilewalk kernels` lists them."};
    const Result<Arguments> sizes = fitting(*rung, p, request.dtype, device->chip);
    if (!sizes) return Failure{sizes.error};
    try {
        ProblemOnDevice placed(device, *rung, request.dtype, *sizes);
        placed.place(p);
        if (!placed.run_forward()) return Failure{"There is no forward kernel for its O and L."};
        device->prepare(*rung, placed.arguments(), request.dtype);
        name_memory(*device, placed.arguments(), request.dtype, rung->workspace(*sizes, request.dtype));
        device->begin();
        placed.run(*rung);
    } catch (const std::runtime_error& failure) {
        of = TraceFailed::device;
        return Failure{failure.what()};
    }
    inside::Record record = device->record();
    record.kernel = rung->name, record.title = rung->title, record.dtype = request.dtype;
    return record;
}

}  // namespace tilewalk::gpu

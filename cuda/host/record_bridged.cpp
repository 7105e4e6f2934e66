// A record, and that of its twin, as a bridge to the lesson.
#include "cuda/host/gpu.h"

namespace tilewalk::gpu {

Result<BridgedRecord> record_bridged(RecordRequest request, TraceFailed* how) {
    auto record = record_kernel(request, how);
    if (!record) return Failure{record.error};
    request.twin = true;
    const auto twin = record_kernel(request, how);
    if (!twin) return Failure{twin.error};
    auto bridge = inside::Bridge::make(*record, *twin, request.problem);
    if (!bridge) return Failure{bridge.error};
    return BridgedRecord{std::move(*record), std::move(*bridge)};
}

}  // namespace tilewalk::gpu

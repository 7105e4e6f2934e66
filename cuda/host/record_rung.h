// A rung on one head of a lesson's problem, recorded.
#pragma once

#include "cuda/host/gpu.h"
#include "cuda/host/recorder.h"

namespace tilewalk::gpu {

RecordOptions options_of(const RecordRequest& request);
Result<inside::Record> record_rung(const std::shared_ptr<RecordingDevice>& device, const Rung& rung,
                                   const RecordRequest& request, TraceFailed& of);

}  // namespace tilewalk::gpu

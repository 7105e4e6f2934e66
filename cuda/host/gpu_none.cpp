// The half of the GPU that a build without CUDA has: the reason why there is none.
#include "cuda/host/open_cuda.h"
#include "cuda/host/probe.h"

namespace tilewalk::gpu {

namespace {

const char* const reason = "built without CUDA (" TILEWALK_NO_CUDA_REASON ")";

}  // namespace

Probe probe() {
    Probe none;
    none.why_none = reason;
    return none;
}

std::unique_ptr<Device> open_cuda(std::string& why_not) {
    why_not = reason;
    return nullptr;
}

const std::vector<const Rung*>& cuda_ladder() {
    static const std::vector<const Rung*> none;
    return none;
}

const Rung* cuda_intrinsics() { return nullptr; }

}  // namespace tilewalk::gpu

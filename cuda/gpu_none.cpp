#include "cuda/probe.h"

namespace tilewalk::gpu {

Probe probe() {
    Probe none;
    none.why_none = "built without CUDA (" TILEWALK_NO_CUDA_REASON ")";
    return none;
}

}  // namespace tilewalk::gpu

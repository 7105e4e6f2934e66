// The engine over a device, whichever it is. gpu.h has what the program needs of it.
#pragma once

#include "core/engine/engine.h"
#include "cuda/host/backend.h"

namespace tilewalk::gpu {

/// `name` is what device() says. Without a device `why_none` is the reason, and `ladder` is listed all the
/// same.
std::unique_ptr<Engine> engine_over(std::string name, std::shared_ptr<Device> device,
                                    const std::vector<const Rung*>& ladder, std::string why_none = "");

}  // namespace tilewalk::gpu

// The parts of tilewalk inside.
#pragma once

#include "app/cli/commands.h"
#include "cuda/host/gpu.h"

namespace tilewalk {

/// What is to be recorded: the problem and type that the words name, of the kernel `name` [f5-flash2].
Result<gpu::RecordRequest> make_record_request(const Arguments& arguments, const Word& name);
Outcome not_recorded(gpu::TraceFailed how, std::string sentence);

/// Two kernels on the same problem, side by side.
Outcome run_inside_against(const Arguments& arguments, bool json, std::ostream& out);
/// From a step of flash-forward to the lane that does it, or from a lane's step back.
Outcome run_inside_bridge(const Arguments& arguments, bool json, std::ostream& out);

}  // namespace tilewalk

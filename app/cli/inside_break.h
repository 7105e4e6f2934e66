// What `tilewalk inside --break` says beside the counts of the run.
#pragma once

#include "app/export/inside_broken.h"
#include "core/inside/faults.h"
#include "cuda/host/gpu.h"

#include <nlohmann/json_fwd.hpp>

namespace tilewalk {

/// All faults of the kernel, with why this run cannot be given one: the kernel runs once more, on a problem
/// where it comes to all of them.
std::vector<inside::KnownFault> faults_of_kernel(const gpu::RecordRequest& request,
                                                 const inside::Record& sound);
/// One a line: name, what is left out, what its comment says, why not on this problem.
std::string faults_text(const std::string& kernel, const std::vector<inside::KnownFault>& faults);
std::string faults_json(const std::string& kernel, const std::vector<inside::KnownFault>& faults);

nlohmann::ordered_json broken_json(const inside::Record& sound, const gpu::BrokenRun& broken);

}  // namespace tilewalk

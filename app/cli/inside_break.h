// What `tilewalk inside --break` says beside the counts of the run.
#pragma once

#include "core/inside/faults.h"
#include "cuda/host/gpu.h"

#include <nlohmann/json_fwd.hpp>

namespace tilewalk {

/// The faults that a kernel can be given, one a line: name, what is left out, what its comment says.
std::string faults_text(const inside::Record& sound);

/// What the run goes without and in which order, for the head; and what came of it, for the end.
std::string broken_head(const gpu::BrokenRun& broken);
std::string broken_end(const inside::Record& sound, const gpu::BrokenRun& broken);
nlohmann::ordered_json broken_json(const inside::Record& sound, const gpu::BrokenRun& broken);

}  // namespace tilewalk

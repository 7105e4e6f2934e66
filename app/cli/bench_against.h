// tilewalk bench --against torch: PyTorch's attention beside the kernels of the CPU, in one run.
#pragma once

#include "app/cli/commands.h"
#include "core/bench/bench.h"

namespace tilewalk {

/// A sentence if the words ask for it and that cannot be: another than torch, or what PyTorch has no kernel
/// for.
std::optional<std::string> refuse_against(const BenchWords& words, const BenchRequest& request);

/// PyTorch is timed before and after the kernels of each length, by core/cpu/torch/compare_with_torch.py,
/// which travels within the program. Exit::done: the report is there, up to an interruption. Exit::no_device:
/// no Python, or one without PyTorch; $PYTHON names another.
Outcome run_beside_torch(const BenchRequest& request, int threads, const BenchWords& words,
                         BenchReport& report);

}  // namespace tilewalk

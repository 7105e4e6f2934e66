// tilewalk compare: what a kernel wrote down of itself beside the CPU's walk of the same tiles.
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/outcome.h"
#include "core/compare/kernel_compare.h"
#include "cuda/host/gpu.h"

#include <iosfwd>

namespace tilewalk {

/// "P@0,1,3,5=0.01": quantity, tile i, j, row [0], column [the whole row], amount [0.001].
Result<KernelFault> read_fault(const std::string& text);

/// A device and the reason for it, as a phrase: {cuda, "the GPU of this machine"}.
struct ChosenDevice {
    gpu::Where where = gpu::Where::emulator;
    std::string why;
};

/// What the words ask for; type and kernel must go together.
Result<gpu::TraceRequest> make_trace_request(const CompareWords& words, Problem problem);
/// The command line that asks for the same again.
std::string command_of(const CompareWords& words, const ProblemWords& problem, gpu::Where where);

std::string compare_text(const KernelComparison& comparison, const std::string& why_this_device);
std::string compare_json(const KernelComparison& comparison);

/// Ends with Exit::failed if an output is beyond the rule or a number beyond rounding.
Outcome run_compare(const Arguments& arguments, std::ostream& out);

}  // namespace tilewalk

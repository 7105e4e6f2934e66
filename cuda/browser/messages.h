// What the page and the worker that runs the kernels send each other (docs/web.md): requests, and records or
// traces for answers, as bytes.
#pragma once

#include "cuda/host/gpu.h"

#include <string>
#include <string_view>

namespace tilewalk::gpu {

/// Of the problem only what kernels take: not what kernels_lack() names.
std::string message_of(const RecordRequest& request);
std::string message_of(const TraceRequest& request);
/// In the worker: does what a message asks for.
std::string answer_to(std::string_view message);
std::string refusal(const std::string& sentence, TraceFailed of);

/// In the page: what an answer says. The request is the one that was sent.
Result<inside::Record> record_in(std::string_view answer, const RecordRequest& request, TraceFailed& of);
Result<KernelTrace> trace_in(std::string_view answer, const TraceRequest& request, TraceFailed& of);

}  // namespace tilewalk::gpu

// Kernels that run in a worker of the page: where requests go, and answers come from.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace tilewalk::gpu {

/// The answer to a message (messages.h), once it is there; null: it is asked for now, or has been. The stop
/// ends that.
using AskElsewhere =
    std::function<const std::string*(const std::string& message, const std::stop_token& stop)>;
void ask_elsewhere(AskElsewhere how);

}  // namespace tilewalk::gpu

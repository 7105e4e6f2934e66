// The state of the GPU that is not there, for runtime.cpp.
#pragma once

#include "tests/cuda/ptx/machine.h"
#include "tests/cuda/stubs/gpu.h"

#include <map>
#include <mutex>

namespace tilewalk::stubs {

/// One way to misbehave.
struct Rule {
    std::string function;
    int call = 1;  ///< of those since behave()
    bool and_after = false;
    int error = 0;
    bool for_good = false;  ///< the device is lost with it
};

struct Gpu {
    Gpu();
    std::recursive_mutex mutex;  ///< one call at a time
    ptx::Machine machine;
    int driver = 13000, capability = 80, devices = 1;
    bool watched = false;
    std::int64_t memory = std::int64_t(2) << 30;
    std::string wrong;  ///< in the name of a kernel
    std::vector<Rule> rules;
    std::map<std::string, int> called;
    int lost = 0;  ///< the error of a lost device
    Live live;
    std::map<std::uint64_t, std::int64_t> pieces;  ///< bytes by address
};
Gpu& gpu();

}  // namespace tilewalk::stubs

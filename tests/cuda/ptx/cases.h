// Rungs of the ladder on the machine of PTX, held against fp64 by the rule of core/bench/verify.h.
#pragma once

#include "core/engine/engine.h"
#include "tests/cuda/ptx/device.h"

#include <ostream>

namespace tilewalk::ptx {

/// How the rows of the tensors lie in memory.
enum class Layout {
    bhsd,   ///< [batch][heads][N][d]
    bshd,   ///< [batch][N][heads][d]
    padded  ///< as bhsd, with NaN between the rows, another number of them for each tensor
};

struct Case {
    std::string kernel;
    Workload w;
    Layout layout = Layout::bhsd;
    Schedule schedule = {};
    int capability = 80;
    std::uint64_t seed = 1;
};
std::ostream& operator<<(std::ostream& out, const Case& c);

/// Every rung with every type that it takes, for each architecture whose PTX differs: ragged shapes of one to
/// four blocks, masks, tails, grouped heads. Each shape in every layout, and each head dimension under every
/// schedule: turns.h.
std::vector<Case> all_cases();

/// The names of the ladder's rungs.
std::vector<std::string> rung_names();

/// What the rung writes; backward with O and L of a forward rung. `wrong`: the sentence of what failed while
/// it ran.
Tensors outputs_of(const Case& c, const Tensors& inputs, std::string& wrong);
/// What is wrong with it; empty: nothing.
std::string verify(const Case& c);
/// The same bits under every schedule, and the same again. What is summed by atomics (b1, b2: dQ) is held
/// against fp64 instead. What is wrong; empty: nothing.
std::string verify_schedules(const Case& c);

}  // namespace tilewalk::ptx

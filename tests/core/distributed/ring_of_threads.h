// A ring whose ranks are threads of this process, and its results put together as one rank would have them.
#pragma once

#include "core/distributed/ring.h"

#include <functional>

namespace tilewalk::test {

struct RingOutcome {
    Tensors out;
    std::int64_t sent = 0;              ///< by all ranks
    std::int64_t agreements = 0;        ///< messages of meetings, of all ranks while they went round
    std::vector<std::int64_t> memory;   ///< of each rank, counted
    std::vector<std::string> failures;  ///< of each rank; empty where it came to its end
};
RingOutcome run_ring(const ring::Problem& problem, int ranks, const Tensors& inputs,
                     std::optional<ring::Accident> accident = {}, double patience = 60,
                     ring::Rank::Pace pace = ring::Rank::Pace::together);

}  // namespace tilewalk::test

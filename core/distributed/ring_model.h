// What a ring costs before anybody runs it: closed forms for a round, and a simulation of the same schedule
// with given rates.
#pragma once

#include "core/distributed/ring.h"

namespace tilewalk::ring {

struct Rates {
    double flops = 0;  ///< that a rank computes, FLOP/s
    double link = 0;   ///< that a rank sends to the next, bytes per second, while it receives as much
};

/// The round in which sending is largest beside computing: what the busiest rank computes, and what goes over
/// one link meanwhile.
struct RoundCost {
    double compute = 0, transfer = 0;  ///< seconds
    bool hidden() const { return transfer <= compute; }
};
RoundCost round_cost(const Problem& problem, int ranks, const Rates& rates, int element_bytes);
/// The least N, in whole rows for every rank, from which on every round computes for longer than it sends.
/// Computing grows with N², sending with N. The way home of the gradients, beside which nothing is computed,
/// is not hidden at any N. 0 with one rank, which sends nothing.
std::int64_t hides_from(const Problem& problem, int ranks, const Rates& rates, int element_bytes);

/// The schedule of ring.h: a round ends for a rank when it has computed, and sent and received what belongs
/// to it.
struct Simulated {
    double seconds = 0;             ///< of the slowest rank
    std::vector<double> computing;  ///< of each rank
    double busy() const;            ///< the mean part of the time that a rank computes, 0 … 1
};
Simulated simulate(const Problem& problem, int ranks, const Rates& rates, int element_bytes);

}  // namespace tilewalk::ring

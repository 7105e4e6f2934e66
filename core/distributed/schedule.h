// When the rounds of a ring begin and end, from what each rank computes and sends in them.
#pragma once

#include <functional>
#include <vector>

namespace tilewalk::ring {

/// How long a rank computes in a round, or sends.
using RoundTime = std::function<double(int rank, int round)>;

/// A round ends for a rank when it has computed, and sent and received what belongs to it. A message begins
/// when both of its ends have begun the round.
struct Schedule {
    std::vector<std::vector<double>> begin;  ///< [round][rank]; behind the last round, when each is through

    double end() const;  ///< of the slowest rank
    /// Of the message that `rank` sends to the next one.
    double sends_from(int round, int rank) const;
};
Schedule schedule(int ranks, int rounds, const RoundTime& computing, const RoundTime& sending);

}  // namespace tilewalk::ring

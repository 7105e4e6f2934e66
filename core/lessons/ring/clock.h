// When the ranks of a ring compute, send and add, in ticks: the schedule of core/distributed with the steps
// of the lessons.
#pragma once

#include "core/distributed/schedule.h"
#include "core/lessons/ring/ranks.h"

namespace tilewalk {

enum class RingPass : std::uint8_t { forward, backward };

/// A score takes a tick for each matrix product that it is in, a message one for each row of its two
/// matrices, every other step one. Forward there are as many rounds as ranks. Backward each round ends with
/// the sum of what has arrived and the rank's own share, and in one round more the sums go home.
class RingClock {
public:
    struct Time {
        int start = 0, end = 0;
        bool contains(int tick) const { return start <= tick && tick < end; }
    };

    RingClock(const Ring& ring, RingPass pass);

    int rounds() const;
    int begin(int rank, int round) const;
    /// Of a rank in a round, without the sum at its end.
    int computing(int rank, int round) const;
    /// What `from` sends to the next rank in this round: K and V that it has, then dK and dV of the round
    /// before.
    Time keys(int from, int round) const;
    Time gradients(int from, int round) const;
    /// Its share is added to what has arrived.
    Time adds(int rank, int round) const;

private:
    int forward_ticks(int rank, int round) const;
    int backward_ticks(int rank, int round) const;
    int key_ticks(int from, int round) const;
    int gradient_ticks(int from, int round) const;
    int adding_ticks(int rank, int round) const;
    int starts(int from, int round) const;
    ring::Schedule schedule_of() const;

    const Ring& ring_;
    RingPass pass_;
    ring::Schedule schedule_;
};

}  // namespace tilewalk

#include "core/lessons/ring/clock.h"

#include "core/lessons/shared/tile_steps.h"

namespace tilewalk {

namespace {

constexpr int merge_ticks = 4;
constexpr int products = 5;  // S, dV, dP, dQ, dK

}  // namespace

RingClock::RingClock(const Ring& ring, RingPass pass) : ring_(ring), pass_(pass), schedule_(schedule_of()) {}

int RingClock::rounds() const { return ring_.ranks + (pass_ == RingPass::backward && ring_.ranks > 1); }

// Backward every second round of the schedule is the sum at the end of one.
int RingClock::begin(int rank, int round) const {
    const int nth = pass_ == RingPass::backward ? 2 * round : round;
    return static_cast<int>(schedule_.begin[static_cast<std::size_t>(nth)][static_cast<std::size_t>(rank)]);
}

int RingClock::computing(int rank, int round) const {
    return pass_ == RingPass::forward ? forward_ticks(rank, round) : backward_ticks(rank, round);
}

int RingClock::forward_ticks(int rank, int round) const {
    const int start = round == 0 ? 1 : 0,
              left = ring_.scores(rank, round);  // at first the queries are loaded
    if (left == 0) return start + 1;
    const bool masks = left < ring_.all_scores(rank, round), merges = ring_.rounds_of(rank).front() < round;
    return start + 1 + left + logit_steps(ring_.problem, Capped::dropped) + (masks ? 1 : 0) + left +
           (merges ? merge_ticks : 0);
}

int RingClock::backward_ticks(int rank, int round) const {
    if (round == ring_.ranks) return 1;  // dQ is stored
    const bool first = round == 0;
    const int start = first ? 3 : 0, left = ring_.scores(rank, round);  // at first Q, dO, L; D; dQ = 0
    if (left == 0) return start + (first ? 2 : 1);
    const bool masks = left < ring_.all_scores(rank, round);
    return start + 1 + products * left + logit_steps(ring_.problem, Capped::kept) + (masks ? 1 : 0) +
           3;  // K, V; P, dS, and the share is stored
}

int RingClock::key_ticks(int from, int round) const {
    return round + 1 < ring_.ranks ? 2 * ring_.keys_of(ring_.owner(from, round)).rows() : 0;
}

int RingClock::gradient_ticks(int from, int round) const {
    if (pass_ == RingPass::forward || round == 0 || ring_.ranks == 1) return 0;
    return 2 * ring_.keys_of(ring_.owner(from, round - 1)).rows();
}

int RingClock::adding_ticks(int rank, int round) const {
    return round > 0 && round < ring_.ranks && ring_.scores(rank, round) > 0 ? 1 : 0;
}

int RingClock::starts(int from, int round) const {
    const int nth = pass_ == RingPass::backward ? 2 * round : round;
    return static_cast<int>(schedule_.sends_from(nth, from));
}

RingClock::Time RingClock::keys(int from, int round) const {
    const int start = starts(from, round);
    return {start, start + key_ticks(from, round)};
}

RingClock::Time RingClock::gradients(int from, int round) const {
    const int start = keys(from, round).end;
    return {start, start + gradient_ticks(from, round)};
}

RingClock::Time RingClock::adds(int rank, int round) const {
    const auto nth = static_cast<std::size_t>(2 * round + 1);
    const int start = static_cast<int>(schedule_.begin[nth][static_cast<std::size_t>(rank)]);
    return {start, start + adding_ticks(rank, round)};
}

ring::Schedule RingClock::schedule_of() const {
    const bool backward = pass_ == RingPass::backward;
    const int R = ring_.ranks;
    const auto computes = [&](int rank, int nth) {
        if (!backward) return computing(rank, nth);
        return nth % 2 == 1 ? adding_ticks(rank, nth / 2) : computing(rank, nth / 2);
    };
    const auto sends = [&](int from, int nth) {
        if (backward && nth % 2 == 1) return 0;
        const int round = backward ? nth / 2 : nth;
        return key_ticks(from, round) + gradient_ticks(from, round);
    };
    return ring::schedule(R, backward ? 2 * R + 1 : R, computes, sends);
}

}  // namespace tilewalk

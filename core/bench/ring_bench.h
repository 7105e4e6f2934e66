// Measuring a ring: every rank takes part, rank 0 gets the report.
#pragma once

#include "core/bench/bench.h"
#include "core/distributed/ring.h"

namespace tilewalk {

struct RingRequest {
    BenchRequest bench;  ///< lengths, shape, seed, how often
    ring::Shards shards = ring::Shards::zigzag;
    int threads = 0;  ///< of each rank; 0: its part of the cores of its host
    std::optional<ring::Accident> accident = {};
    double patience = 60;  ///< seconds that a rank waits for a message beyond what computing may take
};
/// A sentence if a ring of so many ranks cannot run it.
std::optional<std::string> refuse(const RingRequest& request, int ranks);

/// All ranks agree on one problem, or none goes on: a sentence, the same on all, if one of them has another
/// request or none (`request` then says why).
std::optional<std::string> disagreement(const Result<RingRequest>& request, ring::Transport& transport);

/// All ranks at once. On rank 0 the report; on the others one without points. Throws TransportFailed.
BenchReport run_ring_bench(const RingRequest& request, ring::Transport& transport,
                           const std::function<void(const std::string& doing)>& show);

/// "ring-4-zigzag": a ring of four is another kernel than one of two.
std::string ring_name(int ranks, ring::Shards shards);

}  // namespace tilewalk

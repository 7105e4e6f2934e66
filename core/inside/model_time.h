// A model of time: not what a GPU takes, but how long the longest chain of a block's steps is, counted in a
// stated table of costs. A warp does one thing after the other; a barrier ends when the last warp has come.
// HBM is one for all warps and serves whoever asks first: a warp waits for what it loads, a copy in the
// background comes beside its warp, a store takes its turn. Else no warp is in the way of another: what is
// left out is in docs/inside.md.
#pragma once

#include "core/inside/record.h"

namespace tilewalk::inside {

/// What one warp's instruction takes, in clocks of a multiprocessor of which it has a quarter (its
/// scheduler's).
struct Costs {
    int capability;    ///< 80 for compute capability 8.0
    const char* chip;  ///< whose memory the last column is of
    int mma;           ///< m16n8k16: 2048 multiply-adds
    int special;       ///< exp2, log
    int convert;       ///< to and from 16 bits
    int shuffle;
    int turn;     ///< of the banks of shared memory, 128 bytes
    int sector;   ///< 32 bytes of HBM: this multiprocessor's share of the published bandwidth
    int latency;  ///< of HBM, from the last sector that is served to the warp or to shared memory
};
/// Of each architecture that the kernels are compiled for.
std::span<const Costs> all_costs();
const Costs& costs_of(int capability);

struct Span {
    std::int64_t begin = 0, end = 0;
};
struct ModelTime {
    std::vector<Span> events;  ///< of each event; of a copy that arrives: from its issue to its arrival
    std::int64_t end = 0;      ///< the longest path
};
ModelTime model_time(const BlockRecord& block, int warps, const Costs& costs);

}  // namespace tilewalk::inside

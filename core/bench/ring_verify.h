// Whether a ring is right, before it is timed: sampled rows of every rank against fp64, by the rule of
// verify.h. Keys come from the seed again, row by row, so that no rank holds all of them here either and
// nothing that travelled is trusted.
#pragma once

#include "core/bench/verify.h"
#include "core/distributed/ring.h"

namespace tilewalk {

/// Fills the tensors of a rank from make_inputs()'s numbers.
void fill(ring::Rank& rank, const ring::Problem& problem, std::uint64_t seed);
/// Rows of this rank after its run. All ranks at once: backward they exchange what their queries sum up to.
KernelVerdict verify_rank(ring::Rank& rank, const ring::Problem& problem, std::uint64_t seed,
                          ring::Transport& transport, cpu::ThreadPool& pool);

}  // namespace tilewalk

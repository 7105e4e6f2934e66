// Closed forms of the two other tiled lessons: FlashAttention-1 forward, and the backward pass in both
// orders.
#pragma once

#include "core/lessons/shared/memory_model.h"

namespace tilewalk {

/// FlashAttention-1 (Dao et al. 2022, Algorithm 1), key blocks outside: K and V once; Q, O, m and ℓ come back
/// for every tile, and O, m and ℓ are written for every tile, after one write of their start values.
TrafficModel flash_forward_v1_model(const Problem& problem);
std::int64_t flash_forward_v1_steps(const Problem& problem);

/// Dao 2023, Algorithm 2, in the order of Problem::options. First O and dO are read for D, which is written,
/// and what grows in HBM is cleared: dQ (key blocks outside) or dK and dV (query blocks outside), in 4 bytes
/// per element. The outer block is read once, the inner one for every tile, where the growing sums are read
/// and written too.
TrafficModel flash_backward_model(const Problem& problem);
std::int64_t flash_backward_steps(const Problem& problem);

}  // namespace tilewalk

// Closed forms of the tiled lessons and of standard attention: bytes moved and held, without running
// anything. The traces are held against them by test.
#pragma once

#include "core/walk/trace.h"

namespace tilewalk {

/// FlashAttention-2 order: Q once, K and V once per query block that sees them, O and L once.
TrafficModel flash_forward_model(const Problem& problem);
/// Three kernels through HBM: S = QKᵀ written; S read, P written; P, V read, O written.
TrafficModel standard_forward_model(const Problem& problem);
/// Five kernels over whole matrices: dV; dP; D and dS; dQ; dK. P, dP and dS (N × N_kv) lie in HBM.
TrafficModel backward_model(const Problem& problem);

/// FlashAttention-1 (Dao et al. 2022, Algorithm 1), key blocks outside: K and V once; Q, O, m and ℓ come back
/// for every tile, and O, m and ℓ are written for every tile, after one write of their start values.
TrafficModel flash_forward_v1_model(const Problem& problem);

/// Dao 2023, Algorithm 2, in the order of Problem::options. First O and dO are read for D, which is written,
/// and what grows in HBM is cleared: dQ (key blocks outside) or dK and dV (query blocks outside), in 4 bytes
/// per element. The outer block is read once, the inner one for every tile, where the growing sums are read
/// and written too.
TrafficModel flash_backward_model(const Problem& problem);

// Numbers of steps
std::int64_t flash_forward_steps(const Problem& problem);
std::int64_t flash_forward_v1_steps(const Problem& problem);
std::int64_t flash_backward_steps(const Problem& problem);

}  // namespace tilewalk

// Closed forms of what the dense lessons move through HBM.
#pragma once

#include "core/lessons/shared/memory_model.h"

namespace tilewalk {

/// Five kernels over whole matrices: dV; dP; D and dS; dQ; dK. P, dP and dS (N × N_kv) lie in HBM.
TrafficModel backward_model(const Problem& problem);
/// Projections, forward pass and loss; backward pass; gradients and update of the weights; the first once
/// more.
TrafficModel training_step_model(const Problem& problem);

}  // namespace tilewalk

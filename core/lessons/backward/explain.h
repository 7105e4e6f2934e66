// The words and numbers of the tiled backward pass. Called by explain().
#pragma once

#include "core/walk/explain_view.h"

namespace tilewalk {

void explain_flash_backward(const View& v);
/// The sentence on stage: of D the two sums that it is, of dS this key's side of the mean.
std::string say_gradient(const Trace& trace, int k, const Explanation& explanation);

inline bool keys_outside(const View& v) { return v.problem.options.order == BackwardOrder::key_outer; }

// The gradients of one tile, dv to dk (explain_gradients.cpp)
void explain_dv(const View& v);
void explain_dp(const View& v);
void explain_ds(const View& v);
void explain_dq(const View& v);
void explain_dk(const View& v);

}  // namespace tilewalk

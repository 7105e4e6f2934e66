// Lesson: the gradient of standard attention, with the N × N_kv matrices P, dP and dS in HBM.
#pragma once

#include "core/walk/lesson.h"

namespace tilewalk {

/// dQ, dK, dV for a given dO (FlashAttention, Dao et al. 2022, Algorithm 3; softmax derivative as in its
/// appendix B.2). P and O come from the lesson attention.
std::shared_ptr<const Trace> backward(const Problem& problem);
std::int64_t backward_bytes(const Problem& problem);
std::span<const CodeLine> backward_code(const Problem& problem);
/// "dV", "dP", "dS", "dQ", "dK"
std::string backward_lane(const Problem& problem, int phase);

}  // namespace tilewalk

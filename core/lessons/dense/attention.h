// Lesson: standard attention, three kernels that hand S and P to each other through HBM.
#pragma once

#include "core/walk/lesson.h"

namespace tilewalk {

/// O = softmax(scale · Q Kᵀ + mask) V, every intermediate in full (FlashAttention, Dao et al. 2022,
/// Algorithm 0).
std::shared_ptr<const Trace> attention(const Problem& problem);
std::int64_t attention_bytes(const Problem& problem);
std::span<const CodeLine> attention_code(const Problem& problem);
/// "Scores", "Softmax", "Output"
std::string attention_lane(const Problem& problem, int phase);

/// Upper bound of a dense trace that holds so many numbers; saturates where the count leaves int64.
std::int64_t dense_bytes(double numbers);

}  // namespace tilewalk

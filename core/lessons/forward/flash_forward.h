// Lesson: the tiled forward pass in FlashAttention-2 order (Dao 2023, Algorithm 1).
#pragma once

#include "core/walk/lesson.h"

namespace tilewalk {

/// O = softmax(scale · Q Kᵀ + mask) V, one query block after another, K and V streamed past it.
std::shared_ptr<const Trace> flash_forward(const Problem& problem);
std::int64_t flash_forward_bytes(const Problem& problem);
std::span<const CodeLine> flash_forward_code(const Problem& problem);

}  // namespace tilewalk

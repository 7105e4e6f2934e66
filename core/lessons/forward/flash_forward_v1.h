// Lesson: the tiled forward pass in FlashAttention-1 order (Dao et al. 2022, Algorithm 1).
#pragma once

#include "core/walk/lesson.h"

namespace tilewalk {

/// O = softmax(scale · Q Kᵀ + mask) V, one key block after another; O, m and ℓ of every query block go back
/// to HBM after each tile, and O is normalised there at every moment. The paper measures P̃ of a tile from the
/// tile's own maximum and multiplies it by exp(m̃ − m_new) later; here it is measured from m_new at once, as
/// in FlashAttention-2, which gives the same numbers for O, m and ℓ with one array less.
/// Results: O (N × d), m and ℓ (N × 1 each, Slot::m_hbm and Slot::l_hbm); m + ln ℓ is FlashAttention-2's L.
std::shared_ptr<const Trace> flash_forward_v1(const Problem& problem);
std::int64_t flash_forward_v1_bytes(const Problem& problem);
std::span<const CodeLine> flash_forward_v1_code(const Problem& problem);

}  // namespace tilewalk

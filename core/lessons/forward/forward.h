// Lessons: the tiled forward pass, O = softmax(scale · Q Kᵀ + mask) V.
#pragma once

#include "core/walk/lesson.h"

namespace tilewalk {

/// FlashAttention-2 order (Dao 2023, Algorithm 1): one query block after another, K and V streamed past it.
extern const Lesson flash_forward;

/// FlashAttention-1 order (Dao et al. 2022, Algorithm 1): one key block after another; O, m and ℓ of every
/// query block go back to HBM after each tile, and O is normalised there at every moment. The paper measures
/// P̃ of a tile from the tile's own maximum and multiplies it by exp(m̃ − m_new) later; here it is measured
/// from m_new at once, as in FlashAttention-2, which gives the same numbers for O, m and ℓ with one array
/// less. Results: O (N × d), m and ℓ (N × 1 each, Slot::m_hbm and Slot::l_hbm); m + ln ℓ is
/// FlashAttention-2's L.
extern const Lesson flash_forward_v1;

}  // namespace tilewalk

// Lesson: the tiled backward pass (Dao 2023, Algorithm 2), in either order of its two loops.
#pragma once

#include "core/walk/lesson.h"

namespace tilewalk {

/// dQ, dK (N_kv × d) and dV (N_kv × d) of the loss whose gradient with respect to O is output_gradient(p).
/// O and L come from this program's own forward walk and lie in HBM. So do m and ℓ of that walk, which is
/// what FlashAttention-1 keeps in place of L: they are there to show that exp(S − m) ⊘ ℓ is the same P, and
/// no step reads them.
extern const Lesson flash_backward;

}  // namespace tilewalk

// What an exponential of the backward pass was taken of. No twin writes these numbers down, and the plain
// arithmetic between a score and its exponential is not written down either: it is done again here, with the
// scores that the lane has summed up and the L that it has read, until it gives just the bits of x.
#pragma once

#include "core/inside/origin.h"

namespace tilewalk::inside {

/// x = S · scale · log₂ e − L · log₂ e
struct ScoreBehind {
    int S_step = -1, S_word = 0;  ///< of the lane: the product, or the wait that brings it, and which word
    float S = 0;
    int L_step = -1;  ///< where the lane has read L
    float L = 0;      ///< log₂ e is a factor of it already, where it comes from shared memory
    bool has_factor = false;
};
/// Of a power of two that a lane takes in the backward pass; nothing: its score was not found.
std::optional<ScoreBehind> score_behind(const BlockRecord& block, const Steps& steps, const Origins& origins,
                                        int warp, int k, int lane, float scale);

}  // namespace tilewalk::inside

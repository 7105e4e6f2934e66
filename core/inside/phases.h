// What stretches of a warp's steps compute, and which part warps have in a block whose tiles come by
// themselves: the names that the timeline gives them.
#pragma once

#include "core/inside/origin.h"

namespace tilewalk::inside {

/// Of the loop over the keys: S = Q Kᵀ, the softmax of a tile, O += P̃ V. Of the backward pass the weights, dP
/// = dO Vᵀ, dS and the three gradients. Of a kernel that is not known no more than that it takes
/// exponentials.
enum class Phase : std::uint8_t {
    none,
    scores,
    softmax,
    exponentials,
    output,
    weights,
    dP,
    dS,
    dV,
    dK,
    dQ,
    count
};

/// `known`: a kernel of the ladder. It multiplies what it reads of shared memory, by plain arithmetic that no
/// record has; of another kernel only its products and exponentials say what it computes.
Phase phase_of(const BlockRecord& block, const Origins& origins, std::uint32_t event, bool known);

/// From the first step of a phase to the last one before another phase.
struct PhaseStretch {
    Phase phase = Phase::none;
    int first = 0, last = 0;  ///< slots
    int tile = -1;            ///< of the matrix that passes by, which its first steps read; −1: not known
    Matter passes = Matter::none;  ///< which matrix that is
};
std::vector<PhaseStretch> phases_of(const Record& record, const BlockRecord& block, const Steps& steps,
                                    const Origins& origins, int warp, bool known);

/// Four warps of Hopper: those that ask for tiles, and those that multiply them.
struct WarpRole {
    enum class Kind : std::uint8_t { none, producer, consumer } kind = Kind::none;
    int number = 0;  ///< of several consumers, from 1
};
/// Of each warp; none where nobody asks for tiles.
std::vector<WarpRole> roles_of(const BlockRecord& block, int warps);
/// "producer", "consumer 2"; empty: none.
std::string role_text(const WarpRole& role);

}  // namespace tilewalk::inside
